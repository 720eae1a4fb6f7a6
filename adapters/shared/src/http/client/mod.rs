//! Clients over Streamable HTTP and HTTP+SSE: exchanges over sockets that a runtime opens.

mod authorization;
mod authorize;
mod blocking_client;
mod cache_owner;
mod connect;
mod connections;
mod driver;
mod error_reason;
mod exchange;
mod full_body;
mod http_send;
mod membership;
#[cfg(feature = "auth")]
mod network;
mod pool;
mod pool_options;
mod proxy;
mod redirect;
mod remote;
mod remote_connection;
mod response;
mod this_machine;
mod tls;
mod transport;

pub use blocking_client::BlockingClient;
#[cfg(feature = "auth")]
pub(crate) use full_body::FullBody;
pub use http_send::{HttpSend, ReceivedBody, SendError};
#[cfg(feature = "auth")]
pub(crate) use membership::Membership;
#[cfg(feature = "auth")]
pub(crate) use network::Network;
#[cfg(feature = "auth")]
pub(crate) use proxy::ProxyServer;
pub use proxy::{Proxy, ProxyError};
pub use remote::Remote;
#[cfg(feature = "auth")]
pub(crate) use remote::{Authorization, Authorize};
#[cfg(feature = "tls")]
pub use tls::ClientIdentity;
#[cfg(feature = "auth")]
pub(crate) use tls::{Tls, TlsConfig};
pub use transport::AuthChallenge;
#[cfg(feature = "auth")]
pub(crate) use transport::AuthReport;
