//! A transport of your own: messages in frames over one socket, with several streams, and no
//! adapter.
//!
//! A frame is a stream's number and one message, as a WebSocket or a message queue would carry
//! them. Each request travels on a stream of its own, and so does everything that belongs to it;
//! what belongs to no request travels on stream 0. Closing a stream cancels what was asked for on
//! it.
//!
//! The whole transport is [`Framed`]: it uses the public [`Session`] seam and nothing else.
//!
//! `cargo run --example framed_socket`

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, Write};

use mcp_proto::client::{self, Client};
use mcp_proto::schema::{CallTool, CallToolResult, Decode};
use mcp_proto::server::{self, Server};
use mcp_proto::{
    CallOptions, Capability, Instant, OutgoingKind, Progress, Route, Session, StreamId,
    ViolationKind,
};

/// What a frame does to its stream.
const MESSAGE: u8 = 0;
/// The message is the last on its stream.
const LAST: u8 = 1;
/// No message: the stream is closed.
const CLOSE: u8 = 2;

/// The longest payload that is read.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;

/// Kind, stream and length.
const HEAD_BYTES: usize = 1 + 8 + 4;

/// A connection over a framed socket: bytes in, bytes out.
struct Framed<S> {
    session: S,
    /// Bytes of a frame that is not complete.
    input: Vec<u8>,
    output: VecDeque<u8>,
    /// The stream of the next request: the client counts up from 1.
    next: u64,
}

impl<S: Session> Framed<S> {
    fn new(mut session: S) -> Self {
        session.use_streams();
        Self { session, input: Vec::new(), output: VecDeque::new(), next: 1 }
    }

    /// Takes bytes in, split anywhere.
    fn handle_input(&mut self, now: Instant, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        while let Some((kind, stream, payload)) = self.next_frame(now) {
            if kind == CLOSE {
                self.session.handle_stream_closed(now, stream);
            } else {
                self.session.handle_message(now, stream, &payload[..]);
            }
        }
    }

    fn next_frame(&mut self, now: Instant) -> Option<(u8, StreamId, Vec<u8>)> {
        let head: [u8; HEAD_BYTES] = self.input.get(..HEAD_BYTES)?.try_into().ok()?;
        let stream = StreamId(u64::from_be_bytes(head[1..9].try_into().ok()?));
        let length = u32::from_be_bytes(head[9..].try_into().ok()?) as usize;
        if length > PAYLOAD_BYTES_MAX {
            // Nothing after it can be read.
            self.input.clear();
            self.session.handle_violation(now, ViolationKind::TooLong);
            self.session.handle_eof(now);
            return None;
        }
        let payload = self.input.get(HEAD_BYTES..HEAD_BYTES + length)?.to_vec();
        self.input.drain(..HEAD_BYTES + length);
        Some((head[0], stream, payload))
    }

    /// Writes frames for the messages that the session wants sent.
    fn flush(&mut self) {
        while let Some(outgoing) = self.session.poll_outgoing() {
            let (stream, opens) = match (outgoing.route, &outgoing.kind) {
                (Route::Stream(stream), _) => (stream, false),
                (Route::Any, OutgoingKind::Request { .. }) => (StreamId(self.next), true),
                (Route::Any, _) => (StreamId(0), false),
            };
            let kind = match outgoing.kind {
                // The peer asks again on another stream for what was left open, or not at all.
                OutgoingKind::EndOfStream => CLOSE,
                _ if outgoing.last => LAST,
                _ => MESSAGE,
            };
            let length = u32::try_from(outgoing.body.len()).unwrap_or(u32::MAX);
            self.output.push_back(kind);
            self.output.extend(stream.0.to_be_bytes());
            self.output.extend(length.to_be_bytes());
            self.output.extend(outgoing.body);
            self.next += u64::from(opens);
        }
    }

    /// Closes a stream: what was asked for on it is cancelled at the peer.
    fn close_stream(&mut self, stream: StreamId) {
        self.output.push_back(CLOSE);
        self.output.extend(stream.0.to_be_bytes());
        self.output.extend(0_u32.to_be_bytes());
    }
}

/// Carries what one side wrote to the other, in pieces of `piece` bytes.
fn carry<A: Session, B: Session>(
    now: Instant,
    piece: usize,
    from: &mut Framed<A>,
    to: &mut Framed<B>,
) {
    from.flush();
    let bytes: Vec<u8> = from.output.drain(..).collect();
    for piece in bytes.chunks(piece) {
        to.handle_input(now, piece);
    }
}

/// What the run shows: the texts of the completed calls, in the order of their completion, and the
/// requests that the server saw cancelled.
#[derive(Debug, Default, Eq, PartialEq)]
struct Shown {
    results: Vec<String>,
    progress: usize,
    cancelled: usize,
}

/// Three calls on three streams: the second is answered first, the third is abandoned.
fn run(piece: usize) -> Result<Shown, Box<dyn Error>> {
    let now = Instant::ZERO;
    let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
    let mut client = Framed::new(Client::new(now, client::Config::new("demo", "1.0.0")));
    let mut server = Framed::new(Server::new(now, config));
    let mut shown = Shown::default();

    // server/discover and its answer
    carry(now, piece, &mut client, &mut server);
    carry(now, piece, &mut server, &mut client);

    let options = CallOptions { progress: true, ..CallOptions::default() };
    for city in ["Oslo", "Rome", "Kyoto"] {
        client.session.call(now, &CallTool::new(city), options.clone())?;
    }
    let abandoned = StreamId(client.next + 2);
    carry(now, piece, &mut client, &mut server);
    let mut open = Vec::new();
    while let Some(event) = server.session.poll_event() {
        if let server::Event::Request { incoming, request, .. } = event {
            open.push((incoming, request.decode::<CallTool>()?.name));
        }
    }
    client.close_stream(abandoned);
    carry(now, piece, &mut client, &mut server);
    while let Some(event) = server.session.poll_event() {
        shown.cancelled += usize::from(matches!(event, server::Event::RequestCancelled { .. }));
    }
    for (incoming, city) in open.iter().take(2).rev() {
        server.session.progress(now, *incoming, &Progress::new(0.5))?;
        let result = CallToolResult::text(format!("sunny in {city}"));
        server.session.respond(now, *incoming, &result)?;
    }
    carry(now, piece, &mut server, &mut client);
    while let Some(event) = client.session.poll_event() {
        match event {
            client::Event::Completed { outcome, .. } => {
                let result = CallToolResult::decode(&outcome?)?;
                shown.results.extend(result.content[0].as_text().map(String::from));
            }
            client::Event::Progress { .. } => shown.progress += 1,
            _ => {}
        }
    }
    Ok(shown)
}

fn main() -> Result<(), Box<dyn Error>> {
    writeln!(io::stdout().lock(), "{:?}", run(usize::MAX)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_carries_its_own_request_in_any_pieces() {
        for piece in [1, 2, 13, 14, 100, usize::MAX] {
            let expected = Shown {
                results: vec!["sunny in Rome".into(), "sunny in Oslo".into()],
                progress: 2,
                cancelled: 1,
            };
            assert_eq!(run(piece).unwrap(), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_frame_that_is_too_long_ends_the_connection() {
        let config = server::Config::new("weather", "1.0.0");
        let mut server = Framed::new(Server::new(Instant::ZERO, config));
        let mut head = vec![MESSAGE];
        head.extend(1_u64.to_be_bytes());
        head.extend(u32::MAX.to_be_bytes());
        server.handle_input(Instant::ZERO, &head);
        assert!(server.session.is_closed());
    }
}
