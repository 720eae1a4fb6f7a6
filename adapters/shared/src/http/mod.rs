//! Streamable HTTP and HTTP+SSE, independent of the runtime and of the HTTP server library.

mod client;
mod dial;
mod hyper_stream;
mod server;
#[cfg(all(test, feature = "auth"))]
pub(crate) mod test_runtime;

pub use crate::error::HttpFailure;
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
pub use mcp_proto::Principal;
pub use mcp_proto::http::{Guard, Refusal};
pub use server::{
    Accept, FixedTokens, Http, HttpLimits, HttpService, HttpStats, Listening, PeerAddress,
    RequestHead, ResponseBody, SessionControl, Stop, TokenVerifier, VerifyError,
};
