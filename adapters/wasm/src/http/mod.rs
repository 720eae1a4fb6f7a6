//! Streamable HTTP without sockets, with the feature `http`.
//!
//! A server is a [`WebService`]: a function from a request to a response, whose event streams are
//! polled for chunks. A client [connects](connect) through the [`WebFetch`] of its host. The host,
//! such as the module `js` for Workers and browsers, owns the connections.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod service;

#[cfg(feature = "client")]
pub use client::{FetchBody, FetchReply, WebFetch, connect};
pub use mcp_proto::http::Policy;
#[cfg(feature = "server")]
pub use service::{EventBody, WebBody, WebReply, WebRequest, WebService};
