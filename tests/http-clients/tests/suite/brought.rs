//! HTTP clients that a program brings.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use mcp_adapter::Error;
use mcp_adapter::auth::SigningKey;
use mcp_adapter::http::{BlockingClient, ReceivedBody, Remote, SendError};
use mcp_adapter::proto::CallError;
use mcp_adapter_tests::{eventually, rows, success};
use mcp_http_client_tests::{Guarded, OverHttp, PLANTED, Trust, proof_of, send_bare};
use serde_json::{Value, json};

use crate::authorized::user;
use crate::{failed, modern_client};

rows! {
    requests_have_the_whole_url_and_all_credentials,
    redirects_stay_within_the_origin,
    failures_say_whether_a_request_was_sent,
    an_aborted_call_drops_its_body,
    a_body_is_polled_only_while_there_is_room,
    contradicting_options_are_refused,
    an_authorized_client_sends_its_tokens_through_it,
}

type Sent = Result<Response<ReceivedBody>, SendError>;

/// Returns a response with a JSON body.
fn reply(body: &Value) -> Response<ReceivedBody> {
    let response = Response::builder().header("content-type", "application/json");
    response.body(ReceivedBody::new(body.to_string())).unwrap()
}

/// Answers as a modern server does, which echoes.
fn echo(request: &Request<Bytes>) -> Sent {
    let message: Value = serde_json::from_slice(request.body()).unwrap();
    let result = match message["method"].as_str() {
        Some("server/discover") => json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "serverInfo": {"name": "played", "version": "1"},
        }),
        _ => json!({"content": [{"type": "text", "text": text_of(request)}]}),
    };
    Ok(reply(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result})))
}

fn text_of(request: &Request<Bytes>) -> String {
    let message: Value = serde_json::from_slice(request.body()).unwrap();
    message["params"]["arguments"]["text"].as_str().unwrap_or_default().to_owned()
}

/// Returns an `https` server to which this function sends the requests.
fn remote(send: impl Fn(Request<Bytes>) -> Sent + Send + Sync + 'static) -> Remote {
    let send = Arc::new(send);
    let client = move |request| {
        let send = Arc::clone(&send);
        async move { send(request) }
    };
    Remote::with_client("https://mcp.example:8443/mcp?key=1", client).unwrap()
}

async fn requests_have_the_whole_url_and_all_credentials<R: OverHttp>() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let remote = remote(move |request| {
        let reply = echo(&request);
        hears.lock().unwrap().push(request);
        reply
    });
    let remote = remote.authorization(|| Some("Bearer t".into())).header("x-key", "k").unwrap();
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
    connection.close().await.unwrap();
    let heard = heard.lock().unwrap();
    assert!(heard.len() >= 2);
    for request in &*heard {
        assert_eq!(request.uri(), "https://mcp.example:8443/mcp?key=1");
        assert_eq!(request.headers()["authorization"], "Bearer t");
        assert_eq!(request.headers()["x-key"], "k");
        assert!(request.headers()["authorization"].is_sensitive());
        assert_eq!(request.headers().get("host"), None);
    }
}

async fn redirects_stay_within_the_origin<R: OverHttp>() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let remote = remote(move |request| {
        hears.lock().unwrap().push(request.uri().to_string());
        let location = match (&*text_of(&request), request.uri().path()) {
            ("near", "/mcp") => "/other",
            ("far", _) => "https://evil.example/mcp",
            _ => return echo(&request),
        };
        let response = Response::builder().status(307).header("location", location);
        Ok(response.body(ReceivedBody::new(String::new())).unwrap())
    });
    let remote = remote.authorization(|| Some("Bearer t".into()));
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "near"})).await), "near");
    failed(connection.call_tool("echo", &json!({"text": "far"})).await);
    let heard = heard.lock().unwrap();
    assert!(heard.contains(&"https://mcp.example:8443/other".to_owned()), "{heard:?}");
    assert!(heard.iter().all(|url| url.starts_with("https://mcp.example:8443/")), "{heard:?}");
}

async fn failures_say_whether_a_request_was_sent<R: OverHttp>() {
    let remote = remote(|request| match &*text_of(&request) {
        "unsent" => Err(SendError::unsent("no route")),
        "lost" => Err(SendError::lost("reset")),
        "panic" => panic!("on purpose"),
        text @ ("cut" | "panic in the body") => {
            let response = Response::builder().header("content-type", "text/event-stream");
            Ok(response.body(ReceivedBody::new(Broken(text != "cut"))).unwrap())
        }
        _ => echo(&request),
    });
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    for (text, error) in [
        ("unsent", CallError::Unsent),
        ("lost", CallError::Lost),
        ("panic", CallError::Lost),
        ("cut", CallError::Lost),
        ("panic in the body", CallError::Lost),
    ] {
        let outcome = connection.call_tool("echo", &json!({"text": text})).await;
        assert_eq!(failed(outcome), error, "{text}");
    }
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

/// A body that breaks, or panics.
struct Broken(bool);

impl Body for Broken {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        assert!(!self.0, "on purpose");
        Poll::Ready(Some(Err("broken")))
    }
}

