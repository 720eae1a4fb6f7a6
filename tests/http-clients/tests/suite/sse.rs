//! The fallback to HTTP+SSE, against our own server and a scripted one.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use mcp_adapter::http::{Http, Remote};
use mcp_adapter::proto::schema::Level;
use mcp_adapter::proto::{CallError, CloseReason, Era, Fault, Filter};
use mcp_adapter::{Changed, Error};
use mcp_adapter_tests::{client, eventually, failure, full_server, rows, success};
use mcp_http_client_tests::{Answer, OverHttp, Request, Served, Site, result, said};
use serde_json::{Value, json};
use smol::channel::unbounded;

use crate::{failed, legacy_client};

rows! {
    everything_works_over_http_sse_lif_36,
    changes_arrive_over_http_sse,
    requests_go_to_the_message_endpoint_http_57_http_58,
    a_broken_stream_loses_calls_and_another_session_follows_lif_36,
    a_message_endpoint_elsewhere_is_refused_http_58,
    a_server_without_either_transport_is_reported_lif_36,
    the_fallback_can_be_disabled,
}

async fn everything_works_over_http_sse_lif_36<R: OverHttp>() {
    let options = Http::new().sse();
    let stats = options.stats();
    let served = Served::with(full_server(), options);
    for client in [client(), legacy_client()] {
        let connection = R::connect_http(client, served.sse_remote()).await.unwrap();
        assert_eq!(connection.era(), Era::Legacy);
        assert!(connection.list_tools().await.unwrap().len() > 10);
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        assert_eq!(failure(connection.call_tool("fail", &json!({})).await), "it failed");
        assert_eq!(success(connection.call_tool("who", &json!({})).await), "Ada");
        let mut heard = Vec::new();
        let count = connection
            .call_tool("count", &json!({}))
            .progress(|update| heard.push(update.progress));
        assert_eq!(success(count.await), "100");
        assert_eq!(heard.last(), Some(&100.0));
        assert!(heard.is_sorted(), "{heard:?}");
        assert_eq!(stats.sessions(), 1);
        connection.close().await.unwrap();
        eventually("the session ends with its stream", || stats.sessions() == 0).await;
    }
}

async fn changes_arrive_over_http_sse<R: OverHttp>() {
    let mut server = full_server();
    let changes = server.changes();
    let served = Served::new(server);
    let (says, logged) = unbounded();
    let client =
        client().on_notification(move |method, _, _| says.try_send(method.to_owned()).unwrap());
    let connection = R::connect_http(client, served.sse_remote()).await.unwrap();
    connection.set_log_level(Level::Info).await.unwrap();
    success(connection.call_tool("log", &json!({"times": 20})).await);
    for _ in 0..20 {
        assert_eq!(logged.recv().await.unwrap(), "notifications/message");
    }
    let filter = Filter::new().tools().resource("note://one");
    let mut listening = connection.subscribe(&filter).await.unwrap();
    success(connection.call_tool("change", &json!({})).await);
    assert_eq!(listening.next().await.unwrap(), Some(Changed::Resource("note://one".into())));
    changes.tools_list_changed().unwrap();
    assert_eq!(listening.next().await.unwrap(), Some(Changed::Tools));
    drop(listening);
    connection.close().await.unwrap();
}

/// A scripted server of HTTP+SSE, which answers on its latest stream.
struct Script {
    streams: Mutex<Vec<Sender<Value>>>,
    endpoint: &'static str,
}

impl Script {
    const fn new(endpoint: &'static str) -> Self {
        Self { streams: Mutex::new(Vec::new()), endpoint }
    }

    fn stream(&self, answer: &mut Answer<'_>) {
        let (says, messages): (_, Receiver<Value>) = channel();
        self.streams.lock().unwrap().push(says);
        answer.events().text(&format!("event: endpoint\ndata: {}\n\n", self.endpoint));
        // Ends once the next stream is opened, or the script is dropped.
        for message in messages {
            if message.is_null() {
                return answer.cut();
            }
            answer.event(&message);
        }
    }

