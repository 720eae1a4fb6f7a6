//! HTTP/1.1 over a socket, as far as the tests need it, including malformed requests.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

/// The timeout of every operation.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A request under construction.
#[derive(Clone, Debug)]
pub struct Request {
    verb: String,
    path: String,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// Creates a request with a method and nothing else.
    #[must_use]
    pub fn new(verb: &str) -> Self {
        let fields = vec![("Host".into(), "localhost".into())];
        Self { verb: verb.into(), path: "/mcp".into(), fields, body: Vec::new() }
    }

    /// Sets the path.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        self.path = path.into();
        self
    }

    /// Sets a field, replacing its previous value.
    #[must_use]
    pub fn field(self, name: &str, value: &str) -> Self {
        let mut without = self.without(name);
        without.fields.push((name.into(), value.into()));
        without
    }

    /// Removes a field.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    /// Sets the body and its length.
    #[must_use]
    pub fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.field("Content-Length", &body.len().to_string())
    }

    /// Returns the request for a stream of HTTP/2, and its body.
    #[must_use]
    pub fn stream_parts(&self) -> (http::Request<()>, Bytes) {
        let host = self.fields.iter().find(|(name, _)| name == "Host");
        let uri = format!("http://{}{}", host.map_or("localhost", |(_, host)| host), self.path);
        let mut request = http::Request::builder().method(&*self.verb).uri(uri);
        for (name, value) in self.fields.iter().filter(|(name, _)| name != "Host") {
            request = request.header(name, value);
        }
        (request.body(()).unwrap(), Bytes::from(self.body.clone()))
    }

    /// Returns the encoded request.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{} {} HTTP/1.1\r\n", self.verb, self.path).into_bytes();
        for (name, value) in &self.fields {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&self.body);
        bytes
    }

    /// Sends the request.
    #[must_use]
    pub fn start(&self, address: SocketAddr) -> Pending {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut pending = Pending { stream: BufReader::new(stream) };
        pending.send(self);
        pending
    }

    /// Sends the request and waits for the head of the response.
    #[must_use]
    pub fn send(&self, address: SocketAddr) -> Reply {
        self.start(address).reply()
    }
}

/// A request in flight. Dropping it closes the connection.
#[derive(Debug)]
pub struct Pending {
    stream: BufReader<TcpStream>,
}

impl Pending {
    /// Sends another request on the connection.
    pub fn send(&mut self, request: &Request) {
        self.write(&request.bytes());
    }

    /// Waits for a whole response; the connection can be used afterwards.
    #[must_use]
    pub fn next_reply(&mut self) -> Reply {
        let stream = self.stream.get_ref().try_clone().unwrap();
        assert!(self.stream.buffer().is_empty(), "one response at a time");
        let mut reply = Self { stream: BufReader::new(stream) }.reply();
        reply.unread = reply.text().into_bytes();
        reply
    }

    /// Sends bytes. A server that has already responded need not read all of them.
    pub fn write(&mut self, bytes: &[u8]) {
        match self.stream.get_mut().write_all(bytes) {
            Err(error)
                if !matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
            {
                panic!("{error}")
            }
            _ => {}
        }
    }

    /// Waits for the head of the response.
    #[must_use]
    pub fn reply(self) -> Reply {
        self.reply_or_end().expect("a response")
    }

    /// Waits for the head of the response; `None` if the server closes the connection.
    #[must_use]
    pub fn reply_or_end(mut self) -> Option<Reply> {
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status: {line:?}"));
        let mut fields = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').expect("a field");
            fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut reply = Reply {
            status,
            fields,
            connection: self,
            rest: Rest::Close,
            unread: Vec::new(),
            last_id: None,
        };
        let length = reply.field("content-length").map(|length| length.parse().expect("a length"));
        reply.rest = match (length, reply.field("transfer-encoding")) {
            _ if matches!(status, 204 | 304) => Rest::Length(0),
            (Some(length), None) => Rest::Length(length),
            (None, Some("chunked")) => Rest::Chunks,
            (None, None) => Rest::Close,
            other => panic!("{other:?}"),
        };
        Some(reply)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => None,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            read => {
                read.expect("a line in time");
                Some(line.strip_suffix("\r\n").expect("a whole line").to_owned())
            }
        }
    }
}

