//! The HTTP transports of the two roles; uninhabited types without the `http` feature.

#[cfg(not(feature = "http"))]
mod disabled;

#[cfg(feature = "http")]
pub(crate) use crate::http::{ClientTransport as ClientHttp, MeteredServer as ServerHttp};
#[cfg(not(feature = "http"))]
pub(crate) use disabled::{ClientHttp, ServerHttp};
