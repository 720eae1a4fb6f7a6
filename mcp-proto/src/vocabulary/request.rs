//! An incoming request and its context.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::json::{Raw, elements, find, unescape};
use crate::method::{Method, MethodId};
use crate::rpc::RequestId;
use crate::schema::{Decode, DecodeError, Level};
use crate::vocabulary::{Caller, InputResponses, Peer, Principal};

/// A request that the peer sent.
///
/// ```
/// # use mcp_proto::{Capability, Instant, MessageEndpoint, StreamId};
/// # use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::ErrorObject;
/// use mcp_proto::schema::{CallTool, CallToolResult};
/// # let now = Instant::ZERO;
/// # let config = Config::new("weather", "1.0.0").capability(Capability::Tools);
/// # let mut server = Server::new(now, config);
/// # let message = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today",
/// #     "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
/// #     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// # server.handle_message(now, StreamId::ONLY, &message[..]);
///
/// let Some(Event::Request { incoming, request, .. }) = server.poll_event() else { panic!() };
/// assert_eq!(request.method, "tools/call");
/// match request.decode::<CallTool>() {
///     Ok(call) => server.respond(now, incoming, &CallToolResult::text(&*call.name)),
///     Err(error) => {
///         server.respond_error(now, incoming, &ErrorObject::invalid_params(error.to_string()))
///     }
/// }
/// .unwrap();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The params, an object; `None` if the request has none.
    pub params: Option<Raw>,
}

impl Request {
    /// Creates a request that reaches its handler by another way than a connection, such as an
    /// input request of a task.
    #[must_use]
    pub fn new(method: impl Into<Method>, params: Option<Raw>) -> Self {
        Self { method: method.into(), params }
    }

    /// Decodes the params as a type of [`schema`](crate::schema).
    ///
    /// Absent params are decoded as an empty object.
    ///
    /// # Errors
    /// Fails if a member is missing or has the wrong type. Respond with
    /// [`ErrorObject::invalid_params`](crate::ErrorObject::invalid_params).
    pub fn decode<T: Decode>(&self) -> Result<T, DecodeError> {
        T::decode(self.params.as_ref().unwrap_or(&Raw::empty_object()))
    }

    /// Returns the URIs of the resources that this request subscribes to.
    ///
    /// Reads the params of `resources/subscribe` (legacy) and of `subscriptions/listen` (modern).
    /// For other methods, the result is empty. A server delivers these two requests only with
    /// [`Config::decide_subscriptions`](crate::server::Config::decide_subscriptions).
    #[must_use]
    pub fn subscribed_uris(&self) -> Vec<String> {
        let params = self.params.as_ref().map_or(&[][..], Raw::as_bytes);
        let text = |uri| unescape(uri).map(Cow::into_owned);
        match MethodId::from_name(&self.method) {
            Some(MethodId::Subscribe) => find(params, "uri").and_then(text).into_iter().collect(),
            Some(MethodId::Listen) => {
                let filter = find(params, "notifications").unwrap_or_default();
                let uris = find(filter, "resourceSubscriptions").unwrap_or_default();
                elements(uris).filter_map(text).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the elements of a [listen key](crate::Extension::listen_key) that this
    /// `subscriptions/listen` request subscribes to; empty for other methods and keys.
    #[must_use]
    pub fn subscribed_elements(&self, key: &str) -> Vec<String> {
        let params = self.params.as_ref().filter(|_| self.method == MethodId::Listen.name());
        let list = params.and_then(|it| it.member("notifications")).and_then(|it| it.member(key));
        list.and_then(|list| list.parse().ok()).unwrap_or_default()
    }
}

/// The context of an incoming request: its client and its options.
///
/// A legacy client describes itself in the handshake and sets the log level for the session. A
/// modern client sends both in the [`_meta`] of every request. Servers need not distinguish these.
///
/// ```
/// # use mcp_proto::{Capability, Instant, MessageEndpoint, StreamId};
/// # use mcp_proto::server::{Config, Event, Server};
/// use mcp_proto::Revision;
/// # let config = Config::new("weather", "1.0.0").capability(Capability::Tools);
/// # let mut server = Server::new(Instant::ZERO, config);
/// # let message = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"today",
/// #     "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
/// #     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// # server.handle_message(Instant::ZERO, StreamId::ONLY, &message[..]);
///
/// let Some(Event::Request { context, .. }) = server.poll_event() else { panic!() };
/// assert_eq!(context.peer.revision, Revision::V2026_07_28);
/// assert!(!context.wants_progress && context.log_level.is_none());
/// ```
///
/// [`_meta`]: https://modelcontextprotocol.io/specification/2026-07-28/basic
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Context {
    /// The client's description, together with the request's revision.
    pub peer: Arc<Peer>,
    /// The minimum severity of [log messages][spec] to send; `None` if the client set none.
    ///
    /// [`Server::log`](crate::server::Server::log) discards less severe messages. If the level is
    /// `None`, `log` discards all messages for a modern request, and none in a legacy session.
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
    pub log_level: Option<Level>,
    /// Whether the client requested progress.
    ///
    /// If false, [`Server::progress`](crate::server::Server::progress) sends nothing.
    pub wants_progress: bool,
    /// The responses to the input requests sent with
    /// [`Server::request_input`](crate::server::Server::request_input); `None` if there are none.
    pub input_responses: Option<InputResponses>,
    /// The state passed to [`Server::request_input`](crate::server::Server::request_input); `None`
    /// if there was none.
    ///
    /// A modern client stores and returns the state, and could forge it. Authenticate the state,
    /// for example with `seal::Seal` (feature `seal`).
    pub state: Option<Box<str>>,
    /// The `_meta` of the request as received; `None` if the request has none.
    pub meta: Option<Raw>,
    /// The sender, as set with [`Server::set_caller`](crate::server::Server::set_caller); `None` if
    /// the driver set none.
    pub caller: Option<Arc<Caller>>,
}

impl Context {
    /// Returns the authenticated identity of the sender; `None` if it is not authenticated.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.caller.as_ref()?.principal()
    }

    /// Returns the progress token of the request, if its sender asks for progress.
    ///
    /// [`Server::progress`](crate::server::Server::progress) needs no token. A request of revision
    /// 2025-11-25 that becomes a task keeps its token until the task is over: store it in
    /// [`NewTask`](crate::tasks::NewTask::progress_token).
    #[must_use]
    pub fn progress_token(&self) -> Option<RequestId> {
        let meta = self.meta.as_ref().filter(|_| self.wants_progress)?;
        RequestId::from_json(meta.member("progressToken")?.as_bytes())
    }

    pub(crate) const fn new(peer: Arc<Peer>) -> Self {
        Self {
            peer,
            log_level: None,
            wants_progress: false,
            input_responses: None,
            state: None,
            meta: None,
            caller: None,
        }
    }
}
