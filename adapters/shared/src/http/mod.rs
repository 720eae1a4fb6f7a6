//! Streamable HTTP, independent of the runtime and of the HTTP server library.

mod body;
mod client;
mod options;
mod runtime;
mod service;
mod sessions;
mod stop;
mod transport;

pub use crate::error::HttpFailure;
pub use body::ResponseBody;
pub use client::{AuthChallenge, ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME, Remote};
pub(crate) use client::{ClientTransport, start};
pub use options::Http;
pub use runtime::HttpRuntime;
pub use service::HttpService;
pub use stop::Stop;
