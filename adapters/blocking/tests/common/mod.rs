//! Shared test support: a timeout, a client and a server in one process, and scripted peers.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod eras;

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_blocking::kind::ToolCall;
use mcp_blocking::proto::schema::{self, CallToolResult};
use mcp_blocking::proto::{CallError, ErrorObject, Raw, Revision, code};
use mcp_blocking::{Client, Connection, Error, Handler, Server, Tool};
use mcp_test_processes::PATIENCE;
pub(crate) use mcp_test_processes::with_timeout;
use serde_json::{Value, json};

/// Polls until a condition holds.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE / 2, "timed out waiting for: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) type Serving = JoinHandle<io::Result<()>>;

/// Returns a client and a server in this process, joined by pipes.
pub(crate) fn pair(client: Client, server: Server) -> (Connection, Serving) {
    let (from_client, to_server) = io::pipe().unwrap();
    let (from_server, to_client) = io::pipe().unwrap();
    let serving = thread::spawn(move || Ok(server.serve(from_client, to_client).wait()?));
    (client.connect(from_server, to_server).wait().unwrap(), serving)
}

/// Ends both sides; both must end successfully.
pub(crate) fn part(client: Connection, serving: Serving) {
    assert_eq!(client.close().wait().unwrap(), None);
    serving.join().unwrap().unwrap();
}

/// Checks that the server responds, if only with an error.
pub(crate) fn is_alive(client: &Connection) {
    let outcome = client.call_raw("test/alive", Raw::empty_object()).wait();
    assert_eq!(refusal(outcome).code, code::METHOD_NOT_FOUND);
}

pub(crate) fn client() -> Client {
    Client::new("test", "1.0.0")
}

pub(crate) fn server() -> Server {
    Server::new("test", "1.0.0")
}

/// Returns a tool that takes any object.
pub(crate) fn tool<M>(name: &str, handler: impl Handler<ToolCall, M>) -> Tool {
    let schema = raw(json!({"type": "object"}));
    Tool::define(schema::Tool::new(name, schema).description("Part of a test"), handler)
}

pub(crate) fn raw(value: Value) -> Raw {
    Raw::new(&value).unwrap()
}

/// Returns the text of a tool's result.
pub(crate) fn text_of(result: &CallToolResult) -> &str {
    result.content[0].as_text().unwrap()
}

/// Returns the text of a successful result.
pub(crate) fn success(outcome: Result<CallToolResult, Error>) -> String {
    let result = outcome.unwrap();
    assert!(!result.is_error, "{result:?}");
    text_of(&result).to_owned()
}

/// Returns the text of a tool error.
pub(crate) fn failure(outcome: Result<CallToolResult, Error>) -> String {
    let result = outcome.unwrap();
    assert!(result.is_error, "{result:?}");
    text_of(&result).to_owned()
}

/// Returns the JSON-RPC error of a call.
pub(crate) fn refusal<T: std::fmt::Debug>(outcome: Result<T, Error>) -> ErrorObject {
    match outcome {
        Err(Error::Call(CallError::Refused(error))) => error,
        other => panic!("not refused: {other:?}"),
    }
}

/// Returns the path of an example, which cargo builds with the tests.
pub(crate) fn example(name: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing; `cargo test -p mcp-blocking` builds it", path.display());
    Command::new(path)
}

/// A scripted peer, which sends and receives single lines.
pub(crate) struct Hand<R = PipeReader, W = PipeWriter> {
    pub(crate) reader: BufReader<R>,
    pub(crate) writer: W,
}

impl<R: io::Read, W: Write> Hand<R, W> {
    pub(crate) fn new(reader: R, writer: W) -> Self {
        Self { reader: BufReader::new(reader), writer }
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.say_line(&message.to_string());
    }

    pub(crate) fn say_line(&mut self, line: &str) {
        writeln!(self.writer, "{line}").unwrap();
    }

    /// Returns the next message, which must arrive.
    pub(crate) fn hear(&mut self) -> Value {
        let message = self.hear_or_end();
        message.unwrap_or_else(|| panic!("the stream ended where a message was to come"))
    }

    pub(crate) fn hear_or_end(&mut self) -> Option<Value> {
        let mut line = String::new();
        let count = self.reader.read_line(&mut line).unwrap();
        (count > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Returns the next message that is not a notification.
    pub(crate) fn hear_answer(&mut self) -> Value {
        loop {
            let message = self.hear();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    pub(crate) fn hear_notification(&mut self, method: &str) -> Value {
        let message = self.hear();
        assert_eq!(message["method"], method, "{message}");
        message["params"].clone()
    }

    /// As a client: opens a session.
    pub(crate) fn greet(&mut self, capabilities: Value) -> Value {
        self.say(&json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "hand", "version": "1"},
        }}));
        let welcome = self.hear();
        assert_eq!(welcome["id"], "hello", "{welcome}");
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        welcome
    }

    /// As a client: calls a tool.
    pub(crate) fn call_tool(&mut self, id: u64, name: &str, arguments: &Value) {
        let params = json!({"name": name, "arguments": arguments});
        self.request(id, "tools/call", &params);
    }

    pub(crate) fn request(&mut self, id: u64, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    pub(crate) fn answer(&mut self, to: &Value, result: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": to["id"], "result": result}));
    }
}

/// Returns a server with a scripted client that has sent nothing yet.
pub(crate) fn serve_by_hand(server: Server) -> (Hand, Serving) {
    let (from_client, to_server) = io::pipe().unwrap();
    let (from_server, to_client) = io::pipe().unwrap();
    let serving = thread::spawn(move || Ok(server.serve(from_client, to_client).wait()?));
    (Hand::new(from_server, to_server), serving)
}

/// Returns a client with a scripted legacy server that declared tools and log messages.
pub(crate) fn connect_by_hand(client: Client) -> (Connection, Hand) {
    let (from_client, to_server) = io::pipe().unwrap();
    let (from_server, to_client) = io::pipe().unwrap();
    let client = client.revisions(&Revision::LEGACY);
    let connecting = thread::spawn(move || client.connect(from_server, to_server).wait().unwrap());
    let mut hand = Hand::new(from_client, to_client);
    let hello = hand.hear();
    hand.answer(&hello, &welcome());
    hand.hear_notification("notifications/initialized");
    (connecting.join().unwrap(), hand)
}

/// Returns the result of `initialize`.
pub(crate) fn welcome() -> Value {
    json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
        "serverInfo": {"name": "hand", "version": "1"},
    })
}
