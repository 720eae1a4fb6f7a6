//! [`SseServer`]: a server over HTTP+SSE.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::time::Duration;

use super::admit::SESSION_ID;
use super::server_url::is_url_text;
use crate::http::byte_order_mark;
use crate::http::redact::Redacted;
use crate::http::refusal::Refusal;
use crate::http::reply::{BodyChunk, Reply};
use crate::http::server::ServerUsage;
use crate::http::sse::{MESSAGE, OutgoingEvent, comment, message_data};
use crate::message_endpoint::MessageEndpoint as _;
use crate::revision::Revision;
use crate::rpc::{DecodedMessage, IncomingMessage, Malformed};
use crate::server::{Config, Event, Server};
use crate::time::{Instant, PERIOD_MIN};
use crate::vocabulary::StreamId;

/// The length in bytes from which a chunk of the stream takes no further events.
const FRAME_BYTES: usize = 16 * 1024;

/// The default of [`SseSettings::keep_alive`].
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The settings that all sessions of a server over HTTP+SSE share.
///
/// ```
/// use mcp_proto::http::legacy_sse::SseSettings;
/// use mcp_proto::server::Config;
///
/// let settings = SseSettings::new(Config::new("demo", "1.0.0"), "/messages").unwrap();
/// assert!(SseSettings::new(Config::new("demo", "1.0.0"), "messages\n").is_err());
/// # drop(settings);
/// ```
#[derive(Clone, Debug)]
pub struct SseSettings {
    config: Config,
    message_path: Box<str>,
    keep_alive: Duration,
}

/// The error for a path of the message endpoint that does not start with a slash, or contains a
/// character that a path must not contain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidMessagePath;

impl fmt::Display for InvalidMessagePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "path of the message endpoint must start with one `/` and have no query or fragment",
        )
    }
}

impl core::error::Error for InvalidMessagePath {}

impl SseSettings {
    /// Creates the settings for a server whose message endpoint has this path, such as `/messages`.
    ///
    /// Sessions over HTTP+SSE support the legacy revisions of `config`.
    ///
    /// # Errors
    /// Returns [`InvalidMessagePath`] if `message_path` is not the path of a URL.
    pub fn new(config: Config, message_path: &str) -> Result<Self, InvalidMessagePath> {
        let is_path = message_path.starts_with('/')
            && !message_path.starts_with("//")
            && !message_path.contains(['?', '#'])
            && is_url_text(message_path);
        if !is_path {
            return Err(InvalidMessagePath);
        }
        let mut legacy = Revision::LEGACY.to_vec();
        legacy.retain(|revision| config.supported_revisions().contains(revision));
        let config = config.revisions(&legacy);
        Ok(Self { config, message_path: message_path.into(), keep_alive: KEEP_ALIVE })
    }

    /// Sets how long a stream may be idle before a comment is sent to keep it open. Default: 15 s.
    // HTTP-54: comments keep idle connections open.
    #[must_use]
    pub const fn keep_alive(mut self, keep_alive: Duration) -> Self {
        self.keep_alive = keep_alive;
        self
    }
}

