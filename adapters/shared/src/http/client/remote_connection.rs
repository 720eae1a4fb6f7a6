//! How a client connects to its server: by which HTTP client, to which socket, with which limits.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::http_send::HttpSend;
#[cfg(feature = "auth")]
use super::network::Network;
use super::pool_options::HttpVersion;
use super::proxy::Proxy;
use super::remote::Remote;
#[cfg(feature = "tls")]
use super::tls::ClientIdentity;

impl Remote {
    /// Parses a server's URL and uses another HTTP client for all requests to it.
    ///
    /// Use this to share connections, proxies or TLS with the rest of a program; [`HttpSend`] lists
    /// what `client` must do. The scheme may be `https` even without the `tls` feature.
    ///
    /// Because `client` opens the connections, [`proxy`](Self::proxy) and the TLS options do not
    /// apply to them. With `authorized`, these options still apply to connections to authorization
    /// servers. URLs that the server names are judged by their text, as behind a
    /// [`proxy`](Self::proxy), because the addresses of hosts are unknown.
    ///
    /// If `client` adds credentials to requests and results are
    /// [cached](mcp_proto::Limits::cache_bytes_max), all credentials must belong to one user: the
    /// cache does not see them.
    ///
    /// # Errors
    /// Fails as [`new`](Self::new) does.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::{Remote, SendError};
    ///
    /// let remote = Remote::with_client("https://example.com/mcp", |_request| async {
    ///     Err(SendError::unsent("there is no network"))
    /// });
    /// assert!(remote.is_ok());
    /// ```
    pub fn with_client(url: &str, client: impl HttpSend) -> io::Result<Self> {
        let mut remote = Self::parse(url, true)?;
        remote.client = Some(Arc::new(client));
        Ok(remote)
    }

    /// Connects to a server at a Unix domain socket. `path` is the path and query of the URL, such
    /// as `/mcp`. Requests have the `Host` field `localhost`.
    ///
    /// Connections are pooled like those over TCP and never go through a proxy. Credentials may be
    /// sent: the file system decides which processes can listen at `socket`. The `Remote` cannot be
    /// `authorized`, because authorization servers
    /// identify servers by URL.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if `path` does not begin with `/` or is not a
    /// valid path.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::Remote;
    ///
    /// assert!(Remote::unix("/run/weather.sock", "/mcp").is_ok());
    /// assert!(Remote::unix("/run/weather.sock", "mcp").is_err());
    /// ```
    #[cfg(unix)]
    pub fn unix(socket: impl AsRef<std::path::Path>, path: &str) -> io::Result<Self> {
        if !path.starts_with('/') {
            return Err(invalid("the path of the URL must begin with `/`"));
        }
        let mut remote = Self::parse(&format!("http://localhost{path}"), false)?;
        remote.socket = Some(Arc::from(socket.as_ref()));
        Ok(remote)
    }

    /// Returns how connections for this server are opened.
    #[cfg(feature = "auth")]
    pub(crate) fn network(&self) -> Network {
        Network { tls: self.tls.without_identity(), proxy: self.proxy.clone() }
    }

    /// Returns the fingerprint of the certificate that the client presents, if it has one.
    #[cfg(feature = "auth")]
    pub(crate) fn certificate(&self) -> Option<String> {
        self.tls.certificate()
    }

