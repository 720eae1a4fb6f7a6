//! Responses of a scripted server: heads, JSON, event streams and arbitrary bytes.
//!
//! Writes do not fail if the client has disconnected: tests check what the server received.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A byte stream to and from a client.
pub(crate) trait Wire: Read + Write + Send {}

impl<T: Read + Write + Send> Wire for T {}

/// A response under construction.
pub struct Answer<'s> {
    pub(crate) wire: &'s mut dyn Wire,
    pub(crate) socket: &'s TcpStream,
    /// Whether another request may follow on this connection.
    pub(crate) is_over: bool,
}

impl Answer<'_> {
    /// Writes raw bytes; returns false if the client has disconnected.
    pub fn raw(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.wire.write_all(bytes.as_ref()).and_then(|()| self.wire.flush()).is_ok()
    }

    /// Writes a whole response.
    pub fn status(&mut self, status: u16, fields: &[(&str, &str)], body: &str) {
        let mut head = format!("HTTP/1.1 {status} As Played\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in fields {
            head += &format!("{name}: {value}\r\n");
        }
        self.raw(head + "\r\n" + body);
    }

    /// Writes a JSON message.
    pub fn json(&mut self, fields: &[(&str, &str)], body: &Value) {
        let mut all = vec![("content-type", "application/json")];
        all.extend(fields);
        self.status(200, &all, &body.to_string());
    }

    /// Starts an event stream.
    pub fn events(&mut self) -> &mut Self {
        self.raw(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
             transfer-encoding: chunked\r\n\r\n",
        );
        self
    }

    /// Writes text of the stream; returns false if the client has disconnected.
    pub fn text(&mut self, text: &str) -> bool {
        self.raw(format!("{:x}\r\n{text}\r\n", text.len()))
    }

    /// Writes text of the stream again and again, up to `bytes_max` bytes, until the client reads
    /// nothing for the time of `patience`; returns the number of bytes written.
    pub fn flood(&mut self, text: &str, bytes_max: usize, patience: Duration) -> usize {
        self.socket.set_write_timeout(Some(patience)).unwrap();
        let mut bytes = 0;
        while bytes < bytes_max && self.text(text) {
            bytes += text.len();
        }
        bytes
    }

    /// Writes an event.
    pub fn event(&mut self, data: &Value) -> &mut Self {
        self.text(&format!("data: {data}\n\n"));
        self
    }

    /// Writes an event with an id.
    pub fn event_with_id(&mut self, id: &str, data: &Value) -> &mut Self {
        self.text(&format!("id: {id}\ndata: {data}\n\n"));
        self
    }

    /// Writes a priming event with a reconnection time in milliseconds.
    pub fn resumable(&mut self, id: &str, retry: u64) -> &mut Self {
        self.text(&format!("id: {id}\nretry: {retry}\ndata:\n\n"));
        self
    }

    /// Ends the stream properly.
    pub fn end(&mut self) {
        self.raw("0\r\n\r\n");
    }

    /// Closes the connection in the middle of the response.
    pub fn cut(&mut self) {
        let _gone = self.socket.shutdown(Shutdown::Both);
        self.is_over = true;
    }

    /// Sends nothing more and waits for the client to disconnect; returns whether it does.
    pub fn sees_the_client_leave(&mut self, patience: Duration) -> bool {
        self.is_over = true;
        self.socket.set_read_timeout(Some(patience)).unwrap();
        let mut byte = [0];
        match self.wire.read(&mut byte) {
            Ok(count) => count == 0,
            Err(error) => !matches!(
                error.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            ),
        }
    }
}

impl std::fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("is_over", &self.is_over).finish_non_exhaustive()
    }
}
