//! HTTP/2 through the `tower` service of `mcp-tokio`, on connections that hyper serves.

use h2::client::Builder;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use mcp_adapter::http::{Http, HttpService};
use mcp_adapter::{HandlerError, Server, Tool, on_runtime};
use mcp_http_tests::{Http2, Request, StreamReply, call_in, modern, on_client, server, text, tool};
use mcp_tokio::Tokio;
use serde_json::json;
use tokio::sync::mpsc;

/// Connects a client to a service in memory.
async fn connect(service: &HttpService) -> Http2 {
    let (near, far) = tokio::io::duplex(64 << 10);
    let service = TowerToHyperService::new(service.clone());
    let http = http2::Builder::new(TokioExecutor::new());
    tokio::spawn(http.serve_connection(TokioIo::new(far), service));
    Http2::with(near, &Builder::new()).await
}

fn echo(said: &str) -> Request {
    modern("tools/call", json!({"name": "echo", "arguments": {"text": said}}))
}

#[test]
fn a_session_with_its_event_stream_runs_over_one_connection() {
    on_client(async {
        let service =
            HttpService::new(&on_runtime::server::<_, Tokio>(server()), Http::new()).unwrap();
        let client = connect(&service).await;
        let session = client.open_session().await;
        let mut events = client.listen(&session).await;
        assert_eq!(events.status, 200);
        assert_eq!(events.headers["content-type"], "text/event-stream");
        let mut replies = Vec::new();
        for id in 1..=20 {
            let call = call_in(&session, id, "echo", &json!({"text": format!("number {id}")}));
            replies.push(client.start(&call).await.0);
        }
        for (id, reply) in (1..).zip(replies) {
            let mut reply = StreamReply::new(reply.await.unwrap());
            assert_eq!(text(&reply.message().await.unwrap()), format!("number {id}"));
        }
        assert_eq!(service.sessions(), 1);
        service.close();
        assert_eq!(events.message().await, None, "the event stream ends with the service");
    });
}

#[test]
fn hosts_are_checked() {
    on_client(async {
        let service =
            HttpService::new(&on_runtime::server::<_, Tokio>(server()), Http::new()).unwrap();
        let client = connect(&service).await;
        for (host, status) in [("evil.example", 403), ("localhost:1", 200), ("127.0.0.1", 200)] {
            let reply = client.send(&echo("on").field("Host", host)).await.unwrap();
            assert_eq!(reply.status, status, "{host}");
        }
    });
}

#[test]
fn a_long_response_arrives_whole() {
    on_client(async {
        let service =
            HttpService::new(&on_runtime::server::<_, Tokio>(server()), Http::new()).unwrap();
        let client = connect(&service).await;
        let said = "x".repeat(1_000_000);
        let mut reply = client.send(&echo(&said)).await.unwrap();
        assert!(text(&reply.message().await.unwrap()) == said);
    });
}

/// Sends when it is dropped.
struct OnDrop(mpsc::UnboundedSender<&'static str>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _test_is_over = self.0.send("dropped");
    }
}

/// Builds a server whose tool `wait` reports that it runs, and that its handler was dropped.
fn waiting() -> (Server, mpsc::UnboundedReceiver<&'static str>) {
    let (reports, reported) = mpsc::unbounded_channel();
    let server = server().add(Tool::define(tool("wait"), move || {
        let reports = reports.clone();
        async move {
            reports.send("runs")?;
            let _reports = OnDrop(reports);
            std::future::pending::<Result<String, HandlerError>>().await
        }
    }));
    (server, reported)
}

#[test]
fn a_reset_stream_cancels_its_request() {
    on_client(async {
        let (server, mut reported) = waiting();
        let service =
            HttpService::new(&on_runtime::server::<_, Tokio>(server), Http::new()).unwrap();
        let client = connect(&service).await;
        let call = modern("tools/call", json!({"name": "wait", "arguments": {}}));
        let (call, mut stream) = client.start(&call).await;
        assert_eq!(reported.recv().await, Some("runs"));
        stream.send_reset(h2::Reason::CANCEL);
        drop(call);
        assert_eq!(reported.recv().await, Some("dropped"));
        assert_eq!(client.send(&echo("on")).await.unwrap().status, 200);
    });
}