    /// Sets the proxy of the connections to the server, and of those to the authorization servers
    /// that [`authorized`](Self::authorized) needs. Default: [`Proxy::from_env`].
    ///
    /// A proxy resolves the names of hosts, so their addresses are unknown to this client. Behind a
    /// proxy, URLs that a server names are therefore judged by their text: they may not contain an
    /// address more private than the server's, but a name may lead to any address that the proxy
    /// can reach. Hosts that are connected to directly are judged by their addresses.
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// Sets the TLS configuration, instead of root certificates that were added before (feature
    /// `tls`).
    ///
    /// By default, the root certificates in the file that the environment variable `SSL_CERT_FILE`
    /// names are trusted or, without that variable, Mozilla's.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, config: Arc<futures_rustls::rustls::ClientConfig>) -> Self {
        self.tls.set_config(config);
        self
    }

    /// Trusts the certificates in `pem`, one or more in PEM, in addition to the default ones
    /// (feature `tls`): for a server whose certificate a private authority has issued, or that
    /// issued its own.
    ///
    /// Authorization servers are trusted likewise. Replaces a configuration set by
    /// [`tls`](Self::tls).
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if `pem` contains no certificate, or one that
    /// cannot be used; and if the file that `SSL_CERT_FILE` names cannot be read.
    ///
    /// ```no_run
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::Remote;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let authority = std::fs::read("/etc/ssl/company.pem")?;
    /// let remote = Remote::new("https://mcp.internal/mcp")?.root_certificate(&authority)?;
    /// # drop(remote);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "tls")]
    pub fn root_certificate(mut self, pem: &[u8]) -> io::Result<Self> {
        self.tls.add_roots(pem)?;
        Ok(self)
    }

    /// Sets the certificate with which the client authenticates itself to the server, in addition
    /// to the other TLS options (feature `tls`). By default, it has none.
    ///
    /// Only this server receives the certificate: authorization servers do not. The URL must be
    /// `https`; connecting fails otherwise.
    #[cfg(feature = "tls")]
    pub fn client_identity(mut self, identity: ClientIdentity) -> Self {
        self.tls.set_identity(identity);
        self
    }

    /// Sets the maximum number of open connections, at least 1. Default:
    /// [`concurrent_calls_max`](Self::concurrent_calls_max) + 384, which is 512 unless changed.
    ///
    /// Requests beyond it wait until a connection is free, and the timeouts of calls run while they
    /// wait. Streams and subscriptions keep their connections: the maximum must exceed their number
    /// and that of calls in flight, because a call may depend on another message of this client.
    /// Over HTTP/2, a connection has room for up to 100 of them.
    ///
    /// The maximum applies to each connection to an MCP server, not to all of a [`Client`].
    ///
    /// [`Client`]: crate::Client
    pub const fn connections_max(mut self, max: usize) -> Self {
        self.pool.connections_max = Some(max);
        self
    }

    /// Sets the maximum number of connections over HTTP/1.1 that are kept while idle. Default:
    /// [`concurrent_calls_max`](Self::concurrent_calls_max) + 64.
    pub const fn idle_connections_max(mut self, max: usize) -> Self {
        self.pool.idle_max = Some(max);
        self
    }

    /// Sets how long a connection is kept idle. Default: 30 s.
    ///
    /// Connections are checked at this interval, so a connection may stay idle for up to twice this
    /// time. Choose a timeout below that of the server: a request over a connection that the server
    /// has just closed must be sent again over another one.
    pub const fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.pool.idle_timeout = timeout;
        self
    }

    /// Uses HTTP/1.1 only (feature `tls`). By default, the server of an `https` URL may choose
    /// HTTP/2 in the TLS handshake (ALPN), unless the TLS configuration names other protocols.
    ///
    /// Over HTTP/2, up to 100 exchanges, or fewer if the server says so, share a connection. A
    /// further one is opened when there is no room. The client waits for the settings of the
    /// server, which take a round trip, and buffers up to 64 KiB for each stream that it does not
    /// read. Requests that the server refuses unprocessed, by GOAWAY or REFUSED_STREAM, are sent
    /// again once; other requests on broken connections are treated as over HTTP/1.1.
    #[cfg(feature = "tls")]
    pub const fn http1_only(mut self) -> Self {
        self.pool.version = HttpVersion::Http1;
        self
    }

    /// Uses HTTP/2 only, without asking the server, as plain `http` URLs and Unix domain sockets
    /// require (feature `tls`). See [`http1_only`](Self::http1_only) for how HTTP/2 is used.
    ///
    /// Connecting fails if the server speaks HTTP/1.1, and through a proxy that would have to
    /// forward the requests.
    #[cfg(feature = "tls")]
    pub const fn http2_prior_knowledge(mut self) -> Self {
        self.pool.version = HttpVersion::Http2;
        self
    }

    /// Returns whether another HTTP client sends the requests.
    #[cfg(feature = "auth")]
    pub(crate) const fn has_client(&self) -> bool {
        self.client.is_some()
    }

    /// Fails if options contradict each other.
    pub(super) fn check_connections(&self) -> io::Result<()> {
        if self.tls.has_identity() && (!self.is_secure || self.client.is_some()) {
            return Err(invalid("`Remote::client_identity` requires an https URL and no client"));
        }
        if self.pool.version != HttpVersion::Negotiated && self.client.is_some() {
            return Err(invalid("the version of HTTP is up to the client (`Remote::with_client`)"));
        }
        if self.socket.is_some() && self.authorization_of_sessions().is_some() {
            return Err(invalid("`Remote::authorized` cannot be used with a Unix domain socket"));
        }
        Ok(())
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(all(test, feature = "auth"))]
mod tests {
    use std::sync::Arc;

    use futures_rustls::rustls::crypto::ring::default_provider;
    use futures_rustls::rustls::{ClientConfig, RootCertStore};

    use super::{ClientIdentity, Remote};

    #[test]
    fn authorization_servers_do_not_receive_the_certificate() {
        let made = rcgen::generate_simple_self_signed(["client".to_owned()]).unwrap();
        let key = made.signing_key.serialize_der();
        let identity = ClientIdentity::new(vec![made.cert.der().clone()], key.try_into().unwrap());
        let remote = Remote::new("https://example.com/mcp").unwrap();
        let remote = remote.client_identity(identity.unwrap());
        assert!(remote.tls.has_identity() && !remote.network().tls.has_identity());
    }

    // AUT-06: whether the certificate is set here or in the configuration of TLS.
    #[test]
    fn certificates_have_fingerprints() {
        let made = || {
            let made = rcgen::generate_simple_self_signed(["client".to_owned()]).unwrap();
            (vec![made.cert.der().clone()], made.signing_key.serialize_der())
        };
        let ((chain, key), (other, other_key)) = (made(), made());
        let plain = Remote::new("https://example.com/mcp").unwrap();
        let with = |chain: &Vec<_>, key: &Vec<u8>| {
            let key = key.clone().try_into().unwrap();
            plain.clone().client_identity(ClientIdentity::new(chain.clone(), key).unwrap())
        };
        let configured = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(RootCertStore::empty());
        let key_in_config = key.clone().try_into().unwrap();
        let in_config = configured.clone().with_client_auth_cert(chain.clone(), key_in_config);
        let in_config = plain.clone().tls(Arc::new(in_config.unwrap()));
        let without = plain.clone().tls(Arc::new(configured.with_no_client_auth()));
        let first = with(&chain, &key).certificate();
        assert!(first.is_some());
        assert_eq!(first, in_config.certificate());
        assert_ne!(first, with(&other, &other_key).certificate());
        assert_eq!([plain.certificate(), without.certificate()], [None, None]);
    }
}
