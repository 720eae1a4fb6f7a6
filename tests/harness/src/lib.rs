//! Tools to test MCP peers: two peers in one process, virtual time, scripted lines, and checkers of
//! the promises.
//!
//! Four tools, from the inside out:
//!
//! - [`Checked`] wraps one machine and checks every call, byte, event and deadline; a broken
//!   promise panics with the transcript;
//! - [`Solo`] is one checked machine whose peer is the test itself, line by line;
//! - [`Pair`] is a client and a server on two links with latency, chunking, stalls and cuts, in
//!   virtual time;
//! - [`Script`] and [`Golden`] are scenarios as data: they are replayed with every split point of
//!   their input and in every poll order, and each replay must yield identical output.
//!
//! ```
//! use mcp_harness::Solo;
//! use mcp_proto::{Capability, Revision, server};
//!
//! let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
//! let mut server = Solo::server(config);
//! server.greet(Revision::V2025_06_18, "{}");
//! server.say(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"today"}}"#);
//! server.expect_events(&[r#"request#1 tools/call {"name":"today"}"#]);
//! server.respond(1, r#"{"content":[]}"#).unwrap();
//! server.expect_lines(&[r#"{"jsonrpc":"2.0","id":"a","result":{"content":[]}}"#]);
//! ```

#![allow(clippy::panic, reason = "a test kit reports by panicking")]

mod auth;
mod check;
mod diff;
mod golden;
mod ledger;
mod meeting;
mod methods;
mod modern;
mod pair;
mod parse;
mod peer;
mod player;
mod recorded;
mod role;
mod script;
mod sent;
mod wire;
mod witness;

pub use auth::{AuthRun, Environment, Issuer, User};
pub use check::Checked;
pub use golden::Golden;
pub use ledger::Ledger;
pub use mcp_proto::testing::{Chunking, Pipe, Seed, Transcript};
pub use meeting::assert_meeting;
pub use pair::Pair;
pub use peer::{ClientSolo, ServerSolo, Solo, initialize};
pub use recorded::{Tape, assert_replays};
pub use role::Role;
pub use script::{
    Cut, Play, Polls, Script, Step, Trace, assert_chunk_free, assert_deterministic,
    assert_order_free, play, play_checked,
};
pub use sent::SentMessages;
pub use wire::WireRules;
pub use witness::{Seen, Witness};
