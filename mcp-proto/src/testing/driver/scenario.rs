//! What the peer of a driver under test does.

use alloc::format;
use alloc::string::String;
use core::time::Duration;

use crate::limits::Limits;
use crate::revision::Capability;
use crate::server::Config;

/// The text of each response: long enough that a few responses fill the outbox.
pub(super) const RESPONSE: &str =
    "the peer asks for much and reads little, so that the output exceeds the room of its pipe";

/// An action of the peer.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Closes the sending side.
    Close,
    /// Reads, which gives the stream room for as many bytes.
    Read(usize),
    /// Sends these bytes.
    Send(String),
}

/// A server that pings after a second of silence and stops reading with 512 bytes of output.
pub(super) fn config() -> Config {
    let limits = Limits {
        ping_every: Some(Duration::from_secs(1)),
        ping_timeout: Duration::from_secs(5),
        replies_bytes_max: 512,
        ..Limits::default()
    };
    Config::new("driven", "1").capability(Capability::Tools).limits(limits)
}

/// The actions of the peer, with the milliseconds since the action before.
pub(super) fn actions() -> impl Iterator<Item = (u64, Action)> {
    let open = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"peer","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let (begin, end) = open.split_at(40);
    let start = [
        (10, Action::Read(1 << 16)),
        (5, Action::Send(begin.into())),
        (5, Action::Send(format!("{end}\n"))),
        (5, Action::Send(format!("{ready}\n"))),
        (5, Action::Send(request(1))),
        // The deadline: a second of silence, after which the server pings.
        (1100, Action::Send("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".into())),
    ];
    // Hold: the peer asks and does not read; then release, in small steps.
    let fill = [(1, Action::Read(0))].into_iter();
    let requests = (2..60).map(|id| (1, Action::Send(request(id) + &request(id + 100))));
    let reads = (0..200).map(|step| (1, Action::Read(40 + step)));
    let last = [(5, Action::Send(request(900))), (5, Action::Read(1 << 20)), (5, Action::Close)];
    start.into_iter().chain(fill).chain(requests).chain(reads).chain(last)
}

fn request(id: u32) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n")
}
