//! Clients that send frames or requests without end: others are served in the meantime.

use std::io::{Error, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_blocking::http::Http;
use mcp_http_tests::{
    Request, Runtime, Served, eventually, initialize, modern, rows, server, text,
};
use serde_json::json;

use crate::http2_limits::{END_HEADERS, HEADERS, PREFACE, RST_STREAM, frame, head_block};

rows! {
    floods_of_frames_delay_no_others,
    floods_of_requests_delay_no_others,
    control_frames_are_limited_per_second,
}

/// The longest that a call may take beside a flood, on a machine that runs many tests.
const BOUND: Duration = Duration::from_secs(5);

/// How long a read or a write of a flood waits for the server.
const WAIT: Duration = Duration::from_millis(50);

/// A connection that repeats bytes, and is opened again if the server closes it.
struct Flood {
    is_over: Arc<AtomicBool>,
    /// The bytes that the server has sent.
    received: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    fn start(address: SocketAddr, first: Vec<u8>, repeated: &[u8]) -> Self {
        let repeated = repeated.repeat((64 << 10) / repeated.len() + 1);
        let (is_over, received) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (over, count) = (Arc::clone(&is_over), Arc::clone(&received));
        let thread = thread::spawn(move || {
            while !over.load(SeqCst) {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_write_timeout(Some(WAIT)).unwrap();
                stream.set_read_timeout(Some(WAIT)).unwrap();
                thread::scope(|scope| {
                    scope.spawn(|| count_received(&stream, &count));
                    repeat(&stream, &first, &repeated, &over);
                    let _closed = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self { is_over, received, thread: Some(thread) }
    }
}

/// Reads until one side closes the connection.
// A read that waits does not end below wine when this side shuts its socket down, and the server
// closes the connection only once it has read all: more than a minute with pauses for control
// frames. Therefore no read waits for long.
fn count_received(mut stream: &TcpStream, received: &AtomicUsize) {
    let mut bytes = vec![0; 64 << 10];
    loop {
        match stream.read(&mut bytes) {
            Ok(read @ 1..) => _ = received.fetch_add(read, SeqCst),
            Err(error) if has_waited(&error) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

fn has_waited(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// Writes until the server closes the connection, or the flood is over.
fn repeat(mut stream: &TcpStream, first: &[u8], repeated: &[u8], is_over: &AtomicBool) {
    let mut rest = first;
    while !is_over.load(SeqCst) {
        if rest.is_empty() {
            rest = repeated;
        }
        match stream.write(rest) {
            Ok(written) => rest = &rest[written..],
            // The server does not read for the moment.
            Err(error) if has_waited(&error) => {}
            Err(_) => return,
        }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        self.thread.take().map(JoinHandle::join);
    }
}

fn echo() -> Request {
    modern("tools/call", json!({"name": "echo", "arguments": {"text": "on"}}))
}

/// Floods a server, and calls it from other connections.
fn withstands<R: Runtime>(what: &str, first: &[u8], repeated: &[u8]) {
    let options = Http::new();
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let flood = Flood::start(served.address, first.to_vec(), repeated);
    eventually("the flood has begun", || (stats.connections() > 0).then_some(()));
    for _ in 0..3 {
        let start = Instant::now();
        assert_eq!(text(&echo().send(served.address).answer()), "on");
        assert!(start.elapsed() < BOUND, "{what}: {:?}", start.elapsed());
    }
    drop(flood);
    assert_eq!(text(&echo().send(served.address).answer()), "on");
}

fn floods_of_frames_delay_no_others<R: Runtime>() {
    let post = frame(HEADERS, END_HEADERS, 1, &head_block());
    let open = [PREFACE, &post].concat();
    let unfinished = [PREFACE, &frame(HEADERS, 0, 1, &head_block())].concat();
    let (data, ping, window, settings) = (0, 6, 8, 4);
    let floods: [(&str, &[u8], Vec<u8>); 11] = [
        ("pings", PREFACE, frame(ping, 0, 0, b"12345678")),
        ("settings", PREFACE, frame(settings, 0, 0, &[])),
        ("windows", PREFACE, frame(window, 0, 0, &1_u32.to_be_bytes())),
        ("windows of a stream", &open, frame(window, 0, 1, &1_u32.to_be_bytes())),
        ("priorities", PREFACE, frame(2, 0, 1, &[0, 0, 0, 3, 1])),
        ("unknown frames", PREFACE, frame(0x2A, 0, 0, &[7; 16 << 10])),
        ("short unknown frames", PREFACE, frame(0x2A, 0, 1, &[])),
        ("empty bodies", &open, frame(data, 0, 1, &[])),
        ("padding", &open, frame(data, 8, 1, &[3, 0, 0, 0])),
        ("continued heads", &unfinished, frame(9, 0, 1, &[])),
        ("resets", &open, frame(RST_STREAM, 0, 1, &8_u32.to_be_bytes())),
    ];
    for (what, first, repeated) in floods {
        withstands::<R>(what, first, &repeated);
    }
}

fn floods_of_requests_delay_no_others<R: Runtime>() {
    let chunked = initialize().body(b"").without("Content-Length");
    let chunked = chunked.field("Transfer-Encoding", "chunked").bytes();
    let floods: [(&str, &[u8], Vec<u8>); 5] = [
        ("calls", b"", echo().bytes()),
        ("refused requests", b"", Request::new("GET").path("/elsewhere").bytes()),
        ("sessions", b"", initialize().bytes()),
        ("short chunks", &chunked, b"1\r\n \r\n".to_vec()),
        ("empty lines", b"", b"\r\n".to_vec()),
    ];
    for (what, first, repeated) in floods {
        withstands::<R>(what, first, &repeated);
    }
}

fn control_frames_are_limited_per_second<R: Runtime>() {
    let served = Served::echo::<R>();
    let ping = frame(6, 0, 0, b"12345678");
    let start = Instant::now();
    let flood = Flood::start(served.address, PREFACE.to_vec(), &ping);
    thread::sleep(Duration::from_secs(1));
    let answered = flood.received.load(SeqCst) / ping.len();
    // What arrives in one read is handled.
    let most = start.elapsed().as_secs_f64() * 2_000.0 + 1_500.0;
    assert!(answered > 0 && (answered as f64) < most, "{answered} in {:?}", start.elapsed());
}
