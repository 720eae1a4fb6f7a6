//! Streamable HTTP, independent of the runtime and of the HTTP server library.

mod authentication;
mod body;
mod body_buffer;
mod budget;
mod client;
mod head_timer;
mod hyper_stream;
mod listening;
mod options;
mod request_head;
mod runtime;
mod service;
mod sessions;
mod sockets;
mod stall_guard;
mod stop;
mod transport;

pub use crate::error::HttpFailure;
pub use body::ResponseBody;
pub use budget::{HttpStats, PeerAddress};
pub use client::{AuthChallenge, ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME, Remote};
pub(crate) use client::{ClientTransport, start};
pub use hyper_stream::HyperStream;
pub use listening::{AcceptedConnection, DRAIN, Listening};
pub use mcp_proto::Principal;
pub use mcp_proto::http::Refusal;
pub use options::Http;
pub use request_head::RequestHead;
pub use runtime::HttpRuntime;
pub use service::HttpService;
pub use stop::Stop;
pub(crate) use transport::MeteredServer;
