//! The events reported to `tracing`, and payloads only where enabled.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use mcp_adapter::layers::Tracing;
use mcp_adapter::proto::Raw;
use mcp_adapter::{Client, Tool};
use mcp_adapter_tests::{
    Blocking, Runtime, Smol, Tokio, client, on, pair, raw, server, success, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<u8>>>);

impl Told {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

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

async fn talk<R: Runtime>(client: Client) {
    let server = server()
        .add(Tool::define(tool("plain"), || {
            tracing::info!("within a plain handler");
            "a secret"
        }))
        .add(Tool::define(tool("async"), async || {
            tracing::info!("within a future");
            "a secret"
        }));
    let (connection, serving) = pair::<R>(client, server).await;
    for tool in ["plain", "async"] {
        success(connection.call_tool(tool, &json!({"password": "a secret"})).await);
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

async fn quietly<R: Runtime>() {
    talk::<R>(client()).await;
}

async fn loudly<R: Runtime>() {
    talk::<R>(client().trace_payloads()).await;
}

const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Requests in their own spans, with the trace context of the client.
async fn spanned<R: Runtime>() {
    let server = server()
        .layer(Tracing::new())
        .add(Tool::define(tool("plain"), || {
            tracing::info!("within a plain handler");
            "a secret"
        }))
        .add(Tool::define(tool("async"), async || {
            tracing::info!("within a future");
            Err::<String, _>("a secret".into())
        }));
    let (connection, serving) = pair::<R>(client(), server).await;
    for tool in ["plain", "async", "none"] {
        let meta = json!({"traceparent": TRACE, "tracestate": "x".repeat(513)});
        let params = json!({"name": tool, "arguments": {"password": "a secret"}, "_meta": meta});
        let _outcome = connection.call_raw("tools/call", raw(&params)).await;
    }
    connection.clone().close().await.unwrap();
    serving.ends_well().await;
}

fn expect_spans(told: &str) {
    let within = "mcp{role=\"server\"}:handler{method=\"tools/call\"}:mcp.request{";
    for text in ["within a plain handler", "within a future"] {
        let line = told.lines().find(|line| line.contains(text)).unwrap_or_default();
        assert!(line.contains(within) && line.contains(TRACE), "{told}");
    }
    let closed = |tool: &str| {
        let field = format!("gen_ai.tool.name=\"{tool}\"");
        let mut ends = told.lines().filter(|line| line.contains(" close "));
        ends.find(|line| line.contains(&field) && line.contains("duration_ms=")).unwrap_or_default()
    };
    let trace = format!("traceparent=\"{TRACE}\"");
    for (tool, fields) in [
        ("plain", &["otel.name=tools/call plain", "outcome=\"success\"", &trace][..]),
        ("async", &["error.type=\"tool_error\"", "mcp.protocol.version=\"2026-07-28\""]),
        ("none", &["outcome=\"error\"", "error.type=-32602", "rpc.response.status_code=-32602"]),
    ] {
        let has_name = closed(tool).contains("otel.name=tools/call");
        assert_eq!(has_name, tool != "none", "only names of tools: {told}");
        for field in fields {
            assert!(closed(tool).contains(field), "{tool}: {field}: {told}");
        }
    }
    assert!(!told.contains("secret") && !told.contains("xxx"), "{told}");
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derived schema only")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derived schema only")]
struct Nested {
    folder: Folder,
    name: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "read by the derived schema only")]
struct Folder {
    children: Vec<Self>,
}

/// Registers tools whose schemas some hosts cannot read, and one that all can.
fn registered() {
    let all_of = Raw::from_text(r#"{"type":"object","allOf":[{"required":["a"]}]}"#).unwrap();
    let changes = server()
        .tool("shape", "Takes a shape", |_: Shape| ())
        .tool("folder", "Takes a folder", |_: Nested| ())
        .tool("plain", "Takes nothing", || ())
        .changes();
    let later = Tool::new("later", || ()).description("Takes `a`").input_schema(all_of);
    changes.add(later).unwrap();
}

// G-10
fn expect_warnings(told: &str) {
    let warnings: Vec<&str> =
        told.lines().filter(|line| line.contains("some hosts cannot read")).collect();
    for (tool, field) in [("shape", "(root)"), ("folder", "folder.children"), ("later", "(root)")] {
        let names = [format!("tool={tool:?}"), format!("field={field:?}")];
        let names_both = |line: &&&str| names.iter().all(|name| line.contains(name));
        assert_eq!(warnings.iter().filter(names_both).count(), 1, "{tool}: {told}");
    }
    assert_eq!(warnings.len(), 3, "{told}");
}

/// A writer that always fails.
async fn unrecorded<R: Runtime>() {
    talk::<R>(client().record(|| Err::<Told, _>(io::ErrorKind::StorageFull.into()))).await;
}

/// One test, because the subscriber is global to the process.
#[test]
fn events_are_reported_and_payloads_only_if_enabled() {
    let told = Told::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(told.clone())
        .with_span_events(FmtSpan::CLOSE)
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();

    on::<Blocking, _>(quietly::<Blocking>);
    let blocking = told.take();
    on::<Smol, _>(quietly::<Smol>);
    let smol = told.take();
    on::<Tokio, _>(quietly::<Tokio>);
    let tokio = told.take();
    for told in [&blocking, &smol, &tokio] {
        for expected in [
            "mcp{role=\"client\"}",
            "mcp{role=\"server\"}:handler{method=\"tools/call\"}: traced: within a plain handler",
            "mcp{role=\"server\"}:handler{method=\"tools/call\"}: traced: within a future",
            "ready of=\"2026-07-28\"",
            "request of=\"tools/call\"",
            "closed of=",
            "received bytes=",
        ] {
            assert!(told.contains(expected), "{expected}: {told}");
        }
        assert!(!told.contains("secret"), "{told}");
        assert!(told.contains(" mcp: closed") && !told.contains("mcp_adapter"), "{told}");
    }

    on::<Blocking, _>(spanned::<Blocking>);
    expect_spans(&told.take());
    on::<Smol, _>(spanned::<Smol>);
    expect_spans(&told.take());
    on::<Tokio, _>(spanned::<Tokio>);
    expect_spans(&told.take());

    on::<Tokio, _>(loudly::<Tokio>);
    let loud = told.take();
    assert!(loud.contains("a secret"), "{loud}");

    registered();
    expect_warnings(&told.take());

    on::<Tokio, _>(unrecorded::<Tokio>);
    let told = told.take();
    let warned: Vec<_> = told.lines().filter(|line| line.contains("no longer recorded")).collect();
    assert!(matches!(warned[..], [line] if line.contains("WARN mcp{role=\"client\"}")), "{told}");
}
