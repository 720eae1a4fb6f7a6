//! What a driver is told to do, and what it tells of failures; knows nothing of why.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use bytes::Bytes;

/// One HTTP request and its response; never used again.
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

/// What the driver is to do next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Action {
    /// Begin an exchange.
    Send(Send),
    /// End an exchange at once, wherever it stands; nothing more is to be told of it.
    Abort(ExchangeId),
}

/// A request to send, to the one URL of the server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Send {
    /// What to call it when telling of its response.
    pub exchange: ExchangeId,
    /// The method of HTTP.
    pub verb: Verb,
    /// The header fields that the protocol needs. `Host`, `Content-Length`, `Authorization` and
    /// others like them are the driver's. Values are visible ASCII, but for `Last-Event-ID`,
    /// which is UTF-8.
    pub fields: Vec<(Cow<'static, str>, String)>,
    /// The body; empty where there is none.
    pub body: Bytes,
}

impl Send {
    /// The value of a field, whatever the case of its name.
    ///
    /// ```
    /// use mcp_proto::client::{Client, Config};
    /// use mcp_proto::http::client::{self, Action, Http};
    ///
    /// let session = Client::new(mcp_proto::Instant::ZERO, Config::new("demo", "1.0.0"));
    /// let mut http = Http::new(session, client::Config::new(0));
    /// let Some(Action::Send(send)) = http.poll_action() else { panic!() };
    /// assert_eq!(send.field("mcp-protocol-version"), Some("2026-07-28"));
    /// ```
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }
}

/// The methods of HTTP that are used.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Verb {
    /// Ends a session.
    Delete,
    /// Opens a stream, or resumes one.
    Get,
    /// Brings a message.
    Post,
}

impl Verb {
    /// Its name in HTTP.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delete => "DELETE",
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why an exchange ended before its response did.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Failure {
    /// There was no connection, and nothing was sent: the server did nothing about it.
    Unreached,
    /// It was cut off after that, or what came is not HTTP: what the server did about it is
    /// unknown.
    Cut,
}
