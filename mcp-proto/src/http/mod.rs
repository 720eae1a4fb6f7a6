//! Streamable HTTP without IO: what a server lets in and which message goes into which response,
//! what a client does with exchanges, and the two languages below JSON, event streams and header
//! field values. It knows no HTTP stack and holds no socket.
//!
//! A server asks [`admit`] about the head of each request, and [`Head::read`] about the body that
//! follows; both say how to refuse it, as a whole [`Reply`]. What is let in goes to a [`Session`],
//! which sorts out the responses; a [`Table`] holds the sessions that there are. A client is a
//! [`client::Http`]. [`sse`] and [`field`] are usable alone and know nothing of MCP.

mod admit;
pub mod client;
pub mod field;
mod fields;
mod param_headers;
mod policy;
mod refusal;
mod reply;
mod server;
mod session_table;
pub mod sse;
#[cfg(test)]
mod testing;
mod validate;

pub use admit::{Admitted, Get, Head, admit, screen};
pub use fields::{Fields, Repeated};
pub use param_headers::{InvalidMirror, Mirror, Mismatch, standard};
pub use policy::Policy;
pub use refusal::{Refusal, status_of};
pub use reply::{Body, Frame, Reply};
pub use server::{ExchangeId, Session, Settings, Unresumable};
pub use session_table::{Full, Table};
pub use validate::{Post, Posted};