/// A [`Server`] over HTTP+SSE: one session, with one stream.
///
/// This type dereferences to [`Server`], whose methods the application calls. A driver
///
/// - creates one for each GET that [`admit_stream`](super::admit_stream) admits, answers with
///   [`stream_reply`](Self::stream_reply), and sends the chunks from
///   [`poll_chunk`](Self::poll_chunk);
/// - passes in each POST that [`admit_message`](super::admit_message) admits, while
///   [`wants_input`](crate::MessageEndpoint::wants_input) returns true;
/// - calls [`handle_gone`](Self::handle_gone) if the stream breaks, which ends the session;
/// - calls [`handle_timeout`](Self::handle_timeout) at the time that
///   [`poll_timeout`](Self::poll_timeout) returns.
///
/// Nothing is kept for clients that disconnect.
/// [`Limits::outbox_bytes_max`](crate::Limits::outbox_bytes_max) bounds the messages that wait for
/// the client, and [`Limits::stall_timeout`](crate::Limits::stall_timeout) bounds the time for
/// which the client may stop reading.
///
/// ```
/// use mcp_proto::Instant;
/// use mcp_proto::http::BodyChunk;
/// use mcp_proto::http::legacy_sse::{SseServer, SseSettings};
/// use mcp_proto::server::Config;
///
/// let now = Instant::ZERO;
/// let settings = SseSettings::new(Config::new("demo", "1.0.0"), "/messages").unwrap();
/// let mut session = SseServer::new(now, &settings, "7c1e"); // 7c1e: an unpredictable id
/// let Some(BodyChunk::Bytes(first)) = session.poll_chunk() else { panic!() };
/// assert_eq!(first, "event: endpoint\ndata: /messages?session_id=7c1e\n\n");
///
/// let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
/// assert_eq!(session.handle_post(now, &ping[..]).unwrap().status, 202);
/// let Some(BodyChunk::Bytes(answer)) = session.poll_chunk() else { panic!() };
/// assert!(answer.starts_with(b"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,"));
/// ```
pub struct SseServer {
    server: Server,
    id: Redacted<Box<str>>,
    /// Bytes to send before any message.
    prefix: Vec<u8>,
    keep_alive: Duration,
    /// When to send a comment if no message is ready.
    due: Instant,
    /// The client has disconnected.
    is_gone: bool,
}

// The prefix names the session.
impl fmt::Debug for SseServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseServer")
            .field("server", &self.server)
            .field("id", &self.id)
            .field("prefix_bytes", &self.prefix.len())
            .field("keep_alive", &self.keep_alive)
            .field("due", &self.due)
            .field("is_gone", &self.is_gone)
            .finish()
    }
}

impl SseServer {
    /// Opens the session with this id.
    ///
    /// The driver generates the id, which must be unpredictable and consist of letters and digits.
    // HTTP-57: the first event names the message endpoint.
    #[must_use]
    pub fn new(now: Instant, settings: &SseSettings, id: &str) -> Self {
        let mut prefix = Vec::new();
        let endpoint = format!("{}?{SESSION_ID}={id}", settings.message_path);
        write_event(&mut prefix, "endpoint", endpoint.as_bytes());
        let keep_alive = settings.keep_alive.max(PERIOD_MIN);
        Self {
            server: Server::new(now, settings.config.clone()),
            id: Redacted(id.into()),
            prefix,
            keep_alive,
            due: now + keep_alive,
            is_gone: false,
        }
    }

