//! What is reported to `tracing` about requests that are refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use mcp_blocking::http::Http;
use mcp_http_tests::{Blocking, Runtime, Served, Smol, Tokio, initialize, server};

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<u8>>>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn refuse<R: Runtime>() {
    let served = Served::on::<R>(server(), Http::new());
    let foreign = initialize().field("Host", "evil.example.com");
    assert_eq!(foreign.send(served.address).status, 403);
}

/// One test, because the subscriber is global to the process.
#[test]
fn refused_requests_are_reported_with_their_reason() {
    let told = Told::default();
    let writer = told.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    for refuse in [refuse::<Blocking>, refuse::<Smol>, refuse::<Tokio>] {
        refuse();
        let bytes = std::mem::take(&mut *told.0.lock().unwrap());
        let text = String::from_utf8(bytes).unwrap();
        let line = text.lines().find(|line| line.contains("a request was refused")).unwrap();
        assert!(line.contains("DEBUG mcp: ") && line.contains("status=403"), "{line}");
        assert!(line.contains("`Host`") && !line.contains("evil"), "{line}");
    }
}
