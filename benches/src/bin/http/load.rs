//! Clients on raw sockets, any number on one thread, each with one request at a time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::messages::{
    Call, Era, FIRST_ID, TEXT, field, head_of, initialize, initialized, is_whole,
};

/// The kind of requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) era: Era,
    pub(crate) tool: &'static str,
    /// Whether our own sockets delay small packets (Nagle).
    pub(crate) delays: bool,
}

/// Connected clients with open sessions.
pub(crate) struct Clients {
    runtime: tokio::runtime::Runtime,
    clients: Vec<Client>,
}

/// The duration of a run.
pub(crate) struct Run {
    pub(crate) wall: Duration,
    /// The latency of each request, in ascending order.
    latencies: Vec<Duration>,
}

impl Run {
    /// Returns the latency that this part of the requests did not exceed.
    pub(crate) fn within(&self, part: f64) -> Duration {
        let last = self.latencies.len() - 1;
        self.latencies[((last as f64) * part) as usize]
    }
}

impl Clients {
    pub(crate) fn connect(address: SocketAddr, count: usize, asked: Asked) -> Self {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let clients = runtime.block_on(async {
            let mut clients = Vec::new();
            for _ in 0..count {
                clients.push(Client::connect(address, asked).await);
            }
            clients
        });
        Self { runtime, clients }
    }

    /// Makes `requests` requests on each connection.
    pub(crate) fn run(&mut self, requests: usize) -> Run {
        let begin = Instant::now();
        let clients = std::mem::take(&mut self.clients);
        let mut latencies = Vec::with_capacity(requests * clients.len());
        self.runtime.block_on(async {
            let tasks: Vec<_> =
                clients.into_iter().map(|client| tokio::spawn(client.requests(requests))).collect();
            for task in tasks {
                let (client, took) = task.await.expect("no panic");
                self.clients.push(client);
                latencies.extend(took);
            }
        });
        let wall = begin.elapsed();
        latencies.sort_unstable();
        Run { wall, latencies }
    }
}

struct Client {
    stream: TcpStream,
    call: Call,
    next_id: u64,
    buffer: Vec<u8>,
    has_events: bool,
}

impl Client {
    async fn connect(address: SocketAddr, asked: Asked) -> Self {
        let mut stream = TcpStream::connect(address).await.expect("the server listens");
        stream.set_nodelay(!asked.delays).expect("the socket is configurable");
        let mut buffer = Vec::with_capacity(16 * 1024);
        let mut session = None;
        if asked.era == Era::Sessions {
            let head = ask(&mut stream, &initialize(), &mut buffer).await;
            session = field(&buffer[..head], b"\r\nmcp-session-id: ").map(str::to_owned);
            ask(&mut stream, &initialized(session.as_deref()), &mut buffer).await;
        }
        let call = Call::new(asked.era, asked.tool, session.as_deref());
        Self { stream, call, next_id: FIRST_ID, buffer, has_events: asked.tool == "steps" }
    }

    async fn requests(mut self, count: usize) -> (Self, Vec<Duration>) {
        let mut took = Vec::with_capacity(count);
        for _ in 0..count {
            self.call.set_id(self.next_id);
            self.next_id += 1;
            let begin = Instant::now();
            let head = ask(&mut self.stream, &self.call.bytes, &mut self.buffer).await;
            took.push(begin.elapsed());
            let body = &self.buffer[head..];
            let said = memmem::find(body, TEXT.as_bytes()).is_some();
            let stepped =
                !self.has_events || memmem::find(body, b"notifications/progress").is_some();
            assert!(
                said && stepped && self.buffer.starts_with(b"HTTP/1.1 200"),
                "{}",
                String::from_utf8_lossy(&self.buffer)
            );
        }
        (self, took)
    }
}

/// Sends a request and reads the whole response; returns where its body begins.
async fn ask(stream: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> usize {
    stream.write_all(request).await.expect("the server reads");
    buffer.clear();
    loop {
        let count = stream.read_buf(buffer).await.expect("the server answers");
        assert!(count > 0, "the server closed the connection: {}", String::from_utf8_lossy(buffer));
        let Some(head) = head_of(buffer) else { continue };
        if is_whole(&buffer[..head], &buffer[head..]) {
            return head;
        }
    }
}
