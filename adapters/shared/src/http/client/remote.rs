//! A remote server: its URL and the header fields of the requests to it.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use http::{HeaderName, HeaderValue, Uri};

use super::tls::TlsConfig;
use super::transport::AuthChallenge;

type AuthorizeCallback = Arc<dyn Fn() -> Option<String> + Send + Sync>;
type ChallengeCallback = Arc<dyn Fn(&AuthChallenge) + Send + Sync>;

/// The URL of a server and the options for connecting to it over HTTP.
///
/// Redirects are not followed, so credentials are never sent to another server.
///
/// ```
/// use mcp_adapter::http::Remote;
///
/// let remote = Remote::new("http://localhost:8080/mcp")
///     .unwrap()
///     .authorization(|| Some("Bearer token".into()));
/// assert!(Remote::new("ftp://localhost/").is_err());
/// # drop(remote);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Remote {
    pub(super) is_secure: bool,
    /// The URL without its query, which may be a secret.
    pub(super) url: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) authority: HeaderValue,
    pub(super) target: Uri,
    pub(super) fields: Vec<(HeaderName, HeaderValue)>,
    pub(super) authorize: Option<AuthorizeCallback>,
    pub(super) on_challenge: Option<ChallengeCallback>,
    pub(super) reconnect: Option<(Duration, Duration)>,
    pub(super) has_stream: bool,
    pub(super) tls: TlsConfig,
}

impl Remote {
    /// Parses a server's URL. The scheme must be `http`, or `https` with the `tls` feature.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if the URL is invalid or contains a user name.
    /// Pass credentials with [`authorization`](Self::authorization) instead.
    pub fn new(url: &str) -> io::Result<Self> {
        let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("{why}: {url}"));
        let uri: Uri = url.parse().map_err(|_| bad("invalid URL"))?;
        let is_secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => false,
            Some(scheme) if *scheme == Scheme::HTTPS && cfg!(feature = "tls") => true,
            Some(scheme) if *scheme == Scheme::HTTPS => {
                return Err(bad("https requires the feature `tls`"));
            }
            _ => return Err(bad("the URL scheme must be http or https")),
        };
        let authority = uri.authority().ok_or_else(|| bad("the URL has no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("the URL must not contain a user name"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = authority.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            is_secure,
            url: format!(
                "{}://{authority}{}",
                if is_secure { "https" } else { "http" },
                uri.path()
            ),
            host,
            port,
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| bad("invalid host in the URL"))?,
            target: path.parse().map_err(|_| bad("invalid path in the URL"))?,
            fields: Vec::new(),
            authorize: None,
            on_challenge: None,
            reconnect: None,
            has_stream: true,
            tls: TlsConfig::default(),
        })
    }

    /// Adds a header field that is sent with each request.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if the name or value is invalid, or if the field
    /// is reserved for the protocol, such as `Accept` or a field whose name starts with `Mcp-`.
    pub fn header(mut self, name: &str, value: &str) -> io::Result<Self> {
        let bad = || {
            let message = format!("invalid or reserved header field `{name}`");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        };
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let reserved = [
            "accept",
            "connection",
            "content-length",
            "content-type",
            "host",
            "last-event-id",
            "transfer-encoding",
        ];
        if reserved.contains(&name.as_str()) || name.as_str().starts_with("mcp-") {
            return Err(bad());
        }
        self.fields.push((name, HeaderValue::from_str(value).map_err(|_| bad())?));
        Ok(self)
    }

    /// Sets the function that returns the `Authorization` header field of each request.
    ///
    /// If `authorize` returns `None`, the request is sent without the field.
    ///
    /// `authorize` must not block. If it panics or returns an invalid value, the request fails.
    pub fn authorization(
        mut self,
        authorize: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.authorize = Some(Arc::new(authorize));
        self
    }

    /// Calls `callback` whenever the server rejects a request with status 401 or 403.
    pub fn on_challenge(
        mut self,
        callback: impl Fn(&AuthChallenge) + Send + Sync + 'static,
    ) -> Self {
        self.on_challenge = Some(Arc::new(callback));
        self
    }

    /// Sets the initial and maximum delay before a stream reconnects. Default: 1 s and 30 s.
    ///
    /// The delay doubles with each failed attempt. If the server has set a delay, the server's
    /// delay replaces `min` for the first attempt and is the minimum for later attempts.
    // T-86: the delay doubles up to the maximum.
    pub const fn reconnect(mut self, min: Duration, max: Duration) -> Self {
        self.reconnect = Some((min, max));
        self
    }

    /// Disables the stream for messages from the server that belong to no call.
    ///
    /// By default, the client opens such a stream in legacy sessions (revisions up to 2025-11-25).
    /// Without this stream, the client receives only messages that the server sends in response to
    /// a request.
    // HTTP-22: the stream is optional.
    pub const fn without_stream(mut self) -> Self {
        self.has_stream = false;
        self
    }

    /// Sets the TLS configuration. By default, Mozilla's root certificates are trusted.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, config: Arc<futures_rustls::rustls::ClientConfig>) -> Self {
        self.tls = TlsConfig::new(config);
        self
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("host", &self.host)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Remote;

    #[test]
    fn a_url_is_parsed() {
        let remote = Remote::new("http://[::1]:8080/mcp?x=1").unwrap();
        assert_eq!(
            (&*remote.host, remote.port, remote.target.to_string()),
            ("::1", 8080, "/mcp?x=1".into())
        );
        assert_eq!(remote.authority, "[::1]:8080");
        assert_eq!(Remote::new("http://example.com").unwrap().port, 80);
    }

    #[test]
    fn invalid_urls_are_refused() {
        for url in
            ["", "mcp", "/mcp", "ftp://example.com/", "http://", "http://user:pass@example.com/"]
        {
            assert!(Remote::new(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_fields_of_the_protocol_cannot_be_set() {
        let remote = || Remote::new("http://example.com").unwrap();
        for name in ["Host", "Mcp-Session-Id", "mcp-protocol-version", "content-length", "a b", ""]
        {
            assert!(remote().header(name, "x").is_err(), "{name}");
        }
        assert!(remote().header("x-a", "a\r\nb").is_err());
        assert!(remote().header("x-a", "b").is_ok());
    }
}
