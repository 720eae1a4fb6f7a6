//! The interface to a driver: actions to perform and failures to report.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

use super::credentials::is_dpop;
use crate::http::redact::RedactedHeaders;
use crate::secret::Secret;

/// The id of an exchange (an HTTP request and its response); never reused.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ExchangeId(pub(super) u64);

impl fmt::Debug for ExchangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exchange#{}", self.0)
    }
}

impl fmt::Display for ExchangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An action for the driver, the code that performs the HTTP IO.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    /// Send a request.
    Send(HttpRequest),
    /// Abort an exchange in any state, and call no further `handle_*` methods for it.
    Abort(ExchangeId),
}

/// An HTTP request to send to the server's MCP endpoint.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The id to pass to the `handle_*` methods of the client together with the response.
    pub exchange: ExchangeId,
    /// The HTTP method.
    pub method: HttpMethod,
    /// The path and query to send the request to, at the origin of the server's URL; `None` for
    /// the server's URL itself.
    ///
    /// Only requests over [HTTP+SSE](crate::http::legacy_sse) have a target. It is ASCII, starts
    /// with a slash, and is secret, because it contains the id of the session.
    pub target: Option<Secret>,
    /// The headers that the protocol requires. Values are ASCII, except for `Last-Event-ID`, which
    /// is UTF-8.
    ///
    /// The driver adds other headers, such as `Host` and `Content-Length`. It also adds
    /// `Authorization`, from [`authorization`](Self::authorization) or from its own source.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The value of the `Authorization` header, if the client has
    /// [credentials](super::HttpClient::authorize).
    // AUT-02: on every request of the connection, and never in the URL.
    pub authorization: Option<Secret>,
    /// The nonce for the DPoP proof, if the server has provided one.
    pub dpop_nonce: Option<Secret>,
    /// The body; empty unless this is a POST.
    pub body: Bytes,
}

// The headers hold the session id, and the credentials that a driver adds.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut request = f.debug_struct("HttpRequest");
        request
            .field("exchange", &self.exchange)
            .field("method", &self.method)
            .field("target", &self.target)
            .field("headers", &RedactedHeaders(&self.headers));
        if let Some(authorization) = &self.authorization {
            request.field("authorization", authorization);
        }
        request.field("body", &self.body).finish()
    }
}

impl HttpRequest {
    /// Returns the value of a header. Names are case-insensitive.
    ///
    /// ```
    /// use mcp_proto::client::{Client, Config};
    /// use mcp_proto::http::client::{Action, HttpClient, HttpConfig};
    ///
    /// let session = Client::new(mcp_proto::Instant::ZERO, Config::new("demo", "1.0.0"));
    /// let mut http = HttpClient::new(session, HttpConfig::new(0)); // 0: the seed
    /// let Some(Action::Send(send)) = http.poll_action() else { panic!() };
    /// assert_eq!(send.header("mcp-protocol-version"), Some("2026-07-28"));
    /// ```
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }

    /// Returns whether the request needs a DPoP proof: its token is bound to a key.
    ///
    /// The driver then adds the header `DPoP` with a new proof, made by
    /// `auth::DpopProver` and signed with that key, each time that it sends the request.
    ///
    /// ```
    /// use mcp_proto::Instant;
    /// use mcp_proto::client::{Client, Config};
    /// use mcp_proto::http::client::{Action, Credentials, Generation, HttpClient, HttpConfig};
    ///
    /// let client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
    /// let mut http = HttpClient::new(client, HttpConfig::new(0)); // 0: the seed
    /// let bound = Credentials::new(Generation::new(1), "DPoP abc".into());
    /// http.authorize(Instant::ZERO, bound);
    /// let Some(Action::Send(send)) = http.poll_action() else { panic!() };
    /// assert!(send.needs_proof() && send.dpop_nonce.is_none());
    /// ```
    // AUT-82.
    #[must_use]
    pub fn needs_proof(&self) -> bool {
        self.authorization.as_ref().is_some_and(is_dpop)
    }
}

/// An HTTP method.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum HttpMethod {
    /// DELETE, which ends a session.
    Delete,
    /// GET, which opens or resumes a stream.
    Get,
    /// POST, which sends a message.
    Post,
}

impl HttpMethod {
    /// Returns the name of the method in an HTTP request, such as `POST`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "DELETE",
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

impl fmt::Display for HttpMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The reason why an exchange ended before its response was complete.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ExchangeFailure {
    /// No connection was established, so the server has not received the request.
    Unreached,
    /// The connection broke after it was established, or the response is not valid HTTP.
    ///
    /// The server may or may not have acted on the request.
    Cut,
}
