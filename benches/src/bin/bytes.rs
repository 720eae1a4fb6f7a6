//! Measures the bytes per additional session, stream, connection or call, ours and the official
//! SDK's, and prints them as Markdown.
//!
//! Servers run on one thread, whose allocations are counted; their clients are raw sockets on
//! another. Kernel memory for sockets is not included.

#![allow(clippy::expect_used, clippy::print_stdout, reason = "a tool prints, and may panic")]

#[path = "bytes/calls.rs"]
mod calls;
#[path = "bytes/connections.rs"]
mod connections;
#[path = "bytes/held.rs"]
mod held;
#[path = "http/messages.rs"]
mod messages;

use held::Each;
use mcp_benches::http::Kind;

#[global_allocator]
static COUNTING: mcp_memory_tests::Counting = mcp_memory_tests::Counting;

fn main() {
    println!("## Bytes held\n");
    println!(
        "By what is allocated, for each of thousands, and in brackets by how much the process has \
         grown, which is less\n\
         where buffers were never touched. Goals are of the first. The system's part of sockets \
         is in neither.\n"
    );
    println!("| for each | bare hyper | ours | rmcp 3.9 | goal |\n|---|--:|--:|--:|---|");
    let (ours, rmcp) = (connections::sessions(Kind::Tokio), connections::sessions(Kind::Rmcp));
    row("idle HTTP session (2025-11-25)", None, Some(ours.session), Some(rmcp.session), Some(2048));
    let bare = connections::streams_alone();
    row(
        "open GET stream of a session",
        Some(bare),
        Some(ours.stream),
        Some(rmcp.stream),
        Some(16 * 1024),
    );
    let (ours, rmcp) = (connections::byte_streams(false), connections::byte_streams(true));
    row("idle connection over a byte stream, tokio", None, Some(ours), Some(rmcp), None);
    let core = calls::core();
    row("call in flight, core, client", None, Some(core.client), None, Some(256));
    row("call in flight, core, server", None, Some(core.server), None, Some(256));
    let (ours, rmcp) = (calls::at_server(false), calls::at_server(true));
    row("call in flight, server on tokio", None, Some(ours), Some(rmcp), Some(1229));
    let (ours, rmcp) = (calls::at_client(false), calls::at_client(true));
    row("call in flight, client on tokio", None, Some(ours), Some(rmcp), Some(819));
}

fn row(
    name: &str,
    bare: Option<Each>,
    ours: Option<Each>,
    rmcp: Option<Each>,
    goal: Option<usize>,
) {
    let shown = |each: Option<Each>| {
        each.map_or_else(String::new, |each| {
            let resident = each.resident.map_or_else(String::new, |bytes| format!(" ({bytes})"));
            format!("{} B{resident}", each.allocated)
        })
    };
    let goal = goal.zip(ours).map_or_else(String::new, |(goal, ours)| {
        format!("≤ {goal} B: {}", if ours.allocated <= goal { "met" } else { "**missed**" })
    });
    println!("| {name} | {} | {} | {} | {goal} |", shown(bare), shown(ours), shown(rmcp));
}
