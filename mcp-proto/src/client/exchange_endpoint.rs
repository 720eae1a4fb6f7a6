//! [`ExchangeEndpoint`]: a client as a transport drives it that sends each message in a separate
//! request, as HTTP does.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::Client;
use crate::extension::Extensions;
use crate::message_endpoint::MessageEndpoint;
use crate::revision::METHODS;
use crate::time::Instant;
use crate::vocabulary::{CallError, CallId, Fault};

/// A client driven by a transport that sends each message in a separate request, as HTTP does.
///
/// This trait is sealed: only [`Client`] implements it. Applications do not need it, and neither do
/// transports with one stream, such as [`Stdio`](crate::stdio::Stdio).
///
/// A request is identified by its JSON-RPC id, which the transport takes from
/// [`OutgoingKind::Request`](crate::OutgoingKind::Request). A call that is retried with input is
/// sent as a new request with a new id.
pub trait ExchangeEndpoint: MessageEndpoint {
    /// Declares that the transport sends each message in a separate request, as HTTP does.
    ///
    /// Two messages can then reach different servers, and the client takes this into account when
    /// it detects the era. From now on, [`drain_ended`](Self::drain_ended) reports the JSON-RPC
    /// requests that have ended. Call this method before the client handles its first message.
    fn use_exchanges(&mut self) {
        self.connection_mut().use_exchanges();
    }

    /// Appends to `ended` the ids of requests that have ended since this method last ran.
    ///
    /// The transport can stop waiting for responses to these requests.
    fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        self.connection_mut().drain_ended(ended);
    }

    /// Returns whether request `id` still awaits a response.
    #[must_use]
    fn is_in_flight(&self, id: u64) -> bool {
        self.connection().is_in_flight(id)
    }

    /// Returns the application's call that was sent as request `id`.
    ///
    /// Returns `None` if the request has ended. Also returns `None` for a request that the client
    /// sent by itself, such as a ping that checks the connection.
    #[must_use]
    fn call_of(&self, id: u64) -> Option<CallId> {
        self.connection().call_of(id)
    }

    /// Sets the request on whose stream the following messages arrive; `None` if their stream
    /// belongs to no request.
    ///
    /// A request of the server that arrives on this stream belongs to the call:
    /// [`Event::Request`](crate::client::Event::Request) names it.
    fn set_stream_request(&mut self, id: Option<u64>) {
        self.connection_mut().set_stream_request(id);
    }

    /// Requests a page of the list of tools for the transport, not for the application.
    ///
    /// A transport over HTTP reads from the tools which arguments it must repeat in headers.
    ///
    /// `cursor` is the JSON string that names the page; `None` requests the first page. Returns the
    /// id of the request, or `None` if the connection is not open or the server offers no tools.
    ///
    /// The transport reads the response itself, and also passes it to this client. The client then
    /// reports no event, because the application did not make the request. The request is sent even
    /// if the limit [`calls_max`](crate::Limits::calls_max) is reached.
    fn list_tools(&mut self, now: Instant, cursor: Option<&[u8]>) -> Option<u64> {
        self.connection_mut().list_tools(now, cursor)
    }

    /// Sends request `id` again under a new id, for example with other headers.
    ///
    /// Call this method instead of passing the server's error response to this client. Returns the
    /// new id, or `None` if
    /// - the request has ended;
    /// - the method is not `tools/call`, `resources/read` or `prompts/get`;
    /// - the request belongs to a legacy session;
    /// - the server has already required input for the request.
    fn send_again(&mut self, now: Instant, id: u64) -> Option<u64> {
        self.connection_mut().send_again(now, id)
    }

    /// Fails request `id` with `why`, because the transport will receive no response to it.
    ///
    /// Instead, a request that only reads is sent again, once, if `why` is [`CallError::Lost`] or
    /// [`CallError::SessionEnded`]. Does nothing if the request has already ended.
    fn handle_unanswered(&mut self, now: Instant, id: u64, why: CallError) {
        self.connection_mut().handle_unanswered(now, id, why);
    }

    /// Stops the timeout of request `id`, which the transport holds until it has credentials.
    ///
    /// A call then fails after [`human_timeout`](crate::Limits::human_timeout), unless the
    /// application has set an exact [`timeout`](crate::CallOptions::timeout), which continues. The
    /// requests that open the connection wait without limit.
    fn park(&mut self, now: Instant, id: u64) {
        self.connection_mut().park(now, id);
    }

    /// Restarts the timeout of a [parked](Self::park) request, which the transport sends again.
    ///
    /// The time for which the request was parked does not count toward its maximum total time.
    fn unpark(&mut self, now: Instant, id: u64) {
        self.connection_mut().unpark(now, id);
    }

    /// Returns whether results of a method can be cached.
    #[must_use]
    fn is_cacheable(method: &str) -> bool {
        METHODS.iter().any(|rule| rule.name == method && rule.cached_until.is_some())
    }

    /// Drops the cached results that may depend on the credentials of the requests.
    ///
    /// Results whose `cacheScope` is `public` remain cached. Call this method when the credentials
    /// change: they may belong to another user.
    fn forget_private_results(&mut self) {
        self.connection_mut().forget_private_results();
    }

    /// Reports that the server violated a rule of the transport.
    ///
    /// The application receives an [`Event::Violation`](crate::client::Event::Violation).
    fn report_violation(&mut self, now: Instant, detail: impl Into<Cow<'static, str>>) {
        self.connection_mut().report(now, detail.into());
    }

    /// Closes the connection with `fault`, because the transport has failed.
    fn fail(&mut self, now: Instant, fault: Fault) {
        self.connection_mut().fail(now, fault);
    }

    /// Handles a response that contradicts the negotiated [`Era`](crate::Era) of the server.
    ///
    /// A legacy session ends as in [`handle_session_lost`](Self::handle_session_lost). The client
    /// then detects the era with `server/discover` and opens the connection in the detected era.
    ///
    /// A modern connection remains open while the client sends `server/discover`. If the outcome
    /// shows that the server is legacy, the client ends the open calls and opens a legacy session.
    ///
    /// Does nothing while the connection is being opened, or if the configuration allows no modern
    /// revision.
    fn handle_era_refuted(&mut self, now: Instant) {
        self.connection_mut().handle_era_refuted(now);
    }

    /// Opens a new session after the server has dropped the current one.
    ///
    /// Open calls complete with [`CallError::Lost`], open requests from the server are cancelled,
    /// and queued messages are dropped. Requests that only read, such as `tools/list`, are sent
    /// again, once, in the new session. Before this method, fail the request that the server has
    /// rejected with [`CallError::SessionEnded`]. When the new session is open,
    /// [`Event::Ready`](crate::client::Event::Ready) occurs again. Does nothing unless a legacy
    /// session is open.
    fn handle_session_lost(&mut self, now: Instant) {
        self.connection_mut().handle_session_lost(now);
    }
}

impl ExchangeEndpoint for Client {}

impl Client {
    /// Returns the extensions that the client declares.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn extensions(&self) -> &Extensions {
        self.connection.extensions()
    }

    /// Handles the HTTP status of an error response to `server/discover` from a modern server.
    ///
    /// Call this method before the response itself is handled: the client then does not fall back
    /// to `initialize`.
    #[allow(dead_code, reason = "used only by HTTP")]
    pub(crate) fn handle_modern_status(&mut self) {
        self.connection.handle_modern_status();
    }
}
