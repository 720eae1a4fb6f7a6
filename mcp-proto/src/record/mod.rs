//! Records machines, replays recordings, and prints them.
//!
//! A machine is deterministic. A recording holds its inputs: bytes and their end, time that passed,
//! the application's commands, which events were polled and how many bytes were taken from the
//! outbox. It also holds the outcome: every byte out, the events' fingerprints, and what each
//! command returned. [`Recording::replay`] repeats the inputs and reports the first difference.
//!
//! [`Recorded`] wraps a machine and writes the recording into a [`Sink`]; [`Recording`] reads one.
//!
//! A recording begins with its version, the role, and when the machine was made. **The
//! configuration is not in it**: the program that replays makes the machine, with the same
//! [`Config`](crate::client::Config). Commands are recorded as
//! [`OwnedCommand`](crate::OwnedCommand)s, so that a replay needs none of the application's types.
//!
//! ```
//! use mcp_proto::record::{Recorded, Recording};
//! use mcp_proto::server::{Command, Config, Event, Server};
//! use mcp_proto::stdio::Stdio;
//! use mcp_proto::{Capability, Endpoint, ErrorObject, Instant};
//!
//! fn make(began: Instant) -> Stdio<Server> {
//!     Stdio::new(Server::new(began, Config::new("weather", "1.0.0").capability(Capability::Tools)))
//! }
//!
//! let now = Instant::ZERO;
//! let mut server = Recorded::new(make(now), now, Vec::new()); // or |bytes: &[u8]| file.write_all(bytes)…
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
//! let tape = server.into_sink();
//! let recording = Recording::read(&tape).unwrap();
//! recording.replay(&mut make(recording.began())).unwrap();
//! print!("{}", recording.show(false));
//! ```

mod codec;
mod command;
mod entry;
mod recorded;
mod recording;
mod render;
mod replay;
mod show;

pub use recorded::{Recorded, Sink};
pub use recording::{Recording, Unreadable};
pub use replay::{Divergence, Replayed};
pub use show::Shown;

#[cfg(test)]
mod tests;
