//! Clients of HTTP/2, with prior knowledge.

use std::future::poll_fn;
use std::net::SocketAddr;

use bytes::Bytes;
use h2::client::{Builder, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Response};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::raw::{PATIENCE, Request};
use crate::talk::{get, initialize, post};

/// Runs a test against a client of HTTP/2, which may take [`PATIENCE`].
pub fn on_client<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(PATIENCE, test).await.expect("the test ends in time") })
}

/// A connection over HTTP/2.
#[derive(Debug)]
pub struct Http2 {
    /// Sends further requests.
    pub sender: SendRequest<Bytes>,
    /// Runs the connection until it ends, and returns why it failed.
    pub connection: JoinHandle<Result<(), h2::Error>>,
}

/// The response to a request on a stream.
#[derive(Debug)]
pub struct StreamReply {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    body: RecvStream,
    unread: Vec<u8>,
}

impl Http2 {
    /// Connects to a server.
    pub async fn connect(address: SocketAddr) -> Self {
        Self::with(TcpStream::connect(address).await.unwrap(), &Builder::new()).await
    }

    /// Connects over a byte stream.
    pub async fn with<S>(stream: S, settings: &Builder) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, connection) = settings.handshake(stream).await.unwrap();
        Self { sender, connection: tokio::spawn(connection) }
    }

    /// Waits until another request may be sent; fails if the connection has ended.
    pub async fn ready(&self) -> Result<SendRequest<Bytes>, h2::Error> {
        self.sender.clone().ready().await
    }

    /// Sends a request; the stream can be reset.
    pub async fn start(&self, request: &Request) -> (ResponseFuture, SendStream<Bytes>) {
        let (head, body) = request.stream_parts();
        let is_empty = body.is_empty();
        let (response, mut stream) =
            self.ready().await.unwrap().send_request(head, is_empty).unwrap();
        if !is_empty {
            stream.send_data(body, true).unwrap();
        }
        (response, stream)
    }

    /// Sends a request and waits for the head of the response.
    pub async fn send(&self, request: &Request) -> Result<StreamReply, h2::Error> {
        let (response, _stream) = self.start(request).await;
        Ok(StreamReply::new(response.await?))
    }

    /// Opens a session, and returns its id.
    pub async fn open_session(&self) -> String {
        let mut reply = self.send(&initialize()).await.unwrap();
        assert_eq!(reply.status, 200);
        let id = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();
        assert_eq!(reply.message().await.unwrap()["result"]["protocolVersion"], "2025-11-25");
        let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        assert_eq!(self.send(&within(&id, ready)).await.unwrap().status, 202);
        id
    }

    /// Opens the event stream of a session.
    pub async fn listen(&self, session: &str) -> StreamReply {
        self.send(&within(session, get(session))).await.unwrap()
    }

    /// Waits until the server has closed the connection; returns why it failed, if it did.
    pub async fn end(self) -> Option<h2::Error> {
        drop(self.sender);
        self.connection.await.unwrap().err()
    }
}

impl StreamReply {
    /// Starts to read a response.
    #[must_use]
    pub fn new(response: Response<RecvStream>) -> Self {
        let (head, body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        Self { status, headers, body, unread: Vec::new() }
    }

    async fn piece(&mut self) -> Option<Result<Bytes, h2::Error>> {
        let piece = self.body.data().await?;
        if let Ok(bytes) = &piece {
            self.body.flow_control().release_capacity(bytes.len()).unwrap();
        }
        Some(piece)
    }

    /// Returns the rest of the body.
    pub async fn text(&mut self) -> Result<String, h2::Error> {
        while let Some(piece) = self.piece().await {
            self.unread.extend_from_slice(&piece?);
        }
        Ok(String::from_utf8(std::mem::take(&mut self.unread)).unwrap())
    }

    /// Returns the next message, of an event stream or of JSON; `None` at the end.
    pub async fn message(&mut self) -> Option<Value> {
        if self.headers["content-type"] == "application/json" {
            return Some(serde_json::from_str(&self.text().await.unwrap()).unwrap());
        }
        loop {
            while let Some(end) = self.unread.windows(2).position(|ends| ends == b"\n\n") {
                let block: Vec<u8> = self.unread.drain(..end + 2).collect();
                let block = String::from_utf8(block).unwrap();
                let data = block.lines().find_map(|line| line.strip_prefix("data: "));
                if let Some(data) = data.filter(|data| !data.is_empty()) {
                    return Some(serde_json::from_str(data).unwrap());
                }
            }
            let piece = self.piece().await?.unwrap();
            self.unread.extend_from_slice(&piece);
        }
    }

    /// Returns why the stream was reset while its body is not read.
    pub async fn reset_reason(mut self) -> Option<Reason> {
        loop {
            match poll_fn(|context| self.body.poll_data(context)).await? {
                Ok(_unreleased) => {}
                Err(error) => return error.reason(),
            }
        }
    }
}

/// Adds the headers of a session to a request.
#[must_use]
pub fn within(session: &str, request: Request) -> Request {
    request.field("Mcp-Session-Id", session).field("MCP-Protocol-Version", "2025-11-25")
}

/// Builds a call of a tool in a session.
#[must_use]
pub fn call_in(session: &str, id: u64, tool: &str, arguments: &Value) -> Request {
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
    within(session, post(&call))
}
