//! Sends the HTTP requests of authorization: for metadata, registrations and tokens.

mod connect;
mod exchange;
mod failure;
mod message;
mod redirect;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::auth::{AuthLimits, Reach, Uri};

use self::connect::{OAuthConnector, address_of, host_of};
pub use failure::OAuthFailure;
pub use message::{OAuthRequest, OAuthResponse};

use crate::http::{Dial, Network, Remote};

/// The default of [`OAuthHttp::timeout`].
const TIMEOUT: Duration = Duration::from_secs(30);

/// Sends HTTP/1.1 requests to authorization servers, each over its own connection.
///
/// The servers are named by documents of other servers. Each request therefore has a bound on how
/// private the address may be that it is sent to. The host is resolved once; addresses beyond the
/// bound are dropped, and the connection is opened to one of the others. A name that resolves to
/// different addresses each time thus gains nothing.
///
/// Through a proxy, the addresses that a name resolves to are not known. Only URLs that contain an
/// address are then judged; what names lead to is up to the proxy.
///
/// Requests contain no cookies, and only the headers that the caller names. Time and sizes are
/// bounded. Dropping the future aborts a request.
pub struct OAuthHttp {
    connector: OAuthConnector,
    limits: AuthLimits,
    timeout: Duration,
}

impl OAuthHttp {
    /// Creates a sender that opens sockets on `runtime`, with the roots and the proxy of `remote`.
    ///
    /// [`AuthLimits::metadata_bytes_max`] limits the length of each body, and
    /// [`AuthLimits::uri_bytes_max`] that of the URL of a redirect.
    #[must_use]
    pub fn new(runtime: Arc<dyn Dial>, remote: &Remote, limits: AuthLimits) -> Self {
        Self::with_network(runtime, remote.network(), limits)
    }

    /// Creates a sender that opens its connections like this.
    pub(crate) const fn with_network(
        runtime: Arc<dyn Dial>,
        network: Network,
        limits: AuthLimits,
    ) -> Self {
        Self { connector: OAuthConnector { runtime, network }, limits, timeout: TIMEOUT }
    }

    /// Sets how long a request may take with its redirects, to the last byte, and how long
    /// [`reach_of`](Self::reach_of) may. Default: 30 s.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Resolves the host of the MCP server and returns the reach of its least private address;
    /// `None` if all its addresses are reserved.
    ///
    /// This is the bound for the URLs that the server names. A name may resolve to other addresses
    /// later: the bound holds only for a server that is connected to at addresses no less private.
    ///
    /// A name that is reached through a proxy is not resolved, and counts as public.
    ///
    /// # Errors
    /// Fails if the host cannot be resolved, or not within the [timeout](Self::timeout), or if its
    /// proxy cannot be used.
    pub async fn reach_of(&self, server: &Uri) -> io::Result<Option<Reach>> {
        let host = host_of(server);
        if self.connector.proxy_for(server, &host)?.is_some() {
            return Ok(address_of(server).map_or(Some(Reach::Public), Reach::of));
        }
        let late = async {
            self.connector.runtime.sleep(self.timeout).await;
            Err(io::Error::new(io::ErrorKind::TimedOut, "resolving the host took too long"))
        };
        let addresses = or(self.connector.runtime.resolve(&host, server.port()), late).await?;
        Ok(addresses.iter().filter_map(|address| Reach::of(address.ip())).min())
    }

    /// Sends a request and returns the response. Follows redirects as the request allows.
    ///
    /// # Errors
    /// Fails if no allowed address can be connected to, if the connection breaks, if the response
    /// is not valid HTTP, and if it takes too long. Statuses such as 404 are no failures.
    pub async fn send(&self, request: &OAuthRequest) -> Result<OAuthResponse, OAuthFailure> {
        let is_sent = AtomicBool::new(false);
        let late = async {
            self.connector.runtime.sleep(self.timeout).await;
            let why = io::Error::new(io::ErrorKind::TimedOut, "the request took too long");
            Err(if is_sent.load(Ordering::Relaxed) {
                OAuthFailure::Cut(why)
            } else {
                OAuthFailure::Unreached(why)
            })
        };
        or(self.follow(request, &is_sent), late).await
    }

    /// Sends a request, and sends it again as long as it is redirected and may be.
    async fn follow(
        &self,
        request: &OAuthRequest,
        is_sent: &AtomicBool,
    ) -> Result<OAuthResponse, OAuthFailure> {
        let mut uri = request.uri.clone();
        let mut followed = 0;
        loop {
            let opened = self.connector.connect(request, &uri).await?;
            is_sent.store(true, Ordering::Relaxed);
            let bytes_max = self.limits.metadata_bytes_max;
            let response = exchange::run(opened, request, &uri, bytes_max).await?;
            let next = redirect::next(request, &uri, &response, &self.limits);
            let Some(next) = next.filter(|_| followed < request.redirects_max) else {
                return Ok(response);
            };
            followed += 1;
            uri = next;
        }
    }
}

opaque_debug!(OAuthHttp, it => timeout: it.timeout);

#[cfg(test)]
mod proxy_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;
