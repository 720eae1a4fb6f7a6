//! Streamable HTTP without IO, for servers and clients: which requests to accept, which message
//! goes into which response, and the formats below JSON (event streams and header values).
//!
//! A server calls [`admit`] with the head of each request and [`Head::read`] with its body. Each
//! returns a [`Refusal`] that converts to a complete [`Reply`]. An accepted request goes to a
//! [`Session`], which assigns messages to responses; a [`SessionTable`] stores the open sessions. A
//! client is a [`client::Http`]. [`sse`] and [`header`] are independent of MCP.
//!
//! [Specification][spec]
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

mod admit;
pub mod client;
mod fields;
pub mod header;
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

pub use self::header as field;
pub use admit::{Admitted, Get, Head, admit, screen};
pub use fields::{Fields, RepeatedHeader};
pub use param_headers::{InvalidParamHeader, Mismatch, ParamHeaders, standard};
pub use policy::Policy;
pub use refusal::{Refusal, status_of};
pub use reply::{Body, Frame, Reply};
pub use server::{ExchangeId, Session, Settings, Unresumable};
pub use session_table::{SessionTable, SessionTableFull};
pub use validate::{Post, PostedMessage};
