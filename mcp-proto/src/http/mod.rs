//! Streamable HTTP without IO, for servers and clients: which requests to accept, which message
//! goes into which response, and the formats below JSON (event streams and header values).
//!
//! A server calls [`admit`] with the head of each request and [`PostHead::read`] with its body.
//! Each returns a [`Refusal`] that converts to a complete [`Reply`]. An accepted request goes to a
//! [`HttpServer`], which assigns messages to responses; a [`SessionTable`] stores the open
//! sessions. A client is a [`client::HttpClient`]. [`sse`] and [`header`] are independent of MCP.
//!
//! [Specification][spec]
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

mod admit;
pub mod client;
pub mod header;
mod headers;
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

pub use admit::{Admitted, GetRequest, PostHead, admit, check_origin};
pub use headers::{Headers, RepeatedHeader};
pub use param_headers::{InvalidParamHeader, ParamHeaderMismatch, ParamHeaders, standard_headers};
pub use policy::Policy;
pub use refusal::{Refusal, status_of};
pub use reply::{Body, BodyChunk, Reply};
pub use server::{HttpServer, ServerExchangeId, StreamSettings, Unresumable};
pub use session_table::{SessionTable, SessionTableFull};
pub use validate::{Post, PostedMessage};
