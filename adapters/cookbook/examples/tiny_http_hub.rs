//! A server over HTTP with the core and `tiny_http`: one thread, no adapter and no runtime.
//!
//! Run it with `cargo run -p mcp-cookbook --example tiny_http_hub`, and connect a client of any
//! revision to `http://127.0.0.1:8080/mcp`. The library sends whole responses only, and the loop
//! waits for each body, so a slow client delays the others: use a proxy that buffers requests.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant as Clock, SystemTime, UNIX_EPOCH};

use mcp_proto::catalog::{Catalog, Resolved};
use mcp_proto::http::{HttpHub, HubExchangeId, HubRequest, Reply};
use mcp_proto::schema::{CallToolResult, Encode, Tool};
use mcp_proto::server::Config;
use mcp_proto::{Context, ErrorObject, Instant, Request};
use serde_json::json;

type Tools = Catalog<fn() -> CallToolResult>;

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let web = tiny_http::Server::http("127.0.0.1:8080")?;
    println!("listening on http://{}/mcp", web.server_addr());
    serve(&web, &AtomicBool::new(false))
}

/// Serves the tool `time` until `stop` is set and the web server unblocked.
pub(crate) fn serve(
    web: &tiny_http::Server,
    stop: &AtomicBool,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut tools = Tools::new();
    tools.add_tool(Tool::new("time", json!({"type": "object"})), || {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        CallToolResult::text(format!("{} s since 1970", time.as_secs()))
    })?;
    let config = Config::new("clock", "1.0.0").capabilities(tools.capabilities());
    let mut hub = HttpHub::new(config, session_id).without_streams();
    let (start, mut open) = (Clock::now(), BTreeMap::new());
    while !stop.load(Ordering::Relaxed) {
        let due = hub.poll_timeout().map_or(Duration::MAX, |at| at.duration_since(Instant::ZERO));
        let wait = due.saturating_sub(start.elapsed()).min(Duration::from_secs(3600));
        let request = web.recv_timeout(wait)?;
        let now = Instant::ZERO + start.elapsed();
        hub.handle_timeout(now);
        match request {
            Some(mut request) if request.url() == "/mcp" => {
                open.insert(receive(&mut hub, now, &mut request), request);
            }
            Some(other) => other.respond(tiny_http::Response::empty(404))?,
            None => {}
        }
        hub.respond_to_all(now, |request, context| respond(&tools, request, context));
        while let Some(exchange) = hub.poll_ready() {
            let Some(reply) = hub.poll_head(exchange) else { continue };
            // A client that has disconnected receives nothing.
            let _sent = open.remove(&exchange).map(|request| request.respond(response(&reply)));
        }
    }
    Ok(())
}

/// Passes a request with its body to the hub.
fn receive(hub: &mut HttpHub, now: Instant, request: &mut tiny_http::Request) -> HubExchangeId {
    let (method, headers) = (request.method().to_string(), request.headers().iter());
    let headers: Vec<_> =
        headers.map(|it| (it.field.to_string(), it.value.as_bytes().to_vec())).collect();
    let exchange = hub.handle_head(now, &HubRequest::new(&method, &headers));
    let mut part = [0; 8192];
    while hub.wants_body(exchange) {
        match request.as_reader().read(&mut part) {
            Ok(0) => hub.handle_body_end(now, exchange),
            Ok(count) => hub.handle_body(now, exchange, part.get(..count).unwrap_or_default()),
            Err(_) => hub.handle_gone(now, exchange),
        }
    }
    exchange
}

fn respond(
    tools: &Tools,
    request: &Request,
    context: &Context,
) -> Result<Box<dyn Encode>, ErrorObject> {
    match tools.lookup(request, context.peer.revision)? {
        Resolved::Answer(answer) => Ok(Box::new(answer)),
        Resolved::Tool { handler, .. } => Ok(Box::new(handler())),
        _ => Err(ErrorObject::method_not_found(&request.method)),
    }
}

fn response(reply: &Reply) -> tiny_http::Response<io::Cursor<Vec<u8>>> {
    let headers = reply.headers.iter();
    let headers =
        headers.filter_map(|(name, value)| tiny_http::Header::from_bytes(*name, &**value).ok());
    let response = tiny_http::Response::from_data(reply.body.bytes());
    headers.fold(response.with_status_code(reply.status), tiny_http::Response::with_header)
}

/// Returns 128 random bits, or an empty text, with which no session is opened.
fn session_id() -> String {
    let mut id = [0; 16];
    getrandom::fill(&mut id)
        .map_or_else(|_| String::new(), |()| format!("{:032x}", u128::from_ne_bytes(id)))
}
