//! Runs the examples that serve HTTP without an adapter, with clients of both eras.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mcp_blocking::Client;
use mcp_blocking::http::Remote;
use mcp_blocking::proto::Revision;

#[allow(dead_code, reason = "an example also has a main function")]
#[path = "../examples/tiny_http_hub.rs"]
mod tiny_http_hub;

#[allow(dead_code, reason = "an example also has a main function")]
#[path = "../examples/axum_hub.rs"]
mod axum_hub;

const ERAS: [&[Revision]; 2] = [&[Revision::V2026_07_28], &[Revision::V2025_11_25]];

#[test]
fn a_hub_in_tiny_http_serves_clients_of_both_eras() {
    let web = tiny_http::Server::http("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", web.server_addr());
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let serving = scope.spawn(|| tiny_http_hub::serve(&web, &stop));
        for revisions in ERAS {
            let client = Client::new("test", "1.0.0").revisions(revisions);
            let client = client.connect_http(Remote::new(&url).unwrap()).wait().unwrap();
            assert_eq!(client.list_tools().wait().unwrap()[0].name, "time");
            let result = client.call_tool("time", &()).wait().unwrap();
            assert!(result.content[0].as_text().unwrap().ends_with(" s since 1970"));
        }
        stop.store(true, Ordering::Relaxed);
        web.unblock();
        serving.join().unwrap().unwrap();
    });
}

#[tokio::test]
async fn a_hub_in_axum_streams_progress_to_clients_of_both_eras() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(axum::serve(listener, axum_hub::router().unwrap()).into_future());
    for revisions in ERAS {
        let client = mcp_tokio::Client::new("test", "1.0.0").revisions(revisions);
        let client = client.connect_http(Remote::new(&url).unwrap()).await.unwrap();
        // A disconnection cancels only its own call.
        drop(client.call_tool("count", &()).start().await);
        let mut steps = Vec::new();
        let call = client.call_tool("count", &()).progress(|it| steps.push(it.progress));
        assert_eq!(call.await.unwrap().to_text(), "three");
        assert_eq!(steps, [1.0, 2.0, 3.0]);
        client.close().await.unwrap();
    }
    serving.abort();
}

#[tokio::test]
async fn a_hub_in_axum_reads_slow_bodies_and_survives_those_that_end_early() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(axum::serve(listener, axum_hub::router().unwrap()).into_future());
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: count\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let client = tokio::task::spawn_blocking(move || {
        let mut early = TcpStream::connect(address).unwrap();
        early.write_all(&request.as_bytes()[..request.len() - 1]).unwrap();
        drop(early);
        let mut slow = TcpStream::connect(address).unwrap();
        slow.set_nodelay(true).unwrap();
        slow.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        for byte in request.as_bytes() {
            slow.write_all(&[*byte]).unwrap();
        }
        let mut response = String::new();
        slow.read_to_string(&mut response).unwrap();
        response
    });
    let response = client.await.unwrap();
    assert!(response.contains("200 OK") && response.contains("three"), "{response}");
    serving.abort();
}
