//! Recording and deterministic replay of a client or server.
//!
//! A connection is deterministic, so a recording of its inputs reproduces it exactly. A recording
//! holds the inputs: received bytes, the end of the input, timeouts, commands, polled events, and
//! how many bytes were taken from the outbox. It also holds the outputs: all bytes sent, a
//! fingerprint of each event, and the result of each command. [`Recording::replay`] repeats the
//! inputs and reports the first output that differs.
//!
//! [`Recorded`] wraps an endpoint and writes its recording to a [`Sink`]; [`Recording`] reads one.
//!
//! A recording starts with the version of its format, the role, and the time at which the
//! connection was created. **It does not include the configuration**: to replay it, create an
//! endpoint from an equal [`Config`](crate::client::Config), for example from its [text
//! form](crate::text). Commands are recorded as [`OwnedCommand`](crate::OwnedCommand)s, so a replay
//! does not need the types of the application.
//!
//! ```
//! use mcp_proto::record::{Recorded, Recording};
//! use mcp_proto::server::{Command, Config, Event, Server};
//! use mcp_proto::stdio::Stdio;
//! use mcp_proto::{Capability, Endpoint, ErrorObject, Instant, RoleEndpoint};
//!
//! fn create(now: Instant) -> Stdio<Server> {
//!     let config = Config::new("weather", "1.0.0").capability(Capability::Tools);
//!     Stdio::new(Server::new(now, config))
//! }
//!
//! let now = Instant::ZERO;
//! // The sink is a `Vec<u8>` here, but can be a closure that writes to a file.
//! let mut server = Recorded::new(create(now), now, Vec::new());
//! let line = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today","_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//! server.handle_input(now, line.replace('\n', "").as_bytes());
//! server.handle_input(now, b"\n");
//! while let Some(event) = server.poll_event() {
//!     if let Event::Request { incoming, .. } = event {
//!         let error = ErrorObject::internal("rain");
//!         server.apply(now, Command::RespondError { incoming, error: &error }).unwrap();
//!     }
//! }
//!
//! let bytes = server.into_sink();
//! let recording = Recording::read(&bytes).unwrap();
//! recording.replay(&mut create(recording.created_at())).unwrap();
//! print!("{}", recording.show(false));
//! ```

mod codec;
mod entry;
mod recorded;
mod recording;
mod render;
mod replay;
mod show;

pub use recorded::{Recorded, Sink};
pub use recording::{InvalidRecording, Recording};
pub use replay::{Divergence, ReplayTotals};
pub use show::RecordingDisplay;

#[cfg(test)]
mod tests;
