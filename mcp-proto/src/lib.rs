//! A sans-IO implementation of the [Model Context Protocol](https://modelcontextprotocol.io) (MCP).
//!
//! MCP connects AI applications to servers that provide tools, resources and prompts. This crate
//! implements both sides of the protocol, in all five revisions, as state machines without IO:
//! bytes, commands and the current time go in; bytes, events and one deadline come out. It opens no
//! sockets, starts no threads, reads no clock and uses no randomness. It therefore runs on any
//! async runtime or none, in `no_std` environments with an allocator, inside a game loop, a fuzzer
//! or a simulator, and behaves identically everywhere.
//!
//! For a ready-made event loop use an adapter: `mcp-blocking` (threads), `mcp-tokio` or `mcp-smol`.
//!
//! # A server
//!
//! This server offers one tool over stdin and stdout. [`catalog::Catalog`] answers list requests
//! and looks up the handler of each call. A handler can be of any type; in this example, the
//! handler is the text of the result.
//!
//! ```no_run
//! use std::io::{self, Read, Write};
//!
//! use mcp_proto::catalog::{Catalog, Resolved};
//! use mcp_proto::schema::{CallToolResult, Tool};
//! use mcp_proto::server::{Config, Event, Server};
//! use mcp_proto::stdio::Stdio;
//! use mcp_proto::{Endpoint, ErrorObject, Instant, Misuse, Raw};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut tools = Catalog::new();
//!     let input = Raw::from_text(r#"{"type":"object"}"#)?;
//!     tools.add_tool(Tool::new("today", input).description("Today's weather"), "sunny")?;
//!
//!     let epoch = std::time::Instant::now();
//!     let clock = || Instant::from_elapsed(epoch.elapsed());
//!     let config = Config::new("weather", "1.0.0").capabilities(tools.capabilities());
//!     let mut server = Stdio::new(Server::new(clock(), config));
//!     let mut buffer = [0; 4096];
//!     while !server.is_closed() {
//!         match io::stdin().read(&mut buffer)? {
//!             0 => server.handle_eof(clock()),
//!             count => server.handle_input(clock(), &buffer[..count]),
//!         }
//!         while let Some(event) = server.poll_event() {
//!             let Event::Request { incoming, request, context } = event else { continue };
//!             let now = clock();
//!             let responded = match tools.lookup(&request, context.peer.revision) {
//!                 Ok(Resolved::Answer(list)) => server.respond(now, incoming, &list),
//!                 Ok(Resolved::Tool { handler, .. }) => {
//!                     server.respond(now, incoming, &CallToolResult::text(*handler))
//!                 }
//!                 Ok(_) => {
//!                     let error = ErrorObject::method_not_found(&request.method);
//!                     server.respond_error(now, incoming, &error)
//!                 }
//!                 Err(error) => server.respond_error(now, incoming, &error),
//!             };
//!             match responded {
//!                 Ok(()) | Err(Misuse::Stale) => {} // `Stale`: the client cancelled the request
//!                 Err(misuse) => return Err(misuse.into()),
//!             }
//!         }
//!         while !server.outbox().is_empty() {
//!             let count = io::stdout().write(server.outbox().chunk())?;
//!             server.outbox().advance(count);
//!         }
//!         io::stdout().flush()?;
//!     }
//!     Ok(())
//! }
//! ```
//!
//! # A client
//!
//! This client starts a server, calls its tool and closes the connection.
//!
//! ```no_run
//! use std::io::{Read, Write};
//! use std::process::{Command, Stdio as Pipe};
//!
//! use mcp_proto::client::{Client, Config, Event};
//! use mcp_proto::schema::{CallTool, CallToolResult, Decode};
//! use mcp_proto::stdio::Stdio;
//! use mcp_proto::{CallOptions, Endpoint, Instant};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut command = Command::new("weather");
//!     let mut child = command.stdin(Pipe::piped()).stdout(Pipe::piped()).spawn()?;
//!     let mut input = child.stdin.take().ok_or("no stdin")?;
//!     let mut output = child.stdout.take().ok_or("no stdout")?;
//!
//!     let epoch = std::time::Instant::now();
//!     let clock = || Instant::from_elapsed(epoch.elapsed());
//!     let mut client = Stdio::new(Client::new(clock(), Config::new("demo", "1.0.0")));
//!     let mut buffer = [0; 4096];
//!     while !client.is_closed() {
//!         while !client.outbox().is_empty() {
//!             let count = input.write(client.outbox().chunk())?;
//!             client.outbox().advance(count);
//!         }
//!         match output.read(&mut buffer)? {
//!             0 => client.handle_eof(clock()),
//!             count => client.handle_input(clock(), &buffer[..count]),
//!         }
//!         while let Some(event) = client.poll_event() {
//!             match event {
//!                 Event::Ready(_) => {
//!                     let request = CallTool::new("today");
//!                     client.call(clock(), &request, CallOptions::default())?;
//!                 }
//!                 Event::Completed { outcome, .. } => {
//!                     let result = CallToolResult::decode(&outcome?)?;
//!                     println!("{:?}", result.content[0].as_text());
//!                     client.close(clock());
//!                 }
//!                 _ => {}
//!             }
//!         }
//!     }
//!     drop(input);
//!     child.wait()?;
//!     Ok(())
//! }
//! ```
//!
//! # Driving a connection
//!
//! A connection is built in layers, each of which can be used alone:
//!
//! - **framing** splits a byte stream into messages: module [`stdio`];
//! - a **connection** interprets the messages: [`client::Client`] or [`server::Server`];
//! - a **binding** joins the two: [`stdio::Stdio`] for byte streams, module `http` for Streamable
//!   HTTP. Other transports use the trait [`MessageEndpoint`]: whole messages in, [`Outgoing`]
//!   messages out.
//!
//! The *driver*, the code that connects an [`Endpoint`] to a byte stream, repeats four steps:
//!
//! 1. Send the bytes in [`outbox`](Endpoint::outbox).
//! 2. Handle the events from [`poll_event`](RoleEndpoint::poll_event).
//! 3. Wait until there is input (if [`wants_input`](Endpoint::wants_input)), the stream is
//!    writable, or the deadline in [`poll_timeout`](Endpoint::poll_timeout) is reached.
//! 4. Call [`handle_input`](Endpoint::handle_input), [`handle_eof`](Endpoint::handle_eof) or
//!    [`handle_timeout`](Endpoint::handle_timeout).
//!
//! The programs above block while reading and therefore never handle a deadline; a complete driver
//! waits for both. Within one process, a driver only moves bytes from the outbox of each side to
//! the other side:
//!
//! ```
//! use mcp_proto::client::{self, Client};
//! use mcp_proto::schema::{CallTool, CallToolResult, Decode};
//! use mcp_proto::server::{self, Server};
//! use mcp_proto::stdio::Stdio;
//! use mcp_proto::{CallOptions, Capability, Endpoint, Instant};
//!
//! fn transfer(now: Instant, from: &mut impl Endpoint, to: &mut impl Endpoint) {
//!     let outbox = from.outbox();
//!     while !outbox.is_empty() {
//!         let count = outbox.chunk().len();
//!         to.handle_input(now, outbox.chunk());
//!         outbox.advance(count);
//!     }
//! }
//!
//! let now = Instant::ZERO;
//! let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
//! let mut client = Stdio::new(Client::new(now, client::Config::new("demo", "1.0.0")));
//! let mut server = Stdio::new(Server::new(now, config));
//! transfer(now, &mut client, &mut server); // `server/discover`
//! transfer(now, &mut server, &mut client);
//!
//! let call = client.call(now, &CallTool::new("today"), CallOptions::default()).unwrap();
//! transfer(now, &mut client, &mut server);
//! while let Some(event) = server.poll_event() {
//!     if let server::Event::Request { incoming, .. } = event {
//!         server.respond(now, incoming, &CallToolResult::text("sunny")).unwrap();
//!     }
//! }
//! transfer(now, &mut server, &mut client);
//! while let Some(event) = client.poll_event() {
//!     if let client::Event::Completed { call: completed, outcome } = event {
//!         assert_eq!(completed, call);
//!         let result = CallToolResult::decode(&outcome.unwrap()).unwrap();
//!         assert_eq!(result.content[0].as_text(), Some("sunny"));
//!     }
//! }
//! ```
//!
//! The directory `examples` contains complete programs without an adapter: a client and a server in
//! one thread (`in_process`), a server driven once per frame of a game (`game_loop`), a daemon on
//! `poll(2)` with many clients (`poll_loop`), a proxy between clients and servers of any era
//! (`proxy`), a custom transport with several streams (`framed_socket`), an extension of the
//! protocol in both roles (`extension`), and the replay of a recording (`replay`). Run one with
//! `cargo run --example in_process`.
//!
//! # Feature flags
//!
//! | flag | default | adds |
//! |---|---|---|
//! | `client` | yes | [`client::Client::new`]; without it, the code of clients is not linked |
//! | `schema` | yes | types of requests and results (else JSON text); [`catalog`], [`tasks`] |
//! | `server` | yes | [`server::Server::new`]; without it, the code of servers is not linked |
//! | `std` | yes | `std` support of `serde_json` and `bytes`; not needed by the protocol |
//! | `auth` | no | module `auth`: authorization of clients (OAuth 2.1) without IO; implies `http` |
//! | `http` | no | module `http`: Streamable HTTP without IO |
//! | `http-types` | no | conversions from the header maps of the crate `http` |
//! | `record` | no | module `record`: recording and deterministic replay of connections |
//! | `schemars` | no | schemas of tools, derived from Rust types; needs `std` |
//! | `seal` | no | module `seal`: authenticates state that a server stores at the client |
//! | `testing` | no | module `testing`: virtual time, fault injection and a protocol checker |
//!
//! # Protocol revisions
//!
//! The client and the server negotiate a [`Revision`] automatically. The revisions form two eras:
//! in the *legacy* era a handshake opens a session, in the *modern* era every request is
//! self-contained. Applications use identical types and methods in both.
//!
//! | revision | era | notable features |
//! |---|---|---|
//! | [2024-11-05] | legacy | tools, resources, prompts, sampling, roots, logging |
//! | [2025-03-26] | legacy | batches, audio content, progress messages, completions capability |
//! | [2025-06-18] | legacy | elicitation forms, resource links, `MCP-Protocol-Version` header |
//! | [2025-11-25] | legacy | tasks, URL elicitation, tools in sampling, resumable HTTP streams |
//! | [2026-07-28] | modern | no handshake or sessions, input requests in results, caching |
//!
//! # Guarantees
//!
//! - Every call completes exactly once.
//! - Every request is answered at most once, and exactly once unless it is cancelled or the
//!   connection ends.
//! - Events and output do not depend on how the input is split, or on the order of polling.
//! - The memory a peer can occupy is bounded by [`Limits`].
//! - The outbox contains only whole messages, each one line of valid JSON.
//! - A clock that goes backwards is treated as if no time had passed.
//! - `Closed` is the last event.
//!
//! # Guide
//!
//! The module [`_guide`] explains [event loops](_guide::custom_event_loop),
//! [limits](_guide::limits), [tests](_guide::testing_your_server) and
//! [revisions](_guide::revisions_and_eras). The guide of `mcp-tokio` explains servers and clients.
//!
//! # Links
//!
//! - [Specification](https://modelcontextprotocol.io/specification/2026-07-28)
//! - [Repository](https://github.com/mcp-proto/mcp-proto)
//! - [Architecture](https://github.com/mcp-proto/mcp-proto/blob/main/mcp-proto/ARCHITECTURE.md)
//! - [Examples](https://github.com/mcp-proto/mcp-proto/tree/main/mcp-proto/examples)
//! - [Changelog](https://github.com/mcp-proto/mcp-proto/blob/main/CHANGELOG.md)
//!
//! [2024-11-05]: https://modelcontextprotocol.io/specification/2024-11-05
//! [2025-03-26]: https://modelcontextprotocol.io/specification/2025-03-26
//! [2025-06-18]: https://modelcontextprotocol.io/specification/2025-06-18
//! [2025-11-25]: https://modelcontextprotocol.io/specification/2025-11-25
//! [2026-07-28]: https://modelcontextprotocol.io/specification/2026-07-28

