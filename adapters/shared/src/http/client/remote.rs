//! A remote server: its URL and the header fields of the requests to it.

use std::any::Any;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Scheme;
use http::{HeaderName, HeaderValue, Uri};
use mcp_proto::http::legacy_sse::ServerUrl;

use super::authorization::{AUTHORIZATION_TIMEOUT, AsyncAuthorize};
use super::http_send::HttpSend;
use super::membership::Membership;
use super::pool_options::PoolOptions;
use super::proxy::Proxy;
use super::this_machine::is_this_machine;
use super::tls::TlsConfig;
use super::transport::AuthChallenge;
use crate::box_future::BoxFuture;
use crate::http::dial::Dial;

type ChallengeCallback = Arc<dyn Fn(&AuthChallenge) + Send + Sync>;

/// Fields of applications that are sent unencrypted: they identify no user.
const HARMLESS_FIELDS: [&str; 4] = ["accept-language", "traceparent", "tracestate", "user-agent"];

/// The default of [`Remote::concurrent_calls_max`].
const CONCURRENT_CALLS_MAX: usize = 128;

/// The URL of a server and the options for connecting to it over HTTP.
///
/// Redirects with status 307 and 308 are followed up to five times per request, within the origin
/// of the URL (scheme, host and port). A redirect to another origin, or with another status, fails
/// with an error that names its target, so that credentials are never sent to another server.
///
/// Cookies are not kept: `Set-Cookie` is ignored. A fixed cookie can be sent with each request by
/// [`header`](Self::header); a server or proxy that requires others needs
/// [`with_client`](Self::with_client). Requests ask for uncompressed responses; others fail with an
/// error that names their coding.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::Remote;
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
    pub(crate) authorize: Option<Authorize>,
    pub(super) authorization_timeout: Duration,
    pub(super) on_challenge: Option<ChallengeCallback>,
    pub(super) reconnect: Option<(Duration, Duration)>,
    pub(super) retry_max: Option<Duration>,
    pub(super) concurrent_calls_max: usize,
    pub(super) has_stream: bool,
    pub(super) falls_back_to_sse: bool,
    pub(super) allows_plain_credentials: bool,
    pub(super) tls: TlsConfig,
    pub(super) proxy: Proxy,
    pub(super) pool: PoolOptions,
    /// The Unix domain socket to connect to, instead of the host.
    pub(super) socket: Option<Arc<Path>>,
    /// Sends all requests, instead of the pool.
    pub(super) client: Option<Arc<dyn HttpSend>>,
}

/// The application's source of `Authorization` fields.
#[derive(Clone)]
pub(crate) enum Authorize {
    Async(AsyncAuthorize),
    Blocking(Arc<dyn Fn() -> Option<String> + Send + Sync>),
    /// The session obtains the credentials, and passes them with each request.
    #[cfg_attr(not(feature = "auth"), allow(dead_code, reason = "only the feature sets it"))]
    Session(Arc<dyn Authorization>),
}

/// An authorization, which connections can share.
pub(crate) trait Authorization: Any + Send + Sync {
    /// Adds a connection to `remote`, before it is opened.
    ///
    /// # Errors
    /// Fails if the URL or the configuration cannot be used, or if the runtime is shutting down.
    fn join<'j>(
        &'j self,
        remote: &'j Remote,
        runtime: &'j Arc<dyn Dial>,
    ) -> BoxFuture<'j, io::Result<Arc<dyn Membership>>>;
}

impl Remote {
    /// Parses a server's URL. The scheme must be `http`, or `https` with the `tls` feature.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if the URL is invalid or contains a user name.
    /// Pass credentials with [`authorization`](Self::authorization) instead. The error contains
    /// neither a password nor the query.
    pub fn new(url: &str) -> io::Result<Self> {
        Self::parse(url, cfg!(feature = "tls"))
    }