/// A body of an event that never ends. Counts its pieces, up to a maximum; after the maximum, and
/// if it is dropped, it says so.
struct Endless {
    pieces: Arc<AtomicUsize>,
    pieces_max: usize,
    piece: Bytes,
    dropped: Arc<AtomicUsize>,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.pieces.load(Ordering::SeqCst) == self.pieces_max {
            return Poll::Pending;
        }
        self.pieces.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(self.piece.clone()))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Returns a server that answers calls of `endless` with such bodies, their pieces and drops.
fn endless(piece: String, pieces_max: usize) -> (Remote, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (pieces, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counts, ends) = (Arc::clone(&pieces), Arc::clone(&dropped));
    let remote = remote(move |request| {
        if text_of(&request) != "endless" {
            return echo(&request);
        }
        let (pieces, dropped) = (Arc::clone(&counts), Arc::clone(&ends));
        let body = Endless { pieces, pieces_max, piece: piece.clone().into(), dropped };
        let response = Response::builder().header("content-type", "text/event-stream");
        Ok(response.body(ReceivedBody::new(body)).unwrap())
    });
    (remote, pieces, dropped)
}

async fn an_aborted_call_drops_its_body<R: OverHttp>() {
    let (remote, pieces, dropped) = endless(": keep-alive\n\n".to_owned(), 1);
    let connection = R::connect_http(modern_client(), remote).await.unwrap();
    let call = connection.call_tool("echo", &json!({"text": "endless"})).start().await.unwrap();
    eventually("its body is read", || pieces.load(Ordering::SeqCst) == 1).await;
    assert_eq!(dropped.load(Ordering::SeqCst), 0);
    call.cancel("enough");
    eventually("its body is dropped", || dropped.load(Ordering::SeqCst) == 1).await;
    assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
}

/// More messages than the queue of notifications holds.
const FLOOD: usize = 20_000;

async fn a_body_is_polled_only_while_there_is_room<R: OverHttp>() {
    let log = json!({
        "jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "error", "data": "x".repeat(1000)},
    });
    let (remote, pieces, _dropped) = endless(format!("data: {log}\n\n"), FLOOD);
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let client = modern_client().on_log(move |_, _| {
        let _is_released = released.lock().unwrap().recv();
    });
    let connection = R::connect_http(client, remote).await.unwrap();
    let call = connection.call_tool("echo", &json!({"text": "endless"})).start().await.unwrap();
    eventually("the queue is full", || pieces.load(Ordering::SeqCst) > 1000).await;
    let other = R::connect_http(modern_client(), self::remote(|it| echo(&it))).await.unwrap();
    for _ in 0..100 {
        assert_eq!(success(other.call_tool("echo", &json!({"text": "on"})).await), "on");
    }
    let read = pieces.load(Ordering::SeqCst);
    assert!(read < FLOOD / 10, "{read} pieces were read");
    drop(release);
    eventually("the rest is read", || pieces.load(Ordering::SeqCst) == FLOOD).await;
    drop(call);
}

async fn contradicting_options_are_refused<R: OverHttp>() {
    let identity = || Trust::new().identity();
    for remote in [
        remote(|_| panic!("sent")).client_identity(identity()),
        remote(|_| panic!("sent")).http2_prior_knowledge(),
        Remote::new("http://localhost/mcp").unwrap().client_identity(identity()),
    ] {
        match R::connect_http(modern_client(), remote).await.unwrap_err() {
            Error::Io(error) => assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput),
            other => panic!("{other:?}"),
        }
    }
}

async fn an_authorized_client_sends_its_tokens_through_it<R: OverHttp>() {
    for binds_tokens in [false, true] {
        let server = Guarded::new();
        server.rules.binds_tokens.store(binds_tokens, Ordering::SeqCst);
        let sent = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&sent);
        let client = BlockingClient::new(move |request| {
            counts.fetch_add(1, Ordering::SeqCst);
            send_bare(&request)
        });
        let auth = if binds_tokens { user().dpop(SigningKey::generate().unwrap()) } else { user() };
        let remote = Remote::with_client(&server.site.url(), client).unwrap().authorized(auth);
        let connection = R::connect_http(modern_client(), remote).await.unwrap();
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        server.rules.revoke();
        assert_eq!(success(connection.call_tool("echo", &json!({"text": "on"})).await), "on");
        connection.close().await.unwrap();
        let counted = ["/register", "/authorize"].map(|path| server.count(path));
        assert_eq!((counted, server.refreshes() > 0), ([1, 1], true));
        let heard = server.site.heard();
        let (mcp, other): (Vec<_>, Vec<_>) = heard.iter().partition(|it| it.path == "/mcp");
        assert_eq!(sent.load(Ordering::SeqCst), mcp.len(), "only the server is reached through it");
        assert!(other.iter().all(|it| it.field("authorization").is_none()));
        let scheme = if binds_tokens { "DPoP" } else { "Bearer" };
        let first = format!("{scheme} {PLANTED}-access-1");
        let last = format!("{scheme} {PLANTED}-access-2");
        let tokens: Vec<_> = mcp.iter().map(|it| it.field("authorization")).collect();
        assert_eq!((tokens[0], tokens.last()), (None, Some(&Some(&*last))));
        assert!(tokens[1..].iter().all(|it| [&first, &last].contains(&&it.unwrap().to_owned())));
        for request in mcp.iter().skip(1).filter(|_| binds_tokens) {
            assert_eq!(proof_of(request).unwrap()["htu"], server.site.url());
        }
    }
}
