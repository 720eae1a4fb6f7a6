//! The Model Context Protocol as a state machine without IO.
//!
//! Bytes, events and time go in; bytes, events and one deadline come out. There is no socket, no
//! thread, no clock, no async runtime and no randomness in this crate: it runs under any runtime
//! and under none, in a fuzzer and in a simulator, and does the same every time.
//!
//! Three machines, each usable alone:
//!
//! - **framing** cuts bytes into messages: [`stdio`];
//! - a **connection** gives messages their meaning: [`client::Client`], [`server::Server`];
//! - a **binding** joins the two: [`stdio::Stdio`] is a connection on a byte stream. A transport of
//!   your own uses the trait [`Session`]: whole messages in, [`Outgoing`] out.
//!
//! ```
//! use mcp_proto::client::{self, Client};
//! use mcp_proto::schema::{CallTool, CallToolResult, Decode};
//! use mcp_proto::server::{self, Server};
//! use mcp_proto::stdio::Stdio;
//! use mcp_proto::{CallOptions, Capability, Endpoint, Instant};
//!
//! let now = Instant::ZERO;
//! let mut client = Stdio::new(Client::new(now, client::Config::new("demo", "1.0.0")));
//! let mut server = Stdio::new(Server::new(
//!     now,
//!     server::Config::new("weather", "1.0.0").capability(Capability::Tools),
//! ));
//!
//! // The whole driver of a pair in one process: carry the bytes from one outbox to the other.
//! fn carry(now: Instant, from: &mut impl Endpoint, to: &mut impl Endpoint) {
//!     use bytes::Buf;
//!     let outbox = from.outbox();
//!     while outbox.has_remaining() {
//!         let taken = outbox.chunk().len();
//!         to.handle_input(now, outbox.chunk());
//!         outbox.advance(taken);
//!     }
//! }
//! carry(now, &mut client, &mut server); // initialize
//! carry(now, &mut server, &mut client); // its answer
//! let call = client.call(now, &CallTool::new("today"), CallOptions::default()).unwrap();
//! carry(now, &mut client, &mut server);
//! while let Some(event) = server.poll_event() {
//!     if let server::Event::Request { incoming, .. } = event {
//!         server.respond(now, incoming, &CallToolResult::text("sunny")).unwrap();
//!     }
//! }
//! carry(now, &mut server, &mut client);
//! while let Some(event) = client.poll_event() {
//!     if let client::Event::Completed { outcome, .. } = event {
//!         let result = CallToolResult::decode(&outcome.unwrap()).unwrap();
//!         assert_eq!(result.content[0].as_text(), Some("sunny"));
//!     }
//! }
//! ```
//!
//! # Your own event loop
//!
//! The directory `examples` of this crate has whole programs without any adapter: a session in one
//! thread (`in_process`), a server that a game drives once a frame (`game_loop`), a daemon on
//! `poll(2)` with many clients (`poll_loop`), a proxy between clients and servers of any era
//! (`proxy`), and a transport of whole messages with several streams (`framed_socket`). `cargo run
//! --example in_process` runs one.
//!
//! # Tests and recordings
//!
//! With the feature `testing`, the module `testing` joins a client and a server in memory, in
//! virtual time, over pipes that fail as they are told to, and listens to both. With the feature
//! `record`, the module `record` takes down what is done to a machine, and does it again bit for
//! bit; the example `replay` shows it.
//!
//! # What holds, always
//!
//! Every call ends exactly once. Every request is answered at most once, and exactly once unless it
//! was cancelled or the connection ended. Any split of the input gives the same events and the same
//! output, and so does any order of polling. What a peer can make a connection hold is a function
//! of [`Limits`]. The outbox is whole messages, each one line of valid JSON. Time going backwards
//! counts as no time passing. After `Closed` nothing comes.

#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_alloc, clippy::std_instead_of_core)]
#![warn(clippy::indexing_slicing, clippy::string_slice)]
#![cfg_attr(
    not(feature = "schema"),
    allow(dead_code, reason = "some tables and helpers serve its types alone")
)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::string_slice))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod cache;
#[cfg(feature = "schema")]
pub mod catalog;
pub mod client;
mod collections;
mod command;
mod connection;
mod endpoint;
mod error;
#[cfg(feature = "http")]
pub mod http;
mod json;
mod limits;
mod meta;
mod method;
mod permissions;
mod queues;
#[cfg(feature = "record")]
pub mod record;
mod revision;
mod rpc;
pub mod schema;
#[cfg(feature = "seal")]
pub mod seal;
pub mod server;
mod session;
pub mod stdio;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod vocabulary;
mod wire;

pub use command::{Applied, Apply, OwnedChange, OwnedCommand, Payload};
pub use connection::{
    Answers, CallError, CallId, CallOptions, Change, Close, Context, Fault, Filter, IncomingId,
    Outgoing, OutgoingKind, Peer, Progress, Question, Request, Route, Session, StreamId, Violation,
    ViolationKind, ViolationPolicy,
};
pub use endpoint::Endpoint;
pub use error::{Misuse, Unencodable, code};
pub use json::Raw;
pub use limits::Limits;
pub use method::{Method, MethodId};
pub use revision::{Capability, Era, Revision, Rules, Side};
pub use rpc::{Decoded, ErrorObject, Incoming, RequestId};
pub use time::Instant;
pub use wire::Outbox;
