//! Streamable HTTP, as far as it needs no runtime: what answers requests, on whatever parsed them.

mod body;
mod options;
mod over;
mod service;
mod sessions;
mod stop;

pub use body::Body;
pub use options::Http;
pub(crate) use over::NoClient;
pub use service::{HttpRuntime, HttpService};
pub use stop::Stop;
