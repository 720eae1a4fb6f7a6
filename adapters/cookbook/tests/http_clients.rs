//! Runs the examples that bring an HTTP client, against a server on a local port.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use mcp_blocking::http::{Http, Stop};
use mcp_blocking::proto::{Progress, Revision};
use mcp_blocking::{Cx, Lists, Server};

#[allow(dead_code, reason = "an example also has a main function")]
#[path = "../examples/reqwest_client.rs"]
mod reqwest_client;
#[allow(dead_code, reason = "an example also has a main function")]
#[path = "../examples/ureq_client.rs"]
mod ureq_client;

/// Runs `talk` with the URL of a server and clients of both eras; checks the lines that it shows.
fn run(talk: impl Fn(&[Revision], &str, &mut Vec<String>) -> Result<(), Box<dyn Error>>) {
    let server = Server::new("counter", "1.0.0")
        .lists(Lists::new().announce_changes())
        .tool("count", "Counts to three", |cx: Cx| {
            for step in 1..=3 {
                cx.progress(Progress::new(f64::from(step)))?;
            }
            Ok("three")
        })
        .tool("grow", "Announces more tools", |cx: Cx| {
            cx.changes().tools_list_changed()?;
            Ok("grown")
        });
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let stop = Stop::new();
    let until = stop.clone();
    let serving = thread::spawn(move || server.serve_http(listener, Http::new(), &until).wait());
    for revisions in [&[Revision::V2026_07_28][..], &[Revision::V2025_11_25]] {
        let mut lines = Vec::new();
        talk(revisions, &url, &mut lines).unwrap();
        let (change, before) = lines.split_last().unwrap();
        let expected =
            ["tool count", "tool grow", "progress 1", "progress 2", "progress 3", "result three"];
        assert_eq!(before, expected);
        assert!(change.starts_with("changed ") && change.contains("Tools"), "{change}");
    }
    stop.stop();
    serving.join().unwrap().unwrap();
}

#[test]
fn ureq_sends_the_requests_of_a_client() {
    run(|revisions, url, lines| {
        let client = mcp_blocking::Client::new("test", "1.0.0").revisions(revisions);
        ureq_client::talk(client, url, |line| lines.push(line))
    });
}

#[test]
fn reqwest_sends_the_requests_of_a_client() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    run(|revisions, url, lines| {
        let client = mcp_tokio::Client::new("test", "1.0.0").revisions(revisions);
        runtime.block_on(reqwest_client::talk(client, url, |line| lines.push(line)))
    });
}
