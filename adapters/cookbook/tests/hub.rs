//! Runs the examples that serve HTTP without an adapter, with clients of both eras.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

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
