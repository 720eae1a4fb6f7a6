//! Streamable HTTP and HTTP+SSE, independent of the runtime and of the HTTP server library.

mod authentication;
mod authorization;
mod authorizer;
mod authorizing;
mod body;
mod body_buffer;
mod budget;
mod client;
#[cfg(feature = "tls")]
mod http2;
mod hyper_stream;
mod idle_timer;
mod limits;
mod listening;
mod operator_options;
mod options;
mod request_body;
mod request_head;
mod service;
mod session_control;
mod session_ids;
mod sessions;
mod socket_guard;
mod sockets;
mod stop;
#[cfg(all(test, feature = "auth"))]
pub(crate) mod test_runtime;
mod transport;
mod verifier;

pub use crate::error::HttpFailure;
pub use body::ResponseBody;
pub use budget::{HttpStats, PeerAddress};
#[cfg(feature = "tls")]
pub use client::ClientIdentity;
#[cfg(feature = "auth")]
pub(crate) use client::Network;
pub use client::{
    AuthChallenge, BlockingClient, ByteStream, Dial, HttpSend, KEEP_ALIVE_INTERVAL,
    KEEP_ALIVE_TIME, Proxy, ProxyError, ReceivedBody, Remote, SendError,
};
pub(crate) use client::{CachedFor, CallCredentials, ClientTransport, start};
#[cfg(feature = "auth")]
pub(crate) use client::{FullBody, ProxyServer, Tls, TlsConfig, dial_any};
pub use hyper_stream::HyperStream;
pub use limits::HttpLimits;
pub use listening::{Accept, Listening};
pub use mcp_proto::Principal;
pub use mcp_proto::http::{Guard, Refusal};
pub use options::Http;
pub use request_head::RequestHead;
pub use service::HttpService;
pub use session_control::SessionControl;
pub use stop::Stop;
pub(crate) use transport::MeteredServer;
#[cfg(feature = "auth")]
pub use verifier::JwtVerifier;
pub use verifier::{FixedTokens, TokenVerifier, VerifyError};
