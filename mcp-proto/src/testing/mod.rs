//! What a test of an MCP peer needs and no peer has: two peers in one process, virtual time, pipes
//! that fail, and a listener on the wire; knows nothing of what the peers should say to each other.
//!
//! [`Pair`] joins a client's machine and a server's by two [`Link`]s in virtual time: nothing
//! sleeps, and a seed decides all that is random, so that a failure can be had again. A [`Watch`]
//! listens to both directions. Every failure prints the seed and the [`Transcript`].
//!
//! A server's test, with the server:
//!
//! ```
//! use mcp_proto::client;
//! use mcp_proto::schema::{CallTool, CallToolResult, Decode};
//! use mcp_proto::server::{self, Server};
//! use mcp_proto::stdio::Stdio;
//! use mcp_proto::testing::Pair;
//! use mcp_proto::{CallOptions, Capability, ErrorObject, Instant};
//!
//! fn serve(server: &mut Stdio<Server>, now: Instant, event: server::Event) {
//!     let server::Event::Request { incoming, request, .. } = event else { return };
//!     match &*request.method {
//!         "tools/call" => server.respond(now, incoming, &CallToolResult::text("sunny")),
//!         method => server.respond_error(now, incoming, &ErrorObject::method_not_found(method)),
//!     }
//!     .unwrap();
//! }
//!
//! for seed in 0..20 {
//!     let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
//!     let mut pair = Pair::new(client::Config::new("test", "1"), config);
//!     pair.serve(serve);
//!     pair.shuffle(seed);
//!     pair.drive();
//!     let call = pair.client.call(pair.now, &CallTool::new("today"), CallOptions::default()).unwrap();
//!     let result = CallToolResult::decode(&pair.outcome(call).unwrap()).unwrap();
//!     assert_eq!(result.content[0].as_text(), Some("sunny"), "{pair}");
//!     pair.finish();
//! }
//! ```
//!
//! With a peer that is no machine of this crate, give the bytes of both directions to a [`Watch`].

#![allow(clippy::panic, reason = "a test kit reports by panicking")]

mod link;
mod pair;
mod seed;
mod transcript;
mod watch;

pub use link::{Chunking, Link};
pub use pair::Pair;
pub use seed::Seed;
pub use transcript::Transcript;
pub use watch::{Breach, Watch};
