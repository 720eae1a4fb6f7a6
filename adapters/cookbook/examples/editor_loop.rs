//! An editor that serves models over HTTP from its own loop: no adapter, no thread, no runtime.
//!
//! Run it with `cargo run -p mcp-cookbook --example editor_loop`. Between two frames, the loop
//! answers the requests that `tiny_http` has received. Any HTTP library will do. A client that
//! sends half a body delays the next frame: a real editor lets its HTTP library read bodies first.

use std::cell::RefCell;
use std::error::Error;
use std::io::{self, Read as _};
use std::rc::Rc;
use std::time::{Duration, Instant as Clock};

use bytes::Bytes;
use mcp_proto::catalog::{Catalog, Resolved};
use mcp_proto::http::{
    Admitted, Body, HttpServer, Policy, Post, PostedMessage, Refusal, Reply, SessionTable,
    StreamSettings, admit,
};
use mcp_proto::schema::{CallTool, CallToolResult, Tool};
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::{ErrorObject, Instant};
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
    config: Config,
    sessions: SessionTable<Rc<RefCell<HttpServer>>>,
    sessions_opened: u64,
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
        let sessions = SessionTable::new(100, Duration::from_secs(3600));
        Ok(Self { document: Document::default(), tools, config, sessions, sessions_opened: 0 })
    }

    fn answer(&mut self, now: Instant, mut request: Request) -> io::Result<()> {
        let mut body = Vec::new();
        request.as_reader().take(BODY_BYTES_MAX).read_to_end(&mut body)?;
        let reply = self.handle(now, &request, &body).unwrap_or_else(Reply::from);
        // The tools send nothing but their results, so no response is an event stream.
        let Body::Whole(body) = reply.body else { return Ok(()) };
        let mut response = Response::from_data(&body[..]).with_status_code(reply.status);
        for (name, value) in &reply.headers {
            if let Ok(header) = Header::from_bytes(*name, value.as_bytes()) {
                response.add_header(header);
            }
        }
        // A client that has disconnected needs no response.
        let _gone = request.respond(response);
        Ok(())
    }

    fn handle(&mut self, now: Instant, request: &Request, body: &[u8]) -> Result<Reply, Refusal> {
        let policy = Policy::from_config(&self.config);
        let fields: Vec<(&str, &str)> = request
            .headers()
            .iter()
            .map(|header| (header.field.as_str().as_str(), header.value.as_str()))
            .collect();
        let head = match admit(&policy, request.method().as_str(), &fields)? {
            Admitted::Post(head) => head,
            Admitted::Get(_) => return Err(Refusal::new(405, "this server sends no messages")),
            Admitted::Delete(id) => {
                self.sessions.remove(&id, None).ok_or_else(|| Refusal::unknown_session(None))?;
                let body = Body::Whole(Bytes::new());
                return Ok(Reply { status: 204, headers: Vec::new(), body });
            }
        };
        match head.read(&policy, &fields, body, &|_tool| None)? {
            Post::Modern { revision, message } => {
                let server = Server::new(now, self.config.clone());
                let mut server = HttpServer::modern(server, revision, StreamSettings::default());
                self.exchange(now, &mut server, &message, body)
            }
            Post::Initialize { id } => {
                self.sessions_opened += 1;
                // A real editor draws the id from a secure source of randomness.
                let session = format!("{:032x}", self.sessions_opened);
                let server = Server::new(now, self.config.clone());
                let mut server = HttpServer::legacy(server, &session, StreamSettings::default());
                let message = PostedMessage::Request { id, method: "initialize".into() };
                let reply = self.exchange(now, &mut server, &message, body)?;
                self.sessions.expire(now, |_| false);
                let server = Rc::new(RefCell::new(server));
                let full = |_| Refusal::new(503, "too many sessions");
                self.sessions.insert(now, &session, None, server).map_err(full)?;
                Ok(reply)
            }
            Post::Session { session, message, .. } => {
                let server = self.sessions.get(now, &session, None).cloned();
                let server = server.ok_or_else(|| Refusal::unknown_session(None))?;
                self.exchange(now, &mut server.borrow_mut(), &message, body)
            }
        }
    }

    /// Passes a message to its connection, runs the tools, and returns the response.
    fn exchange(
        &mut self,
        now: Instant,
        server: &mut HttpServer,
        message: &PostedMessage,
        body: &[u8],
    ) -> Result<Reply, Refusal> {
        let is_request = matches!(message, PostedMessage::Request { .. });
        let id = server.handle_post(now, is_request, body);
        while let Some(event) = server.poll_event() {
            let Event::Request { incoming, request, context } = event else { continue };
            let _gone = match self.tools.lookup(&request, context.peer.revision) {
                Ok(Resolved::Answer(answer)) => server.respond(now, incoming, &answer),
                Ok(Resolved::Tool { handler, call, .. }) => {
                    server.respond(now, incoming, &handler(&mut self.document, &call))
                }
                Ok(_) => {
                    let error = ErrorObject::method_not_found(&request.method);
                    server.respond_error(now, incoming, &error)
                }
                Err(error) => server.respond_error(now, incoming, &error),
            };
        }
        server.poll_reply(id).ok_or_else(|| Refusal::new(503, "no response"))
    }
}

fn insert_text(document: &mut Document, call: &CallTool) -> CallToolResult {
    let arguments = call.arguments.as_ref();
    match arguments.and_then(|arguments| arguments.member("text")?.parse::<String>().ok()) {
        Some(text) => document.text.push_str(&text),
        None => return CallToolResult::error("the argument `text` is missing"),
    }
    CallToolResult::text("inserted")
}

fn read_text(document: &mut Document, _: &CallTool) -> CallToolResult {
    CallToolResult::text(document.text.clone())
}