/// A response whose head was received. Dropping it closes the connection.
#[derive(Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The fields, with lower-case names.
    pub fields: Vec<(String, String)>,
    /// The last event id received.
    pub last_id: Option<String>,
    connection: Pending,
    rest: Rest,
    unread: Vec<u8>,
}

/// The remainder of a body.
#[derive(Debug)]
enum Rest {
    Length(usize),
    Chunks,
    Close,
}

/// One event of an event stream.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Event {
    /// The event's type, if it is named.
    pub kind: Option<String>,
    /// The event's id.
    pub id: Option<String>,
    /// The reconnection time, in milliseconds.
    pub retry: Option<u64>,
    /// The event's data.
    pub data: String,
}

impl Reply {
    /// Returns a field of the head.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// Returns the next bytes of the body; `None` at its end.
    fn piece(&mut self) -> Option<Vec<u8>> {
        let stream = &mut self.connection.stream;
        match &mut self.rest {
            Rest::Length(0) => None,
            Rest::Length(length) => {
                let mut bytes = vec![0; *length];
                stream.read_exact(&mut bytes).expect("the body in time");
                *length = 0;
                Some(bytes)
            }
            Rest::Close => {
                let mut bytes = Vec::new();
                stream.read_to_end(&mut bytes).expect("the body in time");
                self.rest = Rest::Length(0);
                Some(bytes)
            }
            Rest::Chunks => {
                let length = self.connection.line()?;
                let length = usize::from_str_radix(&length, 16).expect("the length of a chunk");
                let mut bytes = vec![0; length + 2];
                self.connection.stream.read_exact(&mut bytes).expect("the chunk in time");
                bytes.truncate(length);
                if length == 0 {
                    self.rest = Rest::Length(0);
                    return None;
                }
                Some(bytes)
            }
        }
    }

    /// Reads to the end of the connection, which must close in time.
    #[must_use]
    pub fn is_closed(mut self) -> bool {
        match self.connection.stream.read_to_end(&mut Vec::new()) {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }

    /// Returns the whole body.
    pub fn text(&mut self) -> String {
        while let Some(piece) = self.piece() {
            self.unread.extend_from_slice(&piece);
        }
        String::from_utf8(std::mem::take(&mut self.unread)).expect("text")
    }

    /// Returns the body as a JSON value.
    pub fn json(&mut self) -> Value {
        assert_eq!(self.field("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_str(&self.text()).expect("JSON")
    }

    /// Reads the rest of the body and returns the connection.
    #[must_use]
    pub fn again(mut self) -> Pending {
        self.text();
        self.connection
    }

    /// Returns the next event, skipping comments; `None` at the end of the stream.
    pub fn event(&mut self) -> Option<Event> {
        assert_eq!(self.field("content-type"), Some("text/event-stream"), "{self:?}");
        loop {
            while let Some(end) = self.unread.windows(2).position(|ends| ends == b"\n\n") {
                let block: Vec<u8> = self.unread.drain(..end + 2).collect();
                let event = read_event(std::str::from_utf8(&block).expect("text"));
                if let Some(event) = event {
                    self.last_id = event.id.clone().or_else(|| self.last_id.take());
                    return Some(event);
                }
            }
            let piece = self.piece()?;
            self.unread.extend_from_slice(&piece);
        }
    }

    /// Returns the next message of an event stream; `None` at its end.
    pub fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event()?;
            if !event.data.is_empty() {
                return Some(serde_json::from_str(&event.data).expect("JSON"));
            }
        }
    }

    /// Returns the only message of a response, be it JSON or an event stream.
    pub fn answer(&mut self) -> Value {
        if self.field("content-type") == Some("application/json") {
            self.json()
        } else {
            self.message().unwrap()
        }
    }
}

fn read_event(block: &str) -> Option<Event> {
    let mut event = Event::default();
    let mut is_event = false;
    for line in block.lines().filter(|line| !line.is_empty() && !line.starts_with(':')) {
        let (name, value) = line.split_once(": ").expect("a field");
        is_event = true;
        match name {
            "event" => event.kind = Some(value.into()),
            "id" => event.id = Some(value.into()),
            "retry" => event.retry = Some(value.parse().unwrap()),
            "data" => event.data = value.into(),
            other => panic!("an unexpected field: {other}"),
        }
    }
    is_event.then_some(event)
}
