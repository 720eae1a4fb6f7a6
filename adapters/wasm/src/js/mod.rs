//! Streamable HTTP on JavaScript hosts, such as Workers, browsers and node. (feature `http`)
//!
//! Only available on `wasm32-unknown-unknown`. [`respond`] serves a `Request` of a Worker. Clients
//! of this target send their requests with the function `fetch` of the host.

mod fetch;
mod stream;
mod worker;

pub(crate) use fetch::Fetch;
pub use worker::respond;
