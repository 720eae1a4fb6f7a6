//! Streamable HTTP without IO, for servers and clients.
//!
//! Validates requests, assigns messages to HTTP responses, and parses and writes event streams and
//! header values. The *driver* around this code, such as an adapter for an HTTP library, owns the
//! connections.
//!
//! An [`HttpHub`] is a whole server: request heads and bodies in, response heads and chunks out.
//!
//! Its parts can also be used separately. A server then calls [`admit`] with the head of each
//! request and [`PostHead::read`] with the body of each POST. Both reject a request with a
//! [`Refusal`], which converts to a complete [`Reply`]. An accepted request goes to an
//! [`HttpServer`], which assigns messages to responses; a [`SessionTable`] stores the open
//! sessions. A [`Guard`] admits only requests with access tokens. [`CrossOrigin`] lets the pages of
//! allowed origins read responses.
//! A client is a [`client::HttpClient`]. [`sse`] and [`header`] are independent of MCP.
//! [`legacy_sse`] is the transport that preceded Streamable HTTP.
//!
//! In *legacy* protocol revisions, up to 2025-11-25, a client opens a session. In *modern* ones,
//! from 2026-07-28, each request is independent. See [`Era`](crate::Era).
//!
//! [Specification][spec]
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http

mod admit;
mod byte_order_mark;
pub mod client;
mod cross_origin;
mod guard;
pub mod header;
mod headers;
#[cfg(feature = "server")]
mod hub;
pub mod legacy_sse;
mod param_headers;
mod policy;
pub(crate) mod redact;
mod refusal;
mod reply;
mod request_headers;
mod server;
mod session_table;
pub mod sse;
#[cfg(test)]
mod testing;
mod validate;

pub use crate::meta::ContextCache;
pub use admit::{Admitted, GetRequest, PostHead, admit, admit_screened, check_host, check_origin};
pub use cross_origin::CrossOrigin;
pub use guard::{
    AcceptedToken, Guard, GuardBuilder, InsufficientScope, InvalidClaims, InvalidGuard,
    TokenExpiry, VerifiedToken,
};
pub use headers::{Headers, RepeatedHeader};
#[cfg(feature = "server")]
pub use hub::{HttpHub, HubConnectionId, HubExchangeId, HubLimits, HubRequest};
pub use param_headers::{InvalidParamHeader, ParamHeaderMismatch, ParamHeaders, standard_headers};
pub use policy::{InvalidPolicy, Policy};
pub use redact::remove_secrets;
pub use refusal::{Refusal, status_of};
pub use reply::{Body, BodyChunk, Reply};
pub use server::{HttpServer, ServerExchangeId, ServerUsage, StreamSettings, Unresumable};
pub use session_table::{SessionTable, SessionTableFull};
pub use validate::{Post, PostedMessage, check_version};