    /// Parses a server's URL, whose scheme may be `https` if the client can encrypt.
    pub(super) fn parse(url: &str, encrypts: bool) -> io::Result<Self> {
        let bad = |why: &str| {
            let why = shown(url).map_or_else(|| why.to_owned(), |url| format!("{why}: {url}"));
            io::Error::new(io::ErrorKind::InvalidInput, why)
        };
        let uri: Uri = url.parse().map_err(|_| bad("invalid URL"))?;
        let is_secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP => false,
            Some(scheme) if *scheme == Scheme::HTTPS && encrypts => true,
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
        let port = authority.as_str().strip_prefix(authority.host()).unwrap_or_default();
        if authority.port_u16().is_none() && !matches!(port, "" | ":") {
            return Err(bad("invalid port in the URL"));
        }
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
            authorization_timeout: AUTHORIZATION_TIMEOUT,
            on_challenge: None,
            reconnect: None,
            retry_max: None,
            concurrent_calls_max: CONCURRENT_CALLS_MAX,
            has_stream: true,
            falls_back_to_sse: true,
            allows_plain_credentials: false,
            tls: TlsConfig::default(),
            proxy: Proxy::from_env(),
            pool: PoolOptions::default(),
            socket: None,
            client: None,
        })
    }

    /// Adds a header field that is sent with each request.
    ///
    /// The field may be a credential. Over `http:`, connecting to a host other than this machine
    /// therefore fails, unless [`allow_plain_credentials`](Self::allow_plain_credentials) is set.
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
            "accept-encoding",
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
        let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
        // Not shown by `Debug`, and not kept by header compression.
        value.set_sensitive(true);
        self.fields.push((name, value));
        Ok(self)
    }

    /// Sets the function that returns the `Authorization` header field of each request.
    ///
    /// If `authorize` returns `None`, the request is sent without the field.
    ///
    /// `authorize` runs on a separate thread and may block, for example to renew a token. If it
    /// panics or returns an invalid value, the request fails. If the client
    /// [caches](mcp_proto::Limits::cache_bytes_max) results, `authorize` also runs before each call
    /// whose result may be cached: another value may belong to another user, whose private results
    /// are not shared.
    ///
    /// Over `http:`, connecting to a host other than this machine fails, unless
    /// [`allow_plain_credentials`](Self::allow_plain_credentials) is set.
    pub fn authorization(
        mut self,
        authorize: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.authorize = Some(Authorize::Blocking(Arc::new(authorize)));
        self
    }

    /// Sets an asynchronous function that returns the `Authorization` header field of each request.
    ///
    /// See [`authorization`](Self::authorization); the method called last applies. The future runs
    /// on the adapter's runtime; with `mcp-blocking`, on a separate thread. It is dropped if it
    /// takes longer than [`authorization_timeout`](Self::authorization_timeout). The request then
    /// fails.
    ///
    /// Each connection runs one future at a time. A request that is sent during that time waits for
    /// that future and uses its result. Results are not cached beyond that: keep a token that is
    /// still valid in the application.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::Remote;
    ///
    /// async fn token() -> Option<String> {
    ///     Some("Bearer token".into())
    /// }
    ///
    /// let remote = Remote::new("http://localhost:8080/mcp").unwrap().authorization_async(token);
    /// # drop(remote);
    /// ```
    pub fn authorization_async<F: Future<Output = Option<String>> + Send + 'static>(
        mut self,
        authorize: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.authorize = Some(Authorize::Async(Arc::new(move || Box::pin(authorize()))));
        self
    }

    /// Sets how long the future of [`authorization_async`](Self::authorization_async) may take.
    /// Default: 30 s.
    pub const fn authorization_timeout(mut self, timeout: Duration) -> Self {
        self.authorization_timeout = timeout;
        self
    }

    /// Returns what obtains credentials, if the session does.
    pub(crate) fn authorization_of_sessions(&self) -> Option<&Arc<dyn Authorization>> {
        match &self.authorize {
            Some(Authorize::Session(authorization)) => Some(authorization),
            Some(Authorize::Async(_) | Authorize::Blocking(_)) | None => None,
        }
    }

    /// Returns the URL with its query, which may be a secret.
    #[cfg(feature = "auth")]
    pub(crate) fn whole_url(&self) -> String {
        let query = self.target.query().map_or_else(String::new, |query| format!("?{query}"));
        format!("{}{query}", self.url)
    }

    /// Returns the URL of a target, which is a path and a query, at this server.
    pub(super) fn url_of(&self, target: &Uri) -> String {
        let scheme = if self.is_secure { "https" } else { "http" };
        let authority = self.authority.to_str().unwrap_or_default();
        format!("{scheme}://{authority}{target}")
    }

    /// Allows sending credentials to other hosts over `http:`, where the network can read them.
    ///
    /// Credentials are the field set by [`authorization`](Self::authorization), and all fields set
    /// by [`header`](Self::header), such as `Cookie` and `X-Api-Key`, except for `Accept-Language`,
    /// `Traceparent`, `Tracestate` and `User-Agent`. By default, credentials are sent only over
    /// `https:` or to this machine: `localhost`, its subdomains, and loopback addresses. Use this
    /// only in a network that you trust, such as inside a cluster.
    pub const fn allow_plain_credentials(mut self) -> Self {
        self.allows_plain_credentials = true;
        self
    }

    /// Fails if credentials would be sent where the network can read them.
    pub(super) fn check_credentials(&self) -> io::Result<()> {
        // Names tell nothing: any field may be a key.
        let is_harmless = |name: &HeaderName| HARMLESS_FIELDS.contains(&name.as_str());
        let field = self.fields.iter().find(|(name, _)| !is_harmless(name));
        let what = match (&self.authorize, field) {
            (None, None) => return Ok(()),
            (Some(_), _) => "credentials".to_owned(),
            (None, Some((name, _))) => format!("the header field `{name}`"),
        };
        if self.is_secure || is_this_machine(&self.host) || self.allows_plain_credentials {
            return Ok(());
        }
        let why = format!(
            "{what} for {} would be sent unencrypted: use https, \
             or `Remote::allow_plain_credentials`",
            self.url
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, why))
    }

    /// Calls `callback` whenever the server rejects a request with status 401 or 403.
    ///
    /// `callback` runs on a separate thread and may block. It never runs concurrently with the
    /// client's callbacks for notifications and violations. If too many callbacks are waiting to
    /// run, the rejection is not reported.
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

    /// Sets the maximum reconnection delay that the server can request. Default: 5 min.
    ///
    /// A longer delay is shortened to `max`. A server requests a delay with a `retry` field in a
    /// stream, or with a `Retry-After` header that contains a number of seconds.
    // HTTP-17: a bound on the time that clients wait.
    pub const fn retry_max(mut self, max: Duration) -> Self {
        self.retry_max = Some(max);
        self
    }

    /// Sets the maximum number of calls in flight, at least 1. Default: 128.
    ///
    /// Each call in flight uses a connection, which costs a file descriptor and about 16 KiB of
    /// memory, more with TLS. Connections are kept for later calls until they have been idle for
    /// [30 seconds](Self::idle_timeout). Calls beyond the maximum wait in a queue, in order; their
    /// timeouts run while they wait. Subscriptions, notifications and responses to the server do
    /// not count.
    ///
    /// While the server processes a call, it can send a request whose handler in this client makes
    /// another call. To avoid deadlock, the maximum must exceed the number of calls that wait for
    /// such handlers.
    pub const fn concurrent_calls_max(mut self, max: usize) -> Self {
        self.concurrent_calls_max = max;
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

    /// Disables the fallback to [HTTP+SSE], the transport of revision 2024-11-05.
    ///
    /// By default, a client that supports legacy revisions tries HTTP+SSE if the server answers
    /// `initialize` with status 400, 404 or 405. It then requests the URL with GET. If the response
    /// is an event stream that first names a message endpoint with the scheme, host and port of the
    /// URL, the client uses this transport until it is closed. Such a session lasts as long as its
    /// stream: if the stream breaks, open calls fail with
    /// [`CallError::Lost`](mcp_proto::CallError::Lost), and the client opens another session.
    ///
    /// [HTTP+SSE]: https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
    // LIF-36: clients that support older servers fall back.
    pub const fn without_sse_fallback(mut self) -> Self {
        self.falls_back_to_sse = false;
        self
    }

    /// Returns the URL for HTTP+SSE, if the client may fall back to that transport.
    pub(super) fn sse_url(&self) -> Option<ServerUrl> {
        let url = Some(self.url_of(&self.target)).filter(|_| self.falls_back_to_sse)?;
        ServerUrl::parse(&url).ok()
    }
}

