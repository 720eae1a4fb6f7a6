//! A custom transport: framed messages over one socket, with several streams.
//!
//! A frame consists of a stream number and one message, as in a WebSocket or a message queue. Each
//! request and the messages related to it have their own stream; all other messages use stream
//! 0. Closing a stream cancels its request.
//!
//! [`Framed`] is the whole transport. It uses only the public trait [`MessageEndpoint`].
//!
//! `cargo run --example framed_socket`

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, Write};

use mcp_proto::client::{self, Client};
use mcp_proto::schema::{CallTool, CallToolResult, Decode};
use mcp_proto::server::{self, Server};
use mcp_proto::{
    CallOptions, Capability, Instant, MessageEndpoint, OutgoingKind, Progress, Route, StreamId,
    ViolationKind,
};

/// A message that leaves its stream open.
const MESSAGE: u8 = 0;
/// The last message on its stream.
const LAST: u8 = 1;
/// The end of a stream, without a message.
const CLOSE: u8 = 2;

/// The longest accepted payload.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;

/// The length of a frame header: kind, stream and payload length.
const HEADER_BYTES: usize = 1 + 8 + 4;

/// A connection over a framed socket.
struct Framed<S> {
    session: S,
    /// The incomplete last frame.
    input: Vec<u8>,
    output: VecDeque<u8>,
    /// The stream of the next request; the client counts from 1.
    next_stream: u64,
}

impl<S: MessageEndpoint> Framed<S> {
    fn new(mut session: S) -> Self {
        session.use_streams();
        Self { session, input: Vec::new(), output: VecDeque::new(), next_stream: 1 }
    }

    /// Handles received bytes, split at any position.
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
        let header: [u8; HEADER_BYTES] = self.input.get(..HEADER_BYTES)?.try_into().ok()?;
        let stream = StreamId(u64::from_be_bytes(header[1..9].try_into().ok()?));
        let length = u32::from_be_bytes(header[9..].try_into().ok()?) as usize;
        if length > PAYLOAD_BYTES_MAX {
            // The start of the next frame is unknown.
            self.input.clear();
            self.session.handle_violation(now, stream, ViolationKind::TooLong);
            self.session.handle_eof(now);
            return None;
        }
        let payload = self.input.get(HEADER_BYTES..HEADER_BYTES + length)?.to_vec();
        self.input.drain(..HEADER_BYTES + length);
        Some((header[0], stream, payload))
    }

    /// Writes a frame for each message of the session.
    fn flush(&mut self) {
        while let Some(outgoing) = self.session.poll_outgoing() {
            let (stream, opens) = match (outgoing.route, &outgoing.kind) {
                (Route::Stream(stream), _) => (stream, false),
                (Route::Any, OutgoingKind::Request { .. }) => (StreamId(self.next_stream), true),
                (Route::Any, _) => (StreamId(0), false),
            };
            let kind = match outgoing.kind {
                // The response, if still open, is sent when the peer asks on another stream.
                OutgoingKind::EndOfStream => CLOSE,
                _ if outgoing.last => LAST,
                _ => MESSAGE,
            };
            let length = u32::try_from(outgoing.body.len()).unwrap_or(u32::MAX);
            self.output.push_back(kind);
            self.output.extend(stream.0.to_be_bytes());
            self.output.extend(length.to_be_bytes());
            self.output.extend(outgoing.body);
            self.next_stream += u64::from(opens);
        }
    }

    /// Closes a stream, which cancels its request at the peer.
    fn close_stream(&mut self, stream: StreamId) {
        self.output.push_back(CLOSE);
        self.output.extend(stream.0.to_be_bytes());
        self.output.extend(0_u32.to_be_bytes());
    }
}

/// Moves the output of one side to the other, in pieces of `piece` bytes.
fn transfer<A: MessageEndpoint, B: MessageEndpoint>(
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

/// The results of a run: the texts of the completed calls in order of completion, and the numbers
/// of progress notifications and cancelled requests.
#[derive(Debug, Default, Eq, PartialEq)]
struct Summary {
    results: Vec<String>,
    progress: usize,
    cancelled: usize,
}

/// Makes three calls on three streams. The second is answered first, the third is cancelled.
fn run(piece: usize) -> Result<Summary, Box<dyn Error>> {
    let now = Instant::ZERO;
    let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
    let mut client = Framed::new(Client::new(now, client::Config::new("demo", "1.0.0")));
    let mut server = Framed::new(Server::new(now, config));
    let mut summary = Summary::default();

    // `server/discover` and its response.
    transfer(now, piece, &mut client, &mut server);
    transfer(now, piece, &mut server, &mut client);

    let options = CallOptions { progress: true, ..CallOptions::default() };
    for city in ["Oslo", "Rome", "Kyoto"] {
        client.session.call(now, &CallTool::new(city), options.clone())?;
    }
    let cancelled_stream = StreamId(client.next_stream + 2);
    transfer(now, piece, &mut client, &mut server);
    let mut open = Vec::new();
    while let Some(event) = server.session.poll_event() {
        if let server::Event::Request { incoming, request, .. } = event {
            open.push((incoming, request.decode::<CallTool>()?.name));
        }
    }
    client.close_stream(cancelled_stream);
    transfer(now, piece, &mut client, &mut server);
    while let Some(event) = server.session.poll_event() {
        summary.cancelled += usize::from(matches!(event, server::Event::RequestCancelled { .. }));
    }
    for (incoming, city) in open.iter().take(2).rev() {
        server.session.progress(now, *incoming, &Progress::new(0.5))?;
        let result = CallToolResult::text(format!("sunny in {city}"));
        server.session.respond(now, *incoming, &result)?;
    }
    transfer(now, piece, &mut server, &mut client);
    while let Some(event) = client.session.poll_event() {
        match event {
            client::Event::Completed { outcome, .. } => {
                let result = CallToolResult::decode(&outcome?)?;
                summary.results.extend(result.content[0].as_text().map(String::from));
            }
            client::Event::Progress { .. } => summary.progress += 1,
            _ => {}
        }
    }
    Ok(summary)
}

fn main() -> Result<(), Box<dyn Error>> {
    writeln!(io::stdout().lock(), "{:?}", run(usize::MAX)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_complete_however_the_bytes_are_split() {
        for piece in [1, 2, 13, 14, 100, usize::MAX] {
            let expected = Summary {
                results: vec!["sunny in Rome".into(), "sunny in Oslo".into()],
                progress: 2,
                cancelled: 1,
            };
            assert_eq!(run(piece).unwrap(), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn a_too_long_frame_closes_the_connection() {
        let config = server::Config::new("weather", "1.0.0");
        let mut server = Framed::new(Server::new(Instant::ZERO, config));
        let mut header = vec![MESSAGE];
        header.extend(1_u64.to_be_bytes());
        header.extend(u32::MAX.to_be_bytes());
        server.handle_input(Instant::ZERO, &header);
        assert!(server.session.is_closed());
    }
}
