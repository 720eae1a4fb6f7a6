//! Requests that are refused before their body was read: the client receives the refusal.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mcp_blocking::http::{Http, HttpLimits, Principal, Refusal};
use mcp_http_tests::{
    Http2, PATIENCE, Pending, Request, Runtime, Served, eventually, initialize, modern, on_client,
    post, rows, server,
};
use serde_json::json;

rows! {
    a_client_that_sends_all_of_a_large_body_receives_the_refusal,
    a_short_body_that_is_refused_keeps_its_connection,
    a_refusal_for_a_limit_is_received,
    a_refusal_over_http_2_is_received,
    a_body_without_end_is_cut,
}

/// A body above the limit of 4 MiB, and above what sockets buffer.
const LARGE: usize = 12 << 20;

fn large(request: Request) -> Request {
    request.body(&vec![b' '; LARGE])
}

fn chunked(request: Request) -> Request {
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
    let body = [chunk.repeat(LARGE >> 20), b"0\r\n\r\n".to_vec()].concat();
    request.body(&body).without("Content-Length").field("Transfer-Encoding", "chunked")
}

fn options() -> Http {
    Http::new().authenticating(|head| match head.headers.get("x-stranger") {
        None => Principal::new("ada").ok_or_else(|| Refusal::new(500, "unreachable")),
        Some(_) => Err(Refusal::new(401, "who are you?").header("www-authenticate", "Bearer")),
    })
}

/// Returns requests and the status of their refusals.
fn refused() -> Vec<(u16, Request)> {
    let put = Request::new("PUT").field("Content-Type", "application/json");
    vec![
        (413, large(initialize())),
        (413, chunked(initialize())),
        (403, large(initialize().field("Host", "evil.example"))),
        (403, large(initialize().field("Origin", "https://evil.example"))),
        (404, large(initialize().path("/elsewhere"))),
        (404, chunked(initialize().path("/elsewhere"))),
        (405, large(put)),
        (401, large(initialize().field("X-Stranger", "yes"))),
        (406, initialize().field("Accept", "text/html").body(&vec![b' '; 3 << 20])),
        (415, initialize().field("Content-Type", "text/plain").body(&vec![b' '; 3 << 20])),
        (400, large(initialize().field("Content-Length", "1").field("Host", "a b"))),
    ]
}

/// Sends all of a request before it reads the response, as most clients do; returns the response.
fn sent_whole(address: SocketAddr, request: &Request) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&request.bytes()).expect("the server reads on");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("the connection is not reset");
    String::from_utf8(response).unwrap()
}

fn a_client_that_sends_all_of_a_large_body_receives_the_refusal<R: Runtime>() {
    let served = Served::on::<R>(server(), options());
    let start = Instant::now();
    for (status, request) in refused() {
        let response = sent_whole(served.address, &request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{status}: {response}");
        assert!(response.to_ascii_lowercase().contains("\r\nconnection: close\r\n"), "{response}");
        if status == 413 {
            assert!(response.contains("4194304 bytes"), "{response}");
            assert!(!response.contains("::"), "clients know no methods: {response}");
        }
    }
    // The server says that the response is complete before it waits for the client.
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

fn a_short_body_that_is_refused_keeps_its_connection<R: Runtime>() {
    let served = Served::on::<R>(server(), options());
    let mut connection = initialize().field("X-Stranger", "yes").start(served.address);
    for _ in 0..3 {
        let reply = connection.next_reply();
        assert_eq!((reply.status, reply.field("connection")), (401, None));
        connection.send(&initialize().field("X-Stranger", "yes"));
    }
    assert_eq!(connection.next_reply().status, 401);
}

/// Starts a request whose body never ends, so that its connection stays busy.
fn busy(address: SocketAddr) -> Pending {
    initialize().body(b"{").field("Content-Length", "100").start(address)
}

fn a_refusal_for_a_limit_is_received<R: Runtime>() {
    for (status, options) in [
        (503, Http::new().limits(HttpLimits { connections_max: 1, ..HttpLimits::default() })),
        (
            429,
            Http::new()
                .limits(HttpLimits { connections_per_address_max: 1, ..HttpLimits::default() }),
        ),
    ] {
        let stats = options.stats();
        let served = Served::on::<R>(server(), options);
        let open = busy(served.address);
        eventually("it is busy", || (stats.requests_bytes() > 0).then_some(()));
        let response = sent_whole(served.address, &large(initialize()));
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        drop(open);
    }
    let served = Served::on::<R>(
        server(),
        Http::new().limits(HttpLimits { requests_bytes_max: 1 << 20, ..HttpLimits::default() }),
    );
    let response = sent_whole(served.address, &initialize().body(&vec![b' '; 3 << 20]));
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    let slow = Http::new()
        .limits(HttpLimits { body_timeout: Duration::from_millis(50), ..HttpLimits::default() });
    let served = Served::on::<R>(server(), slow);
    let late = busy(served.address).reply();
    assert_eq!(late.status, 408);
}

fn a_refusal_over_http_2_is_received<R: Runtime>() {
    let served = Served::on::<R>(server(), options());
    on_client(async {
        let client = Http2::connect(served.address).await;
        for (status, request) in refused() {
            let request = request.without("Transfer-Encoding");
            // An authority with a space cannot be sent.
            if status == 400 {
                continue;
            }
            let mut refused = client.send(&request).await.unwrap();
            assert_eq!(refused.status, status);
            assert!(refused.text().await.unwrap().contains("error"), "{status}");
        }
        let params = json!({"name": "echo", "arguments": {"text": "on"}});
        let served = client.send(&modern("tools/call", params)).await.unwrap();
        assert_eq!(served.status, 200, "the connection continues");
    });
}

fn a_body_without_end_is_cut<R: Runtime>() {
    let options = Http::new();
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    let head = post(&json!({})).body(b"").field("Content-Length", "1000000000000");
    stream.write_all(&head.bytes()).unwrap();
    let chunk = vec![b' '; 1 << 20];
    let sent = (0..10_000).take_while(|_| stream.write_all(&chunk).is_ok()).count();
    assert!((60..1_000).contains(&sent), "{sent} MiB");
    eventually("it is closed", || (stats.connections() == 0).then_some(()));
}
