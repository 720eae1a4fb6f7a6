//! A server over HTTP with the core and axum, without an adapter: event streams, back-pressure and
//! disconnections.
//!
//! Run it with `cargo run -p mcp-cookbook --example axum_hub`, and connect a client of any revision
//! to `http://127.0.0.1:8080/mcp`. It is for programs that need the events of the core; others
//! mount an `HttpService` (see `axum_notes`).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant as Clock};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use bytes::Bytes;
use http_body::Frame;
use mcp_proto::catalog::{Catalog, Resolved};
use mcp_proto::http::{self, BodyChunk, HttpHub, HubConnectionId, HubExchangeId, HubRequest};
use mcp_proto::schema::{CallToolResult, Tool};
use mcp_proto::server::{Config, Event};
use mcp_proto::{ErrorObject, IncomingId, Instant, Progress};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::time::sleep;

#[tokio::main]
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    Ok(axum::serve(listener, router()?).await?)
}

/// What all requests share.
struct Web {
    tools: Catalog<()>,
    hub: Mutex<(HttpHub, BTreeMap<HubExchangeId, Waker>)>,
    start: Clock,
    /// Notified when the deadline of the hub has changed.
    due: Notify,
}

/// Returns the endpoint `/mcp` of a server whose tool counts to three.
pub(crate) fn router() -> Result<Router, Box<dyn Error>> {
    let mut tools = Catalog::new();
    tools.add_tool(Tool::new("count", json!({"type": "object"})), ())?;
    let config = Config::new("counter", "1.0.0").capabilities(tools.capabilities());
    let hub = Mutex::new((HttpHub::new(config, session_id), BTreeMap::new()));
    let web = Arc::new(Web { tools, hub, start: Clock::now(), due: Notify::new() });
    tokio::spawn(run_timer(Arc::clone(&web)));
    Ok(Router::new().route("/mcp", any(serve)).with_state(web))
}

/// Returns 128 random bits, or an empty text, with which no session is opened.
fn session_id() -> String {
    let mut id = [0; 16];
    let drawn = getrandom::fill(&mut id);
    drawn.map_or_else(|_| String::new(), |()| format!("{:032x}", u128::from_ne_bytes(id)))
}

async fn run_timer(web: Arc<Web>) {
    loop {
        let due = web.pass(|hub, now| hub.poll_timeout().map(|due| due.duration_since(now)));
        tokio::select! {
            () = sleep(due.unwrap_or(Duration::MAX)) => {}
            () = web.due.notified() => {}
        }
    }
}

async fn serve(State(web): State<Arc<Web>>, request: Request) -> Response {
    let (head, mut body) = request.into_parts();
    let id = web.pass(|hub, now| {
        hub.handle_head(now, &HubRequest::new(head.method.as_str(), &head.headers))
    });
    // Dropped with the response, or with this future if the client disconnects before.
    let exchange = Exchange { web, id };
    while let Some(part) = poll_fn(|task| exchange.poll_body(task, &mut body)).await {
        // The client has disconnected.
        let Ok(part) = part else { return Response::default() };
        exchange.web.pass(|hub, now| hub.handle_body(now, id, &part));
    }
    exchange.web.pass(|hub, now| hub.handle_body_end(now, id));
    let reply = poll_fn(|task| exchange.poll(task, |hub| hub.poll_head(id))).await;
    let response = Response::builder().status(reply.status);
    let headers = reply.headers.iter();
    let response = headers.fold(response, |it, (name, value)| it.header(*name, &**value));
    let body = match reply.body {
        http::Body::Whole(bytes) => Body::from(bytes),
        http::Body::Events => Body::new(exchange),
    };
    response.body(body).unwrap_or_default()
}

/// The response to a request.
struct Exchange {
    web: Arc<Web>,
    id: HubExchangeId,
}

impl Exchange {
    /// Calls `poll` whenever the response has become ready.
    fn poll<T>(&self, task: &Context<'_>, poll: impl FnOnce(&mut HttpHub) -> Option<T>) -> Poll<T> {
        let (hub, wakers) = &mut *self.web.lock();
        let ready = poll(hub);
        if ready.is_none() {
            wakers.insert(self.id, task.waker().clone());
        }
        ready.map_or(Poll::Pending, Poll::Ready)
    }

    /// Reads a part of the body; `None` at its end, or when the hub has refused it.
    fn poll_body(
        &self,
        task: &mut Context<'_>,
        body: &mut Body,
    ) -> Poll<Option<Result<Bytes, axum::Error>>> {
        let refused = self.poll(task, |hub| (!hub.wants_body(self.id)).then_some(()));
        if refused.is_ready() {
            return Poll::Ready(None);
        }
        let frame = http_body::Body::poll_frame(Pin::new(body), task);
        // Trailers are ignored.
        frame.map_ok(|frame| frame.into_data().unwrap_or_default())
    }
}

impl http_body::Body for Exchange {
    type Data = Bytes;
    type Error = Infallible;

    // Polled only when the socket accepts more: until then, the hub keeps what follows.
    fn poll_frame(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.poll(task, |hub| hub.poll_chunk(self.id)).map(|chunk| match chunk {
            BodyChunk::Bytes(bytes) => Some(Ok(Frame::data(bytes))),
            BodyChunk::End => None,
        })
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.web.lock().1.remove(&self.id);
        self.web.pass(|hub, now| hub.handle_gone(now, self.id));
    }
}

impl Web {
    fn lock(&self) -> MutexGuard<'_, (HttpHub, BTreeMap<HubExchangeId, Waker>)> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes something to the hub, and does what follows from it.
    fn pass<T>(self: &Arc<Self>, act: impl FnOnce(&mut HttpHub, Instant) -> T) -> T {
        let (hub, wakers) = &mut *self.lock();
        let (now, due) = (Instant::ZERO + self.start.elapsed(), hub.poll_timeout());
        hub.handle_timeout(now);
        let result = act(hub, now);
        while let Some((connection, event)) = hub.poll_event() {
            let Event::Request { incoming, request, context } = event else { continue };
            let Some(server) = hub.server(connection) else { continue };
            let _stale = match self.tools.lookup(&request, context.peer.revision) {
                Ok(Resolved::Answer(answer)) => server.respond(now, incoming, &answer),
                Ok(Resolved::Tool { .. }) => {
                    tokio::spawn(count(Arc::clone(self), connection, incoming));
                    Ok(())
                }
                Ok(_) => {
                    let error = ErrorObject::method_not_found(&request.method);
                    server.respond_error(now, incoming, &error)
                }
                Err(error) => server.respond_error(now, incoming, &error),
            };
        }
        let ready = std::iter::from_fn(|| hub.poll_ready());
        ready.filter_map(|exchange| wakers.remove(&exchange)).for_each(Waker::wake);
        if hub.poll_timeout() != due {
            self.due.notify_one();
        }
        result
    }
}

/// Counts to three, unless the request is cancelled or its session ends.
async fn count(web: Arc<Web>, connection: HubConnectionId, incoming: IncomingId) -> Option<()> {
    for step in 1..=3 {
        sleep(Duration::from_millis(10)).await;
        let progress = Progress::new(f64::from(step));
        web.pass(|hub, now| hub.server(connection)?.progress(now, incoming, &progress).ok())?;
    }
    let result = CallToolResult::text("three");
    web.pass(|hub, now| hub.server(connection)?.respond(now, incoming, &result).ok())
}
