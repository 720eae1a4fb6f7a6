//! The HTTP transports of the two roles; uninhabited types without the `http` feature.

#[cfg(not(feature = "http"))]
mod disabled;

#[cfg(feature = "http")]
pub(crate) use crate::http::ClientTransport as ClientHttp;
#[cfg(not(feature = "http"))]
pub(crate) use disabled::{ClientHttp, ServerHttp};
#[cfg(feature = "http")]
pub(crate) use mcp_proto::http::HttpServer as ServerHttp;
