//! Clients of HTTP/2 that try to exhaust a server: each limit holds, and others are still served.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use h2::client::Builder;
use h2::{Reason, SendStream};
use mcp_adapter::Tool;
use mcp_adapter::proto::Limits;
use mcp_blocking::http::{Http, HttpLimits};
use mcp_http_tests::{
    Http2, PATIENCE, Request, Runtime, Served, StreamReply, eventually, modern, on_client, rows,
    server, text, tool,
};
use serde_json::json;

rows! {
    streams_beyond_the_limit_are_reset_and_may_be_sent_again,
    a_request_beyond_the_first_counts_like_a_connection,
    a_refused_connection_is_answered,
    listening_streams_leave_room_for_requests,
    listening_streams_have_a_limit_per_address,
    a_head_that_never_ends_is_cut,
    heads_that_are_too_large_are_answered,
    an_idle_connection_is_closed_and_a_busy_one_is_not,
    a_response_that_is_not_read_is_reset_alone,
    rapid_resets_harm_no_others,
}

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// Returns the encoded head of a POST whose body follows.
pub(crate) fn head_block() -> Vec<u8> {
    let mut block = vec![0x83, 0x86, 0x04, 4];
    block.extend_from_slice(b"/mcp\x01\x09localhost");
    for (name, value) in
        [("content-type", "application/json"), ("accept", "application/json, text/event-stream")]
    {
        block.extend_from_slice(&[0, name.len() as u8]);
        block.extend_from_slice(name.as_bytes());
        block.push(value.len() as u8);
        block.extend_from_slice(value.as_bytes());
    }
    block
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Reads frames until one is of this kind; returns its stream and payload.
fn next_of(stream: &mut TcpStream, kind: u8) -> (u32, Vec<u8>) {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).expect("a frame in time");
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        stream.read_exact(&mut payload).expect("a frame in time");
        if head[3] == kind {
            return (u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload);
        }
    }
}

fn echo(text: &str) -> Request {
    modern("tools/call", json!({"name": "echo", "arguments": {"text": text}}))
}

fn echoes(address: SocketAddr) -> bool {
    text(&echo("on").send(address).answer()) == "on"
}

/// Starts a request whose body never arrives.
async fn without_body(client: &Http2) -> (h2::client::ResponseFuture, SendStream<bytes::Bytes>) {
    let (head, _body) = echo("on").without("Content-Length").stream_parts();
    client.ready().await.unwrap().send_request(head, false).unwrap()
}

fn streams_beyond_the_limit_are_reset_and_may_be_sent_again<R: Runtime>() {
    let served = Served::on::<R>(
        server(),
        Http::new().limits(HttpLimits { http2_streams_max: 2, ..HttpLimits::default() }),
    );
    let mut stream = connect(served.address);
    stream.write_all(PREFACE).unwrap();
    for number in [1, 3, 5] {
        stream.write_all(&frame(HEADERS, END_HEADERS, number, &head_block())).unwrap();
    }
    let refused_stream = 7_u32.to_be_bytes().to_vec();
    assert_eq!(next_of(&mut stream, RST_STREAM), (5, refused_stream));
    on_client(async {
        let client = Http2::connect(served.address).await;
        assert_eq!(client.send(&echo("on")).await.unwrap().status, 200);
        let held = [without_body(&client).await, without_body(&client).await];
        let (third, _stream) = client.start(&echo("on")).await;
        let third = tokio::spawn(third);
        // The client knows the limit and waits.
        drop(held);
        assert_eq!(third.await.unwrap().unwrap().status(), 200);
    });
}

fn a_request_beyond_the_first_counts_like_a_connection<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { connections_per_address_max: 3, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    on_client(async {
        let client = Http2::connect(served.address).await;
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(without_body(&client).await);
        }
        let mut refused = client.send(&echo("on")).await.unwrap();
        assert_eq!((refused.status, stats.refused_by_address()), (429, 1));
        assert!(refused.headers.contains_key("retry-after"));
        let why = refused.text().await.unwrap();
        assert!(why.contains("connections_per_address_max"), "{why}");
        drop(held);
        loop {
            // The server learns of the resets in its time.
            let again = client.send(&echo("on")).await.unwrap();
            if again.status == 200 {
                break;
            }
            assert_eq!(again.status, 429);
        }
    });
}

fn a_refused_connection_is_answered<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { connections_per_address_max: 1, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let open =
        modern("tools/call", json!({})).field("Content-Length", "9999").start(served.address);
    eventually("it is busy", || (stats.requests_bytes() > 0).then_some(()));
    on_client(async {
        let client = Http2::connect(served.address).await;
        assert_eq!(client.send(&echo("on")).await.unwrap().status, 429);
        let _ended = client.end().await;
    });
    drop(open);
    eventually("there is room", || (echo("on").send(served.address).status == 200).then_some(()));
}

