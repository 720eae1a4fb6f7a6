//! Calls in flight: in the core's tables, at servers and at clients.

use std::io::{BufRead, BufReader, Write};
use std::thread;
use std::time::Duration;

use bytes::Buf;
use mcp_benches::http::{Answers, echo};
use mcp_benches::ours::{Pair, in_session};
use mcp_memory_tests::{counted, live};
use mcp_proto::schema::CallTool;
use mcp_proto::{CallOptions, Endpoint, Instant, Limits, Raw, Revision};
use mcp_tokio::{Client, Tool};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientRequest, Request};
use rmcp::service::PeerRequestOptions;

use crate::connections::{bound, on_stream};
use crate::held::{Each, on_thread};

const IN_CORE: usize = 100_000;
const CALLS: usize = 10_000;

pub(crate) struct Core {
    pub(crate) client: Each,
    pub(crate) server: Each,
}

fn limits() -> Limits {
    Limits {
        calls_max: usize::MAX,
        calls_bytes_max: usize::MAX,
        requests_max: usize::MAX,
        requests_bytes_max: usize::MAX,
        outbox_bytes_max: usize::MAX,
        replies_bytes_max: usize::MAX,
        ..Limits::default()
    }
}

/// Measures a call in the tables of both machines, once sent and delivered.
pub(crate) fn core() -> Core {
    let Pair { mut client, mut server } = in_session(Revision::V2025_11_25);
    let (call, mut line) = (CallTool::new("x"), Vec::with_capacity(1024));
    let (mut at_client, mut at_server) = (0, 0);
    for _ in 0..IN_CORE {
        line.clear();
        at_client += growth(|| {
            client.call(Instant::ZERO, &call, CallOptions::default()).expect("there is room");
            while client.outbox().has_remaining() {
                let outbox = client.outbox();
                line.extend_from_slice(outbox.chunk());
                let taken = outbox.chunk().len();
                outbox.advance(taken);
            }
        });
        at_server += growth(|| {
            server.handle_input(Instant::ZERO, &line);
            while server.poll_event().is_some() {}
        });
    }
    let each = |bytes: isize| {
        let allocated = usize::try_from(bytes).unwrap_or_default() / IN_CORE;
        Each { allocated, resident: None }
    };
    Core { client: each(at_client), server: each(at_server) }
}

fn growth(work: impl FnOnce()) -> isize {
    let before = live() as isize;
    counted(work);
    live() as isize - before
}

/// Measures a call at a server whose async handler waits.
pub(crate) fn at_server(is_rmcp: bool) -> Each {
    let (listener, address) = bound();
    let held = on_thread(move || async move {
        listener.set_nonblocking(true).expect("the socket is configurable");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a runtime");
        let (stream, _) = listener.accept().await.expect("a client");
        let (reader, writer) = stream.into_split();
        if is_rmcp {
            let running = Answers.serve((reader, writer)).await.expect("a session");
            running.waiting().await.expect("it ends");
        } else {
            let schema = Raw::from_text(r#"{"type":"object"}"#).expect("JSON");
            let server = echo().expect("a server").limits(limits()).add(
                Tool::new("wait", || std::future::pending::<Result<String, _>>())
                    .description("Never finishes")
                    .input_schema(schema),
            );
            server.serve(reader, writer).await.expect("it ends");
        }
    });
    let mut stream = on_stream(address);
    held.each(CALLS, || {
        for id in 1..=CALLS {
            let call = format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\
                 \"params\":{{\"name\":\"wait\",\"arguments\":{{\"text\":\"for good\"}}}}}}\n"
            );
            stream.write_all(call.as_bytes()).expect("the server reads");
        }
    })
    .0
}

/// Measures a call at a client, with the handle of its result.
pub(crate) fn at_client(is_rmcp: bool) -> Each {
    let (listener, address) = bound();
    thread::spawn(move || silent(&listener));
    let allocated = counted(|| {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let stream = tokio::net::TcpStream::connect(address).await.expect("a server");
            let (reader, writer) = stream.into_split();
            if is_rmcp {
                let client = ().serve((reader, writer)).await.expect("a session");
                let before = settled().await;
                let mut open = Vec::with_capacity(CALLS);
                for _ in 0..CALLS {
                    let arguments = serde_json::from_str(r#"{"text":"for good"}"#).expect("JSON");
                    let params = CallToolRequestParams::new("wait").with_arguments(arguments);
                    let request = ClientRequest::CallToolRequest(Request::new(params));
                    let options = PeerRequestOptions::no_options();
                    open.push(
                        client
                            .send_cancellable_request(request, options)
                            .await
                            .expect("the call is sent"),
                    );
                }
                (settled().await - before) / CALLS
            } else {
                let client =
                    Client::new("bench", "1.0.0").limits(limits()).connect(reader, writer).await;
                let client = client.expect("a session");
                let arguments = Raw::from_text(r#"{"text":"for good"}"#).expect("JSON");
                let before = settled().await;
                let mut open = Vec::with_capacity(CALLS);
                for _ in 0..CALLS {
                    open.push(
                        client
                            .call_tool("wait", &arguments)
                            .start()
                            .await
                            .expect("the call is sent"),
                    );
                }
                (settled().await - before) / CALLS
            }
        })
    });
    Each { allocated, resident: None }
}

/// Returns what this thread holds once that no longer changes.
async fn settled() -> usize {
    let mut before = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        if live() == before {
            return before;
        }
        before = live();
    }
}

/// Runs a server that opens a session and answers nothing else.
fn silent(listener: &std::net::TcpListener) {
    let (mut stream, _) = listener.accept().expect("a client");
    let reader = BufReader::new(stream.try_clone().expect("the socket is configurable"));
    for line in reader.lines().map_while(Result::ok) {
        let id = line
            .split_once("\"id\":")
            .map(|(_, rest)| rest.split([',', '}']).next().unwrap_or_default());
        let answer = match id {
            Some(id) if line.contains("\"initialize\"") => format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocolVersion\":\"2025-11-25\"\
                 ,\"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"silent\",\
                 \"version\":\"1\"}}}}}}\n"
            ),
            Some(id) if line.contains("\"server/discover\"") => format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"no \
                 such method\"}}}}\n"
            ),
            _ => continue,
        };
        stream.write_all(answer.as_bytes()).expect("the client reads");
    }
}
