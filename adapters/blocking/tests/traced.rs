//! What `tracing` is told: what happens, and what is said only where that was asked for.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a story fails by panicking")]

mod common;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use common::{client, pair, part, server, story};
use mcp_blocking::{Client, Server, ToolError};
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

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

impl<'a> MakeWriter<'a> for Told {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn talk(client: Client, server: Server) {
    story(move || {
        let server =
            server.tool_with(common::tool("say"), |_: serde_json::Value, _| -> Result<String, ToolError> {
                tracing::info!("within the handler");
                Ok("a secret".into())
            });
        let (client, serving) = pair(client, server);
        client.call_tool("say", &json!({"password": "a secret"})).wait().unwrap();
        part(client, serving);
    });
}

/// One test: what is told is told to the whole process.
#[test]
fn events_are_told_and_payloads_only_where_that_was_asked_for() {
    let told = Told::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(told.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();

    talk(client(), server());
    let quiet = String::from_utf8(std::mem::take(&mut *told.0.lock().unwrap())).unwrap();
    for told in [
        "mcp{role=\"client\"}",
        "ready of=\"2026-07-28\"",
        "request of=\"tools/call\"",
        "handler{method=\"tools/call\"}",
        "within the handler",
        "closed of=",
        "received bytes=",
    ] {
        assert!(quiet.contains(told), "{told}: {quiet}");
    }
    assert!(!quiet.contains("secret"), "{quiet}");

    talk(client().trace_payloads(), server());
    let loud = String::from_utf8(std::mem::take(&mut *told.0.lock().unwrap())).unwrap();
    assert!(loud.contains("a secret"), "{loud}");
}
