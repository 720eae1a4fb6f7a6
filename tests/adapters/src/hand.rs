//! A scripted peer that reads and writes line by line, blocking its thread.

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::{Value, json};

use crate::Socket;

/// One end of a stream, controlled by a test.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are enough")]
pub struct Hand<R = Socket, W = Socket> {
    pub reader: BufReader<R>,
    pub writer: W,
}

impl Hand {
    /// Wraps both directions of a socket.
    #[must_use]
    pub fn of(stream: Socket) -> Self {
        Self::new(stream.try_clone().unwrap(), stream)
    }
}

impl<R: Read, W: Write> Hand<R, W> {
    /// Wraps a reader and a writer.
    pub fn new(reader: R, writer: W) -> Self {
        Self { reader: BufReader::new(reader), writer }
    }

    /// Sends a message.
    pub fn say(&mut self, message: &Value) {
        writeln!(self.writer, "{message}").unwrap();
    }

    /// Sends several messages in one write.
    pub fn say_all(&mut self, messages: &[Value]) {
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        self.writer.write_all(lines.as_bytes()).unwrap();
    }

    /// Returns the next message; there must be one.
    pub fn hear(&mut self) -> Value {
        self.hear_or_end().expect("the stream ended where a message was to come")
    }

    /// Returns the next message, or `None` at the end.
    pub fn hear_or_end(&mut self) -> Option<Value> {
        let mut line = String::new();
        let count = self.reader.read_line(&mut line).unwrap();
        (count > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Returns the next message that is a request or a response.
    pub fn hear_with_id(&mut self) -> Value {
        loop {
            let message = self.hear();
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    /// Returns the params of the next message, which must be this notification.
    pub fn hear_notification(&mut self, method: &str) -> Value {
        let message = self.hear();
        assert_eq!(message["method"], method, "{message}");
        message["params"].clone()
    }

    /// As a client: opens a session.
    pub fn greet(&mut self, capabilities: &Value) {
        self.request(
            "hello",
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "clientInfo": {"name": "hand", "version": "1"},
            }),
        );
        let welcome = self.hear();
        assert_eq!(welcome["id"], "hello", "{welcome}");
        self.notify("notifications/initialized", &json!({}));
    }

    /// As a client: calls a tool.
    pub fn call_tool(&mut self, id: u64, name: &str, arguments: &Value) {
        self.request(id, "tools/call", &json!({"name": name, "arguments": arguments}));
    }

    /// Sends a request.
    pub fn request(&mut self, id: impl Into<Value>, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params}));
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Responds to a request.
    pub fn answer(&mut self, to: &Value, result: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": to["id"], "result": result}));
    }
}
