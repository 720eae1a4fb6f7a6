//! The interface to a driver: actions to perform and failures to report.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

use crate::http::redact::RedactedHeaders;

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
    /// The headers that the protocol requires. Values are ASCII, except for `Last-Event-ID`, which
    /// is UTF-8.
    ///
    /// The driver adds other headers, such as `Host`, `Content-Length` and `Authorization`.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body; empty unless this is a POST.
    pub body: Bytes,
}

// The headers hold the session id, and the credentials that a driver adds.
impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("exchange", &self.exchange)
            .field("method", &self.method)
            .field("headers", &RedactedHeaders(&self.headers))
            .field("body", &self.body)
            .finish()
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
