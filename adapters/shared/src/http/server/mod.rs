//! Servers over Streamable HTTP and HTTP+SSE: services for routers, and listeners.

mod authentication;
mod authorization;
mod authorizer;
mod authorizing;
mod body;
mod body_buffer;
mod budget;
#[cfg(feature = "tls")]
mod http2;
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
mod transport;
mod verifier;

pub use body::ResponseBody;
pub use budget::{HttpStats, PeerAddress};
pub use limits::HttpLimits;
pub use listening::{Accept, Listening};
pub use options::Http;
pub use request_head::RequestHead;
pub use service::HttpService;
pub use session_control::SessionControl;
pub use stop::Stop;
pub use verifier::{FixedTokens, TokenVerifier, VerifyError};
