//! Opens the connection of a request, directly or through a proxy.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use mcp_proto::auth::{Scheme, Uri};
use mcp_proto::http::header::Host;

use super::failure::OAuthFailure;
use super::message::OAuthRequest;
use crate::http::{ByteStream, Dial, Network, ProxyServer, Tls, dial_any};

/// A connection for one request.
pub(super) struct OpenedStream<'p> {
    pub(super) stream: Box<dyn ByteStream>,
    /// The proxy that forwards the request, because it is not encrypted.
    pub(super) forwarder: Option<&'p ProxyServer>,
}

/// Opens connections on a runtime.
pub(super) struct OAuthConnector {
    pub(super) runtime: Arc<dyn Dial>,
    pub(super) network: Network,
}

impl OAuthConnector {
    /// Opens a connection to the host of a URL, if the request may reach it.
    pub(super) async fn connect(
        &self,
        request: &OAuthRequest,
        uri: &Uri,
    ) -> Result<OpenedStream<'_>, OAuthFailure> {
        let host = host_of(uri);
        let is_secure = uri.scheme() == Scheme::Https;
        let proxy = self.proxy_for(uri, &host).map_err(OAuthFailure::Unreached)?;
        let stream = match proxy {
            None => self.dial(request, uri, &host).await?,
            Some(proxy) => {
                // AUT-67: what a name leads to is up to the proxy.
                if address_of(uri).is_some_and(|address| !request.reach.allows(address)) {
                    return Err(OAuthFailure::Blocked { host, reach: request.reach });
                }
                let opened = if is_secure {
                    proxy.tunnel(&*self.runtime, &host, uri.port()).await
                } else {
                    proxy.connect(&*self.runtime).await
                };
                opened.map_err(OAuthFailure::Unreached)?
            }
        };
        let tls = Tls::new(is_secure, &host, &self.network.tls, false);
        let tls = tls.map_err(OAuthFailure::Unreached)?;
        let stream = tls.secure(stream).await.map_err(OAuthFailure::Unreached)?;
        Ok(OpenedStream { stream, forwarder: proxy.filter(|_| !is_secure) })
    }

    /// Opens a connection to an address of a host that the request may reach.
    async fn dial(
        &self,
        request: &OAuthRequest,
        uri: &Uri,
        host: &str,
    ) -> Result<Box<dyn ByteStream>, OAuthFailure> {
        let resolved = self.runtime.resolve(host, uri.port()).await;
        let mut addresses = resolved.map_err(OAuthFailure::Unreached)?;
        let has_any = !addresses.is_empty();
        // AUT-67: judged on the very addresses that are connected to.
        addresses.retain(|address| request.reach.allows(address.ip()));
        if has_any && addresses.is_empty() {
            return Err(OAuthFailure::Blocked { host: host.to_owned(), reach: request.reach });
        }
        let (stream, _) =
            dial_any(&*self.runtime, &addresses).await.map_err(OAuthFailure::Unreached)?;
        Ok(stream)
    }

    /// Returns the proxy for a URL with this host.
    pub(super) fn proxy_for(&self, uri: &Uri, host: &str) -> io::Result<Option<&ProxyServer>> {
        let is_secure = uri.scheme() == Scheme::Https;
        Ok(self.network.proxy.server_for(is_secure, host)?)
    }
}

/// Returns the address that is the host of a URL.
pub(super) fn address_of(uri: &Uri) -> Option<IpAddr> {
    match uri.host() {
        Host::Name(_) => None,
        Host::V4(address) => Some(IpAddr::V4(address)),
        Host::V6(address) => Some(IpAddr::V6(address)),
    }
}

/// Returns the host of a URL, as it is resolved.
pub(super) fn host_of(uri: &Uri) -> String {
    match uri.host() {
        Host::Name(name) => name.to_owned(),
        Host::V4(address) => IpAddr::V4(address).to_string(),
        Host::V6(address) => IpAddr::V6(address).to_string(),
    }
}
