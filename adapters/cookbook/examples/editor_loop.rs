//! An editor that serves models over HTTP from its own loop: no adapter, no thread, no runtime.
//!
//! Run it with `cargo run -p mcp-cookbook --example editor_loop`. Between two frames, the loop
//! answers the requests that `tiny_http` has received. Any HTTP library will do. A client that
//! sends half a body delays the next frame: a real editor lets its HTTP library read bodies first.

use std::error::Error;
use std::io::{self, Read as _};
use std::time::{Duration, Instant as Clock};

use mcp_proto::catalog::{Catalog, CatalogResult, Resolved};
use mcp_proto::http::{UnaryRequest, UnaryService};
use mcp_proto::schema::{CallTool, CallToolResult, Tool};
use mcp_proto::server::Config;
use mcp_proto::{Context, ErrorObject, Instant};
use serde_json::json;
use tiny_http::{Header, Request, Response};

const FRAME: Duration = Duration::from_millis(16);
const BODY_BYTES_MAX: u64 = 1 << 20;

type Handler = fn(&mut Document, &CallTool) -> CallToolResult;

#[derive(Default)]
struct Document {
    text: String,
}

struct Editor {
    document: Document,
    tools: Catalog<Handler>,
    service: UnaryService,
}

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (http, began) = (tiny_http::Server::http("127.0.0.1:8080")?, Clock::now());
    let mut editor = Editor::new()?;
    println!("listening on http://{}/mcp", http.server_addr());
    loop {
        let next_frame = Clock::now() + FRAME;
        while let Some(left) = next_frame.checked_duration_since(Clock::now()) {
            let Some(request) = http.recv_timeout(left)? else { break };
            // The client may have disconnected.
            let _gone = editor.answer(Instant::from_elapsed(began.elapsed()), request);
        }
        // Here the editor draws `editor.document` and handles keys.
    }
}

impl Editor {
    fn new() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let mut tools: Catalog<Handler> = Catalog::new();
        let insert = json!({"type": "object", "properties": {"text": {"type": "string"}}});
        tools.add_tool(Tool::new("insert", insert), insert_text)?;
        tools.add_tool(Tool::new("read", json!({"type": "object"})), read_text)?;
        let config = Config::new("editor", "1.0.0").capabilities(tools.capabilities());
        let service = UnaryService::new(config, session_id);
        Ok(Self { document: Document::default(), tools, service })
    }

    fn answer(&mut self, now: Instant, mut request: Request) -> io::Result<()> {
        let mut body = Vec::new();
        request.as_reader().take(BODY_BYTES_MAX).read_to_end(&mut body)?;
        let (method, headers) = (request.method().as_str(), headers(&request));
        let whole = UnaryRequest::new(method, &headers, body);
        let Self { document, tools, service } = self;
        let reply = service
            .handle(now, &whole, |request, context| respond(tools, document, request, context));
        let mut response = Response::from_data(reply.body.bytes()).with_status_code(reply.status);
        for (name, value) in &reply.headers {
            if let Ok(header) = Header::from_bytes(*name, value.as_bytes()) {
                response.add_header(header);
            }
        }
        // A client that has disconnected needs no response.
        let _gone = request.respond(response);
        Ok(())
    }
}

fn headers(request: &Request) -> Vec<(&str, &str)> {
    let headers = request.headers().iter();
    headers.map(|header| (header.field.as_str().as_str(), header.value.as_str())).collect()
}

/// Returns 128 random bits.
#[expect(clippy::expect_used, reason = "without randomness, no session is safe")]
fn session_id() -> String {
    let draw = || getrandom::u64().expect("the system has a source of randomness");
    format!("{:016x}{:016x}", draw(), draw())
}

fn respond(
    tools: &Catalog<Handler>,
    document: &mut Document,
    request: &mcp_proto::Request,
    context: &Context,
) -> Result<CatalogResult, ErrorObject> {
    match tools.lookup(request, context.peer.revision)? {
        Resolved::Answer(answer) => Ok(answer),
        Resolved::Tool { handler, call, .. } => Ok(handler(document, &call).into()),
        _ => Err(ErrorObject::method_not_found(&request.method)),
    }
}

fn insert_text(document: &mut Document, call: &CallTool) -> CallToolResult {
    let Some(Ok(text)) = call.argument("text").map(|text| text.parse::<String>()) else {
        return CallToolResult::error("the argument `text` must be a text");
    };
    document.text.push_str(&text);
    CallToolResult::text("inserted")
}

fn read_text(document: &mut Document, _: &CallTool) -> CallToolResult {
    CallToolResult::text(document.text.clone())
}
