//! Idle sessions, streams and connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

use mcp_benches::http::{Answers, Kind, echo};

use rmcp::ServiceExt;

use crate::held::{Each, Held, on_thread};
use crate::messages::{field, get, head_of, initialize, initialized, is_whole};

const SESSIONS: usize = 5_000;
const STREAMS: usize = 1_000;
const CONNECTIONS: usize = 1_000;

/// The cost of each, over HTTP.
pub(crate) struct OverHttp {
    pub(crate) session: Each,
    pub(crate) stream: Each,
}

fn served(kind: Kind) -> (Held, SocketAddr) {
    let (listener, address) = bound();
    (on_thread(move || kind.serve_on_tokio(listener, false)), address)
}

pub(crate) fn bound() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it is bound");
    (listener, address)
}

pub(crate) fn sessions(kind: Kind) -> OverHttp {
    let (held, address) = served(kind);
    let mut connection = TcpStream::connect(address).expect("the server listens");
    // One-time allocations are not counted.
    let first = opened(&mut connection);
    drop(streaming(address, &first));
    let (session, ids) =
        held.each(SESSIONS, || (0..SESSIONS).map(|_| opened(&mut connection)).collect::<Vec<_>>());
    let (stream, _open) = held.each(STREAMS, || {
        ids.iter().take(STREAMS).map(|id| streaming(address, id)).collect::<Vec<_>>()
    });
    OverHttp { session, stream }
}

/// Measures equal streams behind a bare HTTP server.
pub(crate) fn streams_alone() -> Each {
    let (held, address) = served(Kind::Bare);
    drop(streaming(address, "none"));
    held.each(STREAMS, || (0..STREAMS).map(|_| streaming(address, "none")).collect::<Vec<_>>()).0
}

fn opened(connection: &mut TcpStream) -> String {
    let response = asked(connection, &initialize());
    let id = field(&response, b"\r\nmcp-session-id: ").expect("a session").to_owned();
    let response = asked(connection, &initialized(Some(&id)));
    assert!(response.starts_with(b"HTTP/1.1 202"), "{}", String::from_utf8_lossy(&response));
    id
}

fn asked(connection: &mut TcpStream, request: &[u8]) -> Vec<u8> {
    connection.write_all(request).expect("the server reads");
    let (mut response, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let count = connection.read(&mut chunk).expect("the server answers");
        assert!(count > 0, "{}", String::from_utf8_lossy(&response));
        response.extend_from_slice(&chunk[..count]);
        let Some(head) = head_of(&response) else { continue };
        if is_whole(&response[..head], &response[head..]) {
            return response;
        }
    }
}

fn streaming(address: SocketAddr, session: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.write_all(&get(session)).expect("the server reads");
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("the server answers");
    assert_eq!(head, *b"HTTP/1.1 200");
    stream
}

/// Measures idle connections over byte streams, ours or the official SDK's.
pub(crate) fn byte_streams(is_rmcp: bool) -> Each {
    let (listener, address) = bound();
    let held = on_thread(move || async move {
        listener.set_nonblocking(true).expect("the socket is configurable");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a runtime");
        let server = echo().expect("a server");
        while let Ok((stream, _)) = listener.accept().await {
            let (reader, writer) = stream.into_split();
            if is_rmcp {
                tokio::spawn(async move {
                    let running = Answers.serve((reader, writer)).await.expect("a session");
                    running.waiting().await
                });
            } else {
                let server = server.clone();
                tokio::spawn(async move { server.serve(reader, writer).await });
            }
        }
    });
    let _first = on_stream(address);
    held.each(CONNECTIONS, || (0..CONNECTIONS).map(|_| on_stream(address)).collect::<Vec<_>>()).0
}

/// Opens a session on a stream of lines.
pub(crate) fn on_stream(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.write_all(br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#).expect("the server reads");
    stream.write_all(b"\n").expect("the server reads");
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).expect("the server answers");
    assert!(line.contains("\"result\""), "{line}");
    stream
        .write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
        .expect("the server reads");
    stream
}