    /// Returns the session id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id.0
    }

    /// Returns the head of the response that carries the stream.
    #[must_use]
    pub fn stream_reply() -> Reply {
        Reply::events()
    }

    /// Handles a POST with one message or batch, and returns its response, which has status 202.
    ///
    /// # Errors
    /// Returns the [`Refusal`] to send instead: with status 400 if the body is not a JSON-RPC
    /// message, and with 404 if the session has ended.
    // HTTP-58.
    pub fn handle_post<'a>(
        &mut self,
        now: Instant,
        message: impl Into<IncomingMessage<'a>>,
    ) -> Result<Reply, Refusal> {
        let message = byte_order_mark::skip(message.into());
        let decoded = DecodedMessage::parse(&message, self.server.limits());
        if self.is_gone || self.server.is_closed() {
            return Err(Refusal::unknown_session(None));
        }
        match &decoded.message {
            Ok(_) => {}
            Err(Malformed::Array) => {
                return Err(Refusal::new(400, "body is not a JSON-RPC message"));
            }
            Err(Malformed::Invalid { id, answerable, why }) => {
                let id = id.as_ref().filter(|_| *answerable);
                return Err(Refusal::with_error(400, None, id, &why.to_error()));
            }
        }
        self.server.handle_decoded(now, StreamId::ONLY, decoded);
        Ok(Reply::empty(202))
    }

    /// Handles a client that disconnected or stopped reading the stream: the session ends, and the
    /// client's requests are cancelled.
    pub fn handle_gone(&mut self, now: Instant) {
        self.is_gone = true;
        self.server.handle_stream_closed(now, StreamId::ONLY);
        self.server.close(now);
        self.drop_unsent();
    }

    /// Advances the time to `now` and handles expired timeouts.
    ///
    /// Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.server.handle_timeout(now);
        self.drop_unsent();
        let now = self.server.now();
        if self.due > now || self.is_gone {
            return;
        }
        self.due = now + self.keep_alive;
        if self.prefix.is_empty() && !self.server.has_outgoing() {
            let _always_fits = comment(&mut self.prefix, "");
        }
    }

    /// Returns the time at which to call [`handle_timeout`](Self::handle_timeout).
    ///
    /// Returns `None` if no timer is running.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let keep_alive = Some(self.due).filter(|_| !self.is_gone && !self.server.is_closed());
        keep_alive.into_iter().chain(self.server.poll_timeout()).min()
    }

    /// Removes and returns the oldest event, if any.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.server.poll_event()
    }

    /// Returns whether [`poll_chunk`](Self::poll_chunk) would return a chunk.
    pub fn has_output(&mut self) -> bool {
        self.drop_unsent();
        !self.prefix.is_empty() || self.server.has_outgoing() || self.server.is_closed()
    }

    /// Returns the next chunk of the stream, or `None` if no chunk is ready.
    ///
    /// After [`BodyChunk::End`], the session is over.
    pub fn poll_chunk(&mut self) -> Option<BodyChunk> {
        self.drop_unsent();
        let mut frame = mem::take(&mut self.prefix);
        while frame.len() < FRAME_BYTES
            && let Some(outgoing) = self.server.poll_outgoing()
        {
            write_event(&mut frame, MESSAGE, &message_data(outgoing.body));
        }
        if frame.is_empty() {
            return (self.is_gone || self.server.is_closed()).then_some(BodyChunk::End);
        }
        self.due = self.server.now() + self.keep_alive;
        Some(BodyChunk::Bytes(frame.into()))
    }

    /// Returns whether the session has a stream and its client has completed the handshake.
    ///
    /// A busy session must not count as idle in
    /// [`SessionTable::expire`](crate::http::SessionTable::expire).
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.is_gone && !self.server.is_closed() && self.server.peer().is_some()
    }

    /// Returns how many bytes of memory this server holds because of its client. Takes O(1) time.
    // SEC-18: lets a service bound what all clients together can make it hold.
    #[must_use]
    pub fn usage(&self) -> ServerUsage {
        ServerUsage {
            requests: self.server.request_bytes(),
            session: self.server.subscription_bytes(),
        }
    }

    /// Closes the session.
    ///
    /// The application can still answer requests in flight until
    /// [`Limits::drain_timeout`](crate::Limits::drain_timeout) has passed. The stream then ends.
    pub fn close(&mut self, now: Instant) {
        self.server.close(now);
    }

    /// Releases unused capacity. Call it on idle sessions if there are many.
    pub fn shrink(&mut self) {
        self.server.shrink();
    }

    /// Drops the messages for a client that has disconnected.
    fn drop_unsent(&mut self) {
        if self.is_gone {
            self.prefix = Vec::new();
            while self.server.poll_outgoing().is_some() {}
        }
    }
}

impl Deref for SseServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for SseServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}

fn write_event(frame: &mut Vec<u8>, kind: &str, data: &[u8]) {
    let event = OutgoingEvent { kind: Some(kind), data, ..OutgoingEvent::default() };
    // Infallible: messages are single-line JSON, and the endpoint was checked.
    let _always_fits = event.write(frame);
}

#[cfg(test)]
mod tests;