#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::alloc_instead_of_core, clippy::std_instead_of_alloc, clippy::std_instead_of_core)]
#![warn(clippy::indexing_slicing, clippy::string_slice)]
#![cfg_attr(
    not(all(feature = "client", feature = "schema", feature = "server")),
    allow(dead_code, reason = "some tables and helpers are used only by one role, or by `schema`")
)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::string_slice))]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod _guide;
#[cfg(feature = "auth")]
pub mod auth;
mod cache;
#[cfg(feature = "schema")]
pub mod catalog;
pub mod client;
mod collections;
mod command;
mod connection;
mod endpoint;
mod error;
mod extension;
#[cfg(feature = "http")]
pub mod http;
mod json;
mod limits;
mod message_endpoint;
mod meta;
mod method;
mod permissions;
mod printable;
mod queues;
#[cfg(feature = "record")]
pub mod record;
mod revision;
mod rpc;
pub mod schema;
#[cfg(feature = "seal")]
pub mod seal;
#[cfg(feature = "http")]
mod secret;
pub mod server;
pub mod stdio;
#[cfg(feature = "schema")]
pub mod tasks;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
mod time;
mod vocabulary;
mod wire;

pub use command::{CommandOutcome, OwnedChange, OwnedCommand, Payload};
pub use endpoint::{Endpoint, InputGate, RoleEndpoint};
pub use error::{Misuse, Unencodable, code};
pub use extension::{Extension, ExtensionError, ExtensionMethod};
pub use json::{ParseError, Raw};
pub use limits::Limits;
pub use message_endpoint::MessageEndpoint;
pub use method::{Method, MethodId};
pub use printable::printable;
pub use revision::{Capability, Era, Revision, Rules, Side};
pub use rpc::{DecodedMessage, ErrorObject, IncomingMessage, RequestId};
#[cfg(feature = "http")]
pub use secret::Secret;
pub use time::Instant;
pub use vocabulary::{
    CallError, CallId, CallOptions, Caller, Change, CloseReason, Context, Fault, Filter,
    IncomingId, InputResponses, NeededInput, Outgoing, OutgoingKind, Peer, Principal, Progress,
    Request, Route, StreamId, Violation, ViolationKind, ViolationPolicy,
};
pub use wire::Outbox;
