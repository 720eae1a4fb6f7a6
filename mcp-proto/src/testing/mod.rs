//! Tools for testing MCP peers in memory: virtual time, failing pipes and a protocol checker.
//!
//! A [`Pair`] connects a client and a server by two [`Pipe`]s in virtual time. Nothing sleeps, and
//! all randomness comes from a seed, so failures are reproducible. A [`WireChecker`] checks the
//! messages in both directions. A failure reports the seed and the [`Transcript`].
//!
//! A test of a server:
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
//!     pair.on_server_event(serve);
//!     pair.shuffle(seed);
//!     pair.drive();
//!     let request = CallTool::new("today");
//!     let call = pair.client.call(pair.now, &request, CallOptions::default()).unwrap();
//!     let result = CallToolResult::decode(&pair.outcome(call).unwrap()).unwrap();
//!     assert_eq!(result.content[0].as_text(), Some("sunny"), "{pair}");
//!     pair.finish();
//! }
//! ```
//!
//! To check your event loop, pass it to [`check_driver`].
//!
//! To check peers that are not built on this crate, pass the bytes of both directions to a
//! [`WireChecker`].

#![allow(clippy::panic, reason = "a test kit reports failures by panicking")]

mod driver;
mod link;
mod pair;
mod seed;
mod transcript;
mod watch;

pub use driver::{
    Driver, DriverFault, DriverMachine, DriverReport, DriverStream, DriverWait, WakeReason,
    check_driver,
};
pub use link::{Chunking, Pipe};
pub use pair::Pair;
pub use seed::Seed;
pub use transcript::Transcript;
pub use watch::{WireChecker, WireViolation};