/// Builds a request for a stream that waits for messages.
fn listen() -> Request {
    modern("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
}

fn listening_streams_leave_room_for_requests<R: Runtime>() {
    let options = Http::new().limits(HttpLimits {
        connections_per_address_max: 4,
        connections_max: 5,
        ..HttpLimits::default()
    });
    let served = Served::on::<R>(server(), options);
    on_client(async {
        let clients = [Http2::connect(served.address).await, Http2::connect(served.address).await];
        let mut listening = Vec::new();
        for client in &clients {
            let session = client.open_session().await;
            listening.push(client.listen(&session).await);
            for _ in 0..8 {
                listening.push(client.send(&listen()).await.unwrap());
            }
        }
        assert!(listening.iter().all(|listening| listening.status == 200));
        assert!(clients.len() == 2 && echo("on").send(served.address).status == 200);
    });
}

fn listening_streams_have_a_limit_per_address<R: Runtime>() {
    let options =
        Http::new().limits(HttpLimits { listeners_per_address_max: 3, ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    on_client(async {
        let client = Http2::connect(served.address).await;
        let session = client.open_session().await;
        let mut listening = vec![client.listen(&session).await];
        listening.push(client.send(&listen()).await.unwrap());
        let alone = listen().send(served.address);
        assert_eq!(alone.status, 200);
        let mut refused = client.send(&listen()).await.unwrap();
        assert_eq!((refused.status, stats.refused_by_address()), (429, 1));
        let why = refused.text().await.unwrap();
        assert!(why.contains("listeners_per_address_max"), "{why}");
        assert_eq!(listen().send(served.address).status, 429);
        let other = client.open_session().await;
        assert_eq!(client.listen(&other).await.status, 429);
        assert_eq!(client.send(&echo("on")).await.unwrap().status, 200);
        drop((alone, listening));
        eventually("there is room", || (listen().send(served.address).status == 200).then_some(()));
    });
}

fn a_head_that_never_ends_is_cut<R: Runtime>() {
    let options = Http::new()
        .limits(HttpLimits { head_timeout: Duration::from_millis(200), ..HttpLimits::default() });
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let whole = frame(HEADERS, END_HEADERS, 1, &head_block());
    let open = frame(HEADERS, 0, 1, &head_block());
    let starts: [&[u8]; 5] = [
        b"",
        &PREFACE[..10],
        &[PREFACE, &whole[..5]].concat(),
        &[PREFACE, &whole[..20]].concat(),
        &[PREFACE, &open[..]].concat(),
    ];
    for start in starts {
        let mut stream = connect(served.address);
        stream.write_all(start).unwrap();
        let ended = stream.read_to_end(&mut Vec::new());
        assert!(
            !ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
            "{start:?}"
        );
    }
    eventually("they are closed", || (stats.connections() == 0).then_some(()));
    on_client(async {
        let client = Http2::connect(served.address).await;
        // A body is no head.
        let (response, mut body) = without_body(&client).await;
        tokio::time::sleep(Duration::from_millis(400)).await;
        body.send_data(echo("late").stream_parts().1, true).unwrap();
        let mut reply = StreamReply::new(response.await.unwrap());
        assert_eq!(text(&reply.message().await.unwrap()), "late");
    });
}

fn heads_that_are_too_large_are_answered<R: Runtime>() {
    let served = Served::echo::<R>();
    on_client(async {
        let client = Http2::connect(served.address).await;
        let large = echo("on").field("X-Padding", &"x".repeat(70_000));
        assert_eq!(client.send(&large).await.unwrap().status, 431);
        assert_eq!(client.send(&echo("on")).await.unwrap().status, 200);
    });
}

fn an_idle_connection_is_closed_and_a_busy_one_is_not<R: Runtime>() {
    let options = Http::new().limits(HttpLimits {
        connection_idle_max: Duration::from_secs(2),
        ..HttpLimits::default()
    });
    let served = Served::on::<R>(server(), options);
    on_client(async {
        let client = Http2::connect(served.address).await;
        let session = client.open_session().await;
        let events = client.listen(&session).await;
        // Longer than an idle connection is kept.
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(client.send(&echo("on")).await.unwrap().status, 200);
        drop(events);
        assert!(client.end().await.is_none(), "idle, it is closed without error");
    });
}

fn a_response_that_is_not_read_is_reset_alone<R: Runtime>() {
    let limits = Limits { stall_timeout: Duration::from_millis(200), ..Limits::default() };
    let options = Http::new();
    let stats = options.stats();
    let server = server().limits(limits).add(Tool::define(tool("flood"), || "x".repeat(1 << 20)));
    let served = Served::on::<R>(server, options);
    let flood = modern("tools/call", json!({"name": "flood", "arguments": {}}));
    // Nothing, a part of a piece, and a part of several pieces are accepted.
    for (stalls, window) in (1..).zip([0, 1, 100_000]) {
        on_client(async {
            let mut settings = Builder::new();
            settings.initial_window_size(window);
            let stream = tokio::net::TcpStream::connect(served.address).await.unwrap();
            let client = Http2::with(stream, &settings).await;
            let stalled = client.send(&flood).await.unwrap();
            assert_eq!(stalled.status, 200);
            assert_eq!(stalled.reset_reason().await, Some(Reason::CANCEL));
            assert_eq!(stats.connections_stalled(), stalls);
            assert_eq!(client.send(&echo("on")).await.unwrap().status, 200);
        });
    }
    eventually("nothing is left", || (stats.requests_bytes() == 0).then_some(()));
}

fn rapid_resets_harm_no_others<R: Runtime>() {
    let options = Http::new();
    let stats = options.stats();
    let served = Served::on::<R>(server(), options);
    let address = served.address;
    let attack = thread::spawn(move || {
        let block = head_block();
        for _ in 0..5 {
            let mut stream = connect(address);
            stream.write_all(PREFACE).unwrap();
            for number in (1..20_000).step_by(2) {
                let head = frame(HEADERS, END_HEADERS, number, &block);
                let reset = frame(RST_STREAM, 0, number, &8_u32.to_be_bytes());
                // The server may close the connection.
                if stream.write_all(&[head, reset].concat()).is_err() {
                    break;
                }
            }
        }
    });
    while !attack.is_finished() {
        assert!(echoes(address));
    }
    attack.join().unwrap();
    assert!(echoes(address));
    eventually("nothing is left of it", || {
        (stats.requests_bytes() == 0 && stats.connections() == 0).then_some(())
    });
}