/// Returns the part of an invalid URL that is no secret, for errors: not its query, and nothing if
/// it may contain a password.
fn shown(url: &str) -> Option<&str> {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    url.get(..end).filter(|_| !url.contains('@'))
}

opaque_debug!(Remote, it => host: it.host, port: it.port);

#[cfg(test)]
mod tests {
    use super::{HARMLESS_FIELDS, Remote};

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
    fn credentials_are_not_sent_unencrypted_to_other_hosts() {
        for (host, is_private) in [
            ("localhost", true),
            ("LOCALHOST.", true),
            ("a.localhost:80", true),
            ("127.9.0.1", true),
            ("[::1]:80", true),
            ("[::ffff:127.0.0.1]", true),
            ("localhost.example", false),
            ("127.0.0.1.example", false),
            ("10.0.0.1", false),
            ("0.0.0.0", false),
            ("[fe80::1]", false),
        ] {
            let remote = || Remote::new(&format!("http://{host}/mcp")).unwrap();
            let with = [
                remote().authorization(|| None),
                remote().header("authorization", "Bearer a").unwrap(),
                remote().header("Cookie", "a=b").unwrap(),
                remote().header("x-api-key", "a").unwrap(),
                remote().header("ocp-apim-subscription-key", "a").unwrap(),
                remote().header("user-agent", "a").unwrap().header("x-a", "b").unwrap(),
            ];
            for remote in with {
                assert_eq!(remote.check_credentials().is_ok(), is_private, "{host}");
                assert!(remote.allow_plain_credentials().check_credentials().is_ok());
            }
            for harmless in HARMLESS_FIELDS {
                assert!(remote().header(harmless, "b").unwrap().check_credentials().is_ok());
            }
        }
        let remote = Remote::new("http://example.com").unwrap().header("X-Api-Key", "k3y").unwrap();
        let error = remote.check_credentials().unwrap_err().to_string();
        assert!(error.contains("`x-api-key`") && !error.contains("k3y"), "{error}");
        let remote = Remote::new("http://example.com").unwrap().authorization(|| None);
        let error = remote.check_credentials().unwrap_err().to_string();
        assert!(error.contains("allow_plain_credentials"), "{error}");
    }

    #[test]
    fn the_values_of_header_fields_are_not_shown() {
        let remote = Remote::new("http://example.com").unwrap().header("x-key", "secret").unwrap();
        assert!(!format!("{:?}", remote.fields).contains("secret"));
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
    fn errors_about_urls_contain_no_secrets() {
        for url in [
            "http://user:secret@example.com/mcp",
            "http://user:secret @example.com/mcp",
            "http://user:sec#secret@example.com/mcp",
            "http://user:sec?ret/secret@example.com/mcp",
            "ftp://user:secret@example.com/mcp",
            "ftp://example.com/mcp?key=secret",
            "http://example .com/mcp?key=secret",
            "/mcp?key=secret",
            "http://example .com/mcp#secret",
        ] {
            let error = Remote::new(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{url}: {error}");
        }
        for url in ["http://example.com:99999/", "http://[::1]:x/"] {
            assert!(Remote::new(url).unwrap_err().to_string().contains("invalid port"), "{url}");
        }
        assert_eq!(Remote::new("http://example.com:/").unwrap().port, 80);
        let error = Remote::new("ftp://example.com/mcp").unwrap_err().to_string();
        assert!(error.contains("ftp://example.com/mcp"), "{error}");
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