    fn send(&self, message: Value) {
        if let Some(stream) = self.streams.lock().unwrap().last() {
            let _cut = stream.send(message);
        }
    }

    fn play(&self, request: &Request, answer: &mut Answer<'_>) {
        if request.verb == "GET" {
            return self.stream(answer);
        }
        if request.path == "/mcp" {
            return answer.status(405, &[("allow", "GET")], "");
        }
        match request.what() {
            "initialize" => {
                let welcome = json!({"protocolVersion": "2024-11-05",
                    "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "1"}});
                self.send(result(request, &welcome));
            }
            "tools/call" if request.text() == "break" => self.send(Value::Null),
            "tools/call" => self.send(said(request, request.text())),
            _ => {}
        }
        answer.status(202, &[], "Accepted");
    }

    fn site(self) -> Site {
        Site::new(move |request, answer| self.play(request, answer))
    }
}

fn quick(site: &Site) -> Remote {
    site.remote().reconnect(Duration::from_millis(50), Duration::from_millis(50))
}

// HTTP-57, HTTP-58
async fn requests_go_to_the_message_endpoint_http_57_http_58<R: OverHttp>() {
    let site = Script::new("/old/messages?id=7").site();
    let connection = R::connect_http(client(), site.remote()).await.unwrap();
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    connection.close().await.unwrap();
    let heard: Vec<_> =
        site.heard().iter().map(|it| format!("{} {}", it.what(), it.path)).collect();
    assert_eq!(
        heard,
        [
            "server/discover /mcp",
            "initialize /mcp",
            "GET /mcp",
            "initialize /old/messages?id=7",
            "notifications/initialized /old/messages?id=7",
            "tools/call /old/messages?id=7",
        ]
    );
    let posted = &site.heard()[5];
    assert!(posted.fields.iter().all(|(_, value)| !value.contains("id=7")), "{posted:?}");
}

async fn a_broken_stream_loses_calls_and_another_session_follows_lif_36<R: OverHttp>() {
    let site = Script::new("/messages").site();
    let connection = R::connect_http(client(), quick(&site)).await.unwrap();
    for round in 0..2 {
        let lost = connection.call_tool("echo", &json!({"text": "break"})).await;
        assert_eq!(failed(lost), CallError::Lost, "{round}");
        // A call made after that waits for the next session.
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        assert_eq!(site.of("notifications/initialized").len(), round + 2);
    }
    connection.close().await.unwrap();
}

// HTTP-58
async fn a_message_endpoint_elsewhere_is_refused_http_58<R: OverHttp>() {
    let elsewhere = Site::new(|_, answer| answer.status(202, &[], ""));
    let url: &'static str = elsewhere.url().leak();
    for endpoint in [url, "//evil.example/messages", "https://127.0.0.1/messages"] {
        let site = Script::new(endpoint).site();
        let error = R::connect_http(client(), site.remote()).await.unwrap_err();
        assert!(error.to_string().contains("message endpoint"), "{error}");
    }
    assert_eq!(elsewhere.accepted(), 0, "nothing was sent there");
}

async fn a_server_without_either_transport_is_reported_lif_36<R: OverHttp>() {
    for status in [400, 404, 405] {
        let site = Site::new(move |_, answer| answer.status(status, &[], ""));
        let error = R::connect_http(client(), site.remote()).await.unwrap_err();
        let Error::Start { why, .. } = &error else { panic!("{error:?}") };
        let refused = CallError::Http { status, reason: None };
        assert_eq!(*why, CloseReason::Fault(Fault::Unreachable(refused)));
        assert_eq!(site.words(), ["server/discover", "initialize", "GET"]);
    }
    // Status 401 is about credentials.
    let site = Site::new(|_, answer| answer.status(401, &[], ""));
    R::connect_http(legacy_client(), site.remote()).await.unwrap_err();
    assert_eq!(site.words(), ["initialize"]);
}

async fn the_fallback_can_be_disabled<R: OverHttp>() {
    let site = Script::new("/messages").site();
    let remote = site.remote().without_sse_fallback();
    R::connect_http(client(), remote).await.unwrap_err();
    assert_eq!(site.words(), ["server/discover", "initialize"]);
}
