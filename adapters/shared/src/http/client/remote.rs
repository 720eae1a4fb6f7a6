//! Where a server is, and what each request to it says besides the protocol; knows nothing of
//! sessions.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use http::{HeaderName, HeaderValue, Uri};

use super::transport::Challenged;

type Authorize = Arc<dyn Fn() -> Option<String> + Send + Sync>;
type Hears = Arc<dyn Fn(&Challenged) + Send + Sync>;

/// A server that is reached over HTTP: its URL, and what each request says besides the protocol.
///
/// Redirects are not followed. (SEC)
///
/// ```
/// use mcp_adapter::http::Remote;
///
/// let remote = Remote::new("http://localhost:8080/mcp").unwrap().authorization(|| Some("Bearer token".into()));
/// assert!(Remote::new("ftp://localhost/").is_err());
/// # drop(remote);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Remote {
    #[cfg(feature = "tls")]
    pub(super) is_secure: bool,
    /// Without its query, which may be a secret.
    pub(super) url: String,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) authority: HeaderValue,
    pub(super) target: Uri,
    pub(super) fields: Vec<(HeaderName, HeaderValue)>,
    pub(super) authorize: Option<Authorize>,
    pub(super) challenged: Option<Hears>,
    pub(super) reconnect: Option<(Duration, Duration)>,
    pub(super) has_stream: bool,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<Arc<futures_rustls::rustls::ClientConfig>>,
}

impl Remote {
    /// The server at this URL, of the scheme `http`, or `https` with the feature `tls`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when it is no such URL, or says a user and a password: those
    /// are for [`authorization`](Self::authorization).
    pub fn new(url: &str) -> io::Result<Self> {
        let bad = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("{why}: {url}"));
        let uri: Uri = url.parse().map_err(|_| bad("this is no URL"))?;
        let is_secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => false,
            Some(scheme) if *scheme == Scheme::HTTPS && cfg!(feature = "tls") => true,
            Some(scheme) if *scheme == Scheme::HTTPS => {
                return Err(bad("https takes the feature `tls`"));
            }
            _ => return Err(bad("this is no URL of http or https")),
        };
        let authority = uri.authority().ok_or_else(|| bad("this URL has no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("a URL must not say a user"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = authority.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            #[cfg(feature = "tls")]
            is_secure,
            url: format!(
                "{}://{authority}{}",
                if is_secure { "https" } else { "http" },
                uri.path()
            ),
            host,
            port,
            authority: HeaderValue::from_str(authority.as_str())
                .map_err(|_| bad("this is no host"))?,
            target: path.parse().map_err(|_| bad("this is no path"))?,
            fields: Vec::new(),
            authorize: None,
            challenged: None,
            reconnect: None,
            has_stream: true,
            #[cfg(feature = "tls")]
            tls: None,
        })
    }

    /// Says this with each request. The fields of the protocol cannot be set.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when a name or a value cannot stand in a head, or the field
    /// is the protocol's.
    pub fn field(mut self, name: &str, value: &str) -> io::Result<Self> {
        let bad =
            || io::Error::new(io::ErrorKind::InvalidInput, format!("`{name}` cannot be said"));
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
        let ours = [
            "accept",
            "connection",
            "content-length",
            "content-type",
            "host",
            "last-event-id",
            "transfer-encoding",
        ];
        if ours.contains(&name.as_str()) || name.as_str().starts_with("mcp-") {
            return Err(bad());
        }
        self.fields.push((name, HeaderValue::from_str(value).map_err(|_| bad())?));
        Ok(self)
    }

    /// Has `authorize` say what stands in the field `Authorization` of each request, if anything.
    /// It is asked each time, and must not wait. What cannot stand there is not said, and
    /// neither is the request.
    pub fn authorization(
        mut self,
        authorize: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.authorize = Some(Arc::new(authorize));
        self
    }

    /// Has `hear` hear of it when the server wants to know who asks. (AUT-11)
    pub fn on_challenge(mut self, hear: impl Fn(&Challenged) + Send + Sync + 'static) -> Self {
        self.challenged = Some(Arc::new(hear));
        self
    }

    /// How long to wait before a stream is connected to again for the first time, 1 s, and at the
    /// most, 30 s, where the server does not say. (T-86)
    pub const fn reconnect(mut self, min: Duration, max: Duration) -> Self {
        self.reconnect = Some((min, max));
        self
    }

    /// Opens no stream for what the server says by itself. (HTTP-22)
    pub const fn without_stream(mut self) -> Self {
        self.has_stream = false;
        self
    }

    /// Trusts whom this configuration of TLS trusts, in place of what the web trusts.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, config: Arc<futures_rustls::rustls::ClientConfig>) -> Self {
        self.tls = Some(config);
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
    fn a_url_is_taken_apart() {
        let remote = Remote::new("http://[::1]:8080/mcp?x=1").unwrap();
        assert_eq!(
            (&*remote.host, remote.port, remote.target.to_string()),
            ("::1", 8080, "/mcp?x=1".into())
        );
        assert_eq!(remote.authority, "[::1]:8080");
        assert_eq!(Remote::new("http://example.com").unwrap().port, 80);
    }

    #[test]
    fn what_is_no_url_of_a_server_is_refused() {
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
            assert!(remote().field(name, "x").is_err(), "{name}");
        }
        assert!(remote().field("x-a", "a\r\nb").is_err());
        assert!(remote().field("x-a", "b").is_ok());
    }
}
