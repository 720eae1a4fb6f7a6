//! Streamable HTTP, as far as it needs no runtime: what answers requests, on whatever parsed them, and what makes them.

mod body;
mod client;
mod options;
mod over;
mod service;
mod sessions;
mod stop;

pub use body::Body;
pub(crate) use client::ClientOverHttp;
pub use client::{Challenged, Dial, Duplex, Remote};
pub use options::Http;
pub use service::{HttpRuntime, HttpService};
pub use stop::Stop;
