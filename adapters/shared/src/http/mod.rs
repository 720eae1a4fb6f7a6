//! Streamable HTTP and HTTP+SSE, independent of the runtime and of the HTTP server library.

mod authentication;
mod authorization;
mod authorizer;
mod authorizing;
mod body;
mod body_buffer;
mod budget;
mod client;
mod dial;
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
pub use client::{
    AuthChallenge, BlockingClient, HttpSend, Proxy, ProxyError, ReceivedBody, Remote, SendError,
};
#[cfg(feature = "auth")]
pub(crate) use client::{AuthReport, Authorization, Authorize, Membership, Network};
#[cfg(feature = "auth")]
pub(crate) use client::{FullBody, ProxyServer, Tls, TlsConfig};
#[cfg(feature = "auth")]
pub(crate) use dial::dial_any;
pub use dial::{ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME};
pub use hyper_stream::HyperStream;
pub use limits::HttpLimits;
pub use listening::{AcceptedConnection, Listening};
pub use mcp_proto::Principal;
pub use mcp_proto::http::{Guard, Refusal};
pub use options::Http;
pub use request_head::RequestHead;
pub use service::HttpService;
pub use session_control::SessionControl;
pub use stop::Stop;
pub use verifier::{FixedTokens, TokenVerifier, VerifyError};
