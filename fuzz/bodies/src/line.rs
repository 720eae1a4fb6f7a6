//! Line framing: a byte stream, compared with its lines one by one.

use mcp_harness::{Seed, Witness};
use mcp_proto::server::{Config, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Endpoint, Instant, Limits, MessageEndpoint, Raw, StreamId};

/// The longest line of the machines: short, so that many exceed it.
const LINE_BYTES_MAX: usize = 48;

/// Any split of a byte stream has the effect of its lines one by one.
pub fn line(data: &[u8]) {
    let Some((seed, stream)) = data.split_first() else { return };
    let by_line = one_by_one(stream);
    let mut seed = Seed(u64::from(*seed));
    for pieces in [stream.len().max(1), 1, 2 + seed.below(7), 8 + seed.below(64)] {
        assert_eq!(split(stream, || pieces), by_line, "in pieces of {pieces}");
    }
    assert_eq!(split(stream, || 1 + seed.below(40)), by_line, "in pieces of {seed:?}");
}

/// A machine's output: its events and its bytes.
type Shown = (Vec<String>, Vec<u8>);

fn server() -> Server {
    let limits = Limits { message_bytes_max: LINE_BYTES_MAX, ..Limits::default() };
    let config =
        Config::new("s", "1").capability(Capability::Tools).serve_method("x").limits(limits);
    Server::new(Instant::ZERO, config)
}

fn split(mut stream: &[u8], mut size: impl FnMut() -> usize) -> Shown {
    let mut machine = Stdio::new(server());
    while !stream.is_empty() {
        let (piece, rest) = stream.split_at(size().min(stream.len()));
        machine.handle_input(Instant::ZERO, piece);
        stream = rest;
    }
    machine.handle_eof(Instant::ZERO);
    let events = events(&mut machine);
    (events, machine.outbox().chunk().to_vec())
}

/// Returns the reference: lines by a simple definition, and a machine that receives whole messages,
/// or whole lines that are no messages.
fn one_by_one(stream: &[u8]) -> Shown {
    let mut machine = Stdio::new(server());
    // A byte order mark is dropped below.
    machine.handle_input(Instant::ZERO, b"\n");
    let lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    for (index, line) in lines.iter().enumerate() {
        // The machine also drops one carriage return.
        let given =
            if index == 0 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        let line = given.strip_suffix(b"\r").unwrap_or(given);
        let is_last = index + 1 == lines.len();
        if line.len() > LINE_BYTES_MAX {
            machine.handle_input(Instant::ZERO, given);
            if !is_last {
                machine.handle_input(Instant::ZERO, b"\n");
            }
        } else if line.iter().any(|byte| !b" \t\r".contains(byte)) {
            let is_whole = std::str::from_utf8(line).is_ok_and(|line| Raw::from_text(line).is_ok());
            if is_last && !is_whole {
                machine.handle_input(Instant::ZERO, given);
            } else {
                machine.handle_message(Instant::ZERO, StreamId::ONLY, line);
            }
        }
    }
    machine.handle_eof(Instant::ZERO);
    let events = events(&mut machine);
    (events, machine.outbox().chunk().to_vec())
}

fn events(machine: &mut Server) -> Vec<String> {
    std::iter::from_fn(|| machine.poll_event()).map(|event| event.tell()).collect()
}
