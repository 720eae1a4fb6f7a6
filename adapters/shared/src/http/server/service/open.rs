//! Passes posted messages to their connections, and opens connections for them.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use mcp_proto::http::{
    GetRequest, HttpServer, Post, PostHead, PostedMessage, Refusal, Reply, ServerExchangeId,
    check_version,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Caller, DecodedMessage, Instant, MethodId, Principal, RequestId, Revision};

use super::shared::ServiceShared;
use crate::exec::clock::Clock;
use crate::http::server::body::{Exchange, ResponseBody};
use crate::http::server::budget::{AddressShare, PeerAddress, Rejection};
use crate::http::server::options::Http;
use crate::http::server::request_head::RequestHead;
use crate::http::server::sessions::SessionPlace;
use crate::http::server::transport::{HttpBinding, MeteredServer, ResponseSource};
use crate::server::connection::events::ServerParts;
use crate::server::connection::serving::Serving;
use crate::transport::link::{Link, State};

/// The outcome of a posted message.
pub(super) enum Posted {
    /// Its connection has the message.
    Begun(Exchange),
    /// It needs no connection.
    Answered(Reply),
    /// Its session accepts no more input for now.
    Blocked(BlockedPost),
}

/// A message that waits for room in its session.
pub(super) struct BlockedPost {
    link: Arc<Link<Machine>>,
    caller: Arc<Caller>,
    /// The id of the message, if it is a request.
    id: Option<RequestId>,
    expected: Expected,
}

/// The response that the client of a posted message expects.
#[derive(Clone, Copy)]
struct Expected {
    /// The message needs a response.
    is_answered: bool,
    /// The response may be an event stream.
    accepts_events: bool,
}

impl ServiceShared {
    /// Passes a posted message to its connection.
    pub(super) fn post(
        self: &Arc<Self>,
        head: &RequestHead,
        principal: Option<&Principal>,
        post: &PostHead,
        body: &Bytes,
    ) -> Result<Posted, Refusal> {
        let caller = caller(head, principal);
        let accepts_events = post.accepts_events();
        // The headers that repeat arguments are checked once the tool has been looked up.
        let no_schema = |_: &str| None;
        let (post, decoded) =
            head.peek(|parts| post.read_decoded(&self.policy, &parts.headers, body, &no_schema))?;
        let expected = |is_answered| Expected { is_answered, accepts_events };
        let exchange = match post {
            Post::Modern { revision, message } => {
                let is_subscription = matches!(
                    &message,
                    PostedMessage::Request { method, .. } if method.id() == Some(MethodId::Listen)
                );
                // Only a subscription needs change notifications.
                let share = is_subscription.then(|| self.listener_share(head.peer_address()));
                let share = share.transpose()?;
                let expected = expected(message.needs_response());
                self.open_modern(caller, revision, share, expected, body, decoded)?
            }
            Post::Sessionless { message, .. } if !message.needs_response() => {
                return Ok(Posted::Answered(Reply::empty(202)));
            }
            Post::Sessionless { revision, message } => {
                if matches!(message, PostedMessage::Batch { .. }) {
                    self.authorize_batch(head, Some(revision), &caller, body)?;
                }
                let expected = expected(true);
                self.open_sessionless(caller, revision, &message, expected, body, decoded)?
            }
            Post::Initialize { .. } => {
                self.open_session(caller, head.peer_address(), expected(true), body, decoded)?
            }
            Post::Session { session, version, message } => {
                if matches!(message, PostedMessage::Batch { .. }) {
                    self.authorize_batch(head, version, &caller, body)?;
                }
                let id = message.request_id();
                let link = self.sessions.get(&session, principal);
                let link = link.ok_or_else(|| Refusal::unknown_session(id))?;
                self.require_session_bytes()?;
                let expected = expected(message.needs_response());
                return post_to_session(link, caller, (version, id), expected, body, decoded);
            }
        };
        Ok(Posted::Begun(exchange))
    }

    /// Passes a message to its session once there is room.
    pub(super) async fn post_later(
        self: &Arc<Self>,
        blocked: BlockedPost,
        body: &Bytes,
    ) -> Result<Exchange, Refusal> {
        let BlockedPost { link, caller, id, expected } = blocked;
        let has_changed =
            |state: &State<Machine>| state.wants_input() || state.connection.is_closed();
        let has_changed = link.wait_until(PATIENCE, has_changed).await;
        if link.inspect(|state| state.connection.is_closed()) {
            return Err(Refusal::unknown_session(id.as_ref()));
        }
        if !has_changed {
            return Err(
                self.refusal(Rejection::Service, "the session has too many requests in flight")
            );
        }
        // Decoded again, so that the waiting message is kept only once.
        let begun =
            link.with_request(|state, now| begin(state, now, caller, expected, body, &mut None));
        Ok(exchange_of(link, begun.ok_or_else(|| Refusal::unknown_session(id.as_ref()))?, false))
    }

    // ID-10: the ids of one POST are independent of those of others.
    /// Starts an exchange of the modern era, with its own connection.
    ///
    /// `listener_share` is the place of a subscription.
    fn open_modern(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        revision: Revision,
        listener_share: Option<AddressShare>,
        expected: Expected,
        body: &Bytes,
        decoded: DecodedMessage<'_>,
    ) -> Result<Exchange, Refusal> {
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.config.clone());
        let mut session = HttpServer::modern(machine, revision, Arc::clone(&self.options.settings));
        // Another thread may have taken it: this request is then parsed in full.
        if let Ok(mut contexts) = self.contexts.try_lock() {
            *session.context_cache() = std::mem::take(&mut *contexts);
        }
        let link = self.link(clock, HttpBinding::Streamable(session), 0, &self.parts);
        let listening = if listener_share.is_some() {
            self.require_session_bytes()?;
            let full = || {
                let why = "too many subscriptions (`HttpLimits::listeners_max`)";
                self.refusal(Rejection::Service, why)
            };
            Some((
                Serving::new(Arc::clone(&link), caller.principal().cloned()),
                self.sessions.listen(&link, caller.principal()).ok_or_else(full)?,
            ))
        } else {
            None
        };
        let take = |http: &mut HttpServer| std::mem::take(http.context_cache());
        let (mut exchange, latest) = exchange(link, caller, true, expected, body, decoded, take)?;
        exchange.listening = listening;
        exchange.listener_share = listener_share;
        if let Ok(mut contexts) = self.contexts.try_lock() {
            *contexts = latest;
        }
        Ok(exchange)
    }

    /// Starts an exchange of a legacy client without a session, with its own connection.
    fn open_sessionless(
        &self,
        caller: Arc<Caller>,
        revision: Revision,
        message: &PostedMessage,
        expected: Expected,
        body: &Bytes,
        decoded: DecodedMessage<'_>,
    ) -> Result<Exchange, Refusal> {
        let clock = Clock::new();
        let now = clock.now();
        let machine = Machine::new(now, self.sessionless_config.clone());
        let settings = Arc::clone(&self.options.settings);
        let single = HttpServer::sessionless(now, machine, revision, message, settings);
        // The body is counted as a request, and no description outlives it.
        let parts = &self.sessionless_parts;
        let link = self.link(clock, HttpBinding::Streamable(single), 0, parts);
        exchange(link, caller, true, expected, body, decoded, |_| ()).map(|(exchange, ())| exchange)
    }

    /// Starts a session.
    // HTTP-29: the response to `initialize` carries the session id.
    fn open_session(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        address: Option<PeerAddress>,
        expected: Expected,
        body: &Bytes,
        decoded: DecodedMessage<'_>,
    ) -> Result<Exchange, Refusal> {
        let principal = caller.principal().cloned();
        let place = self.session_place(address, principal.clone())?;
        self.require_session_bytes()?;
        let id = self.options.session_ids.next()?;
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.config.clone());
        let settings = Arc::clone(&self.options.settings);
        let session = HttpServer::legacy(machine, Arc::clone(&id), settings);
        let description = HttpServer::description_bytes(body.len());
        let link = self.link(clock, HttpBinding::Streamable(session), description, &self.parts);
        let serving = Serving::new(Arc::clone(&link), principal.clone());
        let is_open = |http: &mut HttpServer| http.peer().is_some();
        let (exchange, is_open) =
            exchange(Arc::clone(&link), caller, false, expected, body, decoded, is_open)?;
        if is_open {
            self.sessions
                .insert(&self.runtime, id, principal.as_ref(), &link, serving, place)
                .map_err(|why| self.session_refusal(why))?;
            link.spawn_timers_with(Arc::clone(&self.timers));
        }
        Ok(exchange)
    }

    /// Counts a session in the limits of its client.
    pub(super) fn session_place(
        &self,
        address: Option<PeerAddress>,
        principal: Option<Principal>,
    ) -> Result<SessionPlace, Refusal> {
        let Http { counters, limits, .. } = &self.options;
        let address = address.map(PeerAddress::network);
        let address = counters.sessions_by_address.take(address, limits.sessions_per_address_max);
        let address = address.ok_or_else(|| {
            let why = "too many sessions of this address (`HttpLimits::sessions_per_address_max`)";
            self.refusal(Rejection::Address, why)
        })?;
        let principal_max = limits.sessions_per_principal_max;
        let principal = counters.sessions_by_principal.take(principal, principal_max);
        let principal = principal.ok_or_else(|| {
            let why =
                "too many sessions of this principal (`HttpLimits::sessions_per_principal_max`)";
            self.refusal(Rejection::Address, why)
        })?;
        Ok(SessionPlace::new(counters, address, principal))
    }

    /// Counts an event stream that waits for messages in the limit of its client's address.
    pub(super) fn listener_share(
        &self,
        address: Option<PeerAddress>,
    ) -> Result<AddressShare, Refusal> {
        let Http { counters, limits, .. } = &self.options;
        let address = address.map(PeerAddress::network);
        let share = counters.listeners_by_address.take(address, limits.listeners_per_address_max);
        share.ok_or_else(|| {
            let why =
                "too many event streams of this address (`HttpLimits::listeners_per_address_max`)";
            self.refusal(Rejection::Address, why)
        })
    }

    pub(super) async fn get(
        self: &Arc<Self>,
        get: &GetRequest,
        address: Option<PeerAddress>,
        principal: Option<&Principal>,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let link = self.sessions.get(&get.session, principal);
        let link = link.ok_or_else(|| Refusal::unknown_session(None))?;
        let listener_share = self.listener_share(address)?;
        let last = get.last_event_id.as_deref();
        let opened = link.with(|state, now| state.http().map(|http| http.handle_get(now, last)));
        let id = opened.ok_or_else(|| Refusal::unknown_session(None))?.map_err(Refusal::from)?;
        let mut exchange = exchange_of(link, id, false);
        exchange.listener_share = Some(listener_share);
        Ok(self.respond(exchange).await)
    }

    /// Creates a connection whose client's description takes `description` bytes.
    pub(super) fn link(
        &self,
        clock: Clock,
        session: HttpBinding,
        description: usize,
        parts: &Arc<ServerParts>,
    ) -> Arc<Link<Machine>> {
        let Http { counters, limits, .. } = &self.options;
        let metered = MeteredServer::new(session, counters, limits.sessions_bytes_max, description);
        let (transport, runtime) = (Box::new(metered), Arc::clone(&self.runtime));
        let link = self.server.link(clock, transport, runtime, Arc::clone(parts));
        link.has_no_writer();
        link
    }
}

/// Starts an exchange with a message on its own connection, and calls `finish` with the
/// connection before events are dispatched.
fn exchange<T>(
    link: Arc<Link<Machine>>,
    caller: Arc<Caller>,
    is_modern: bool,
    expected: Expected,
    body: &Bytes,
    decoded: DecodedMessage<'_>,
    finish: impl FnOnce(&mut HttpServer) -> T,
) -> Result<(Exchange, T), Refusal> {
    link.trace.input(body);
    // Taken by `begin`: captured by value, it would be moved with each closure.
    let mut decoded = Some(decoded);
    let begun = link.with_request(|state, now| {
        let id = begin(state, now, caller, expected, body, &mut decoded)?;
        Some((id, finish(state.http()?)))
    });
    let (id, finished) = begun.ok_or_else(|| Refusal::unknown_session(None))?;
    Ok((exchange_of(link, id, is_modern), finished))
}

/// Passes a message to its session, which is locked once for that.
///
/// Fails if the message names another revision than its session has, or a session over HTTP+SSE.
fn post_to_session(
    link: Arc<Link<Machine>>,
    caller: Arc<Caller>,
    (version, id): (Option<Revision>, Option<&RequestId>),
    expected: Expected,
    body: &Bytes,
    decoded: DecodedMessage<'_>,
) -> Result<Posted, Refusal> {
    link.trace.input(body);
    let (mut caller, mut decoded) = (Some(caller), Some(decoded));
    let begun = link.with_request(|state, now| {
        let unknown = || Refusal::unknown_session(id);
        state.http().ok_or_else(unknown)?;
        check_version(version, state.connection.peer().map(|peer| peer.revision), id)?;
        if !state.wants_input() {
            return Ok(None);
        }
        let begun = caller
            .take()
            .and_then(|caller| begin(state, now, caller, expected, body, &mut decoded));
        begun.map(Some).ok_or_else(unknown)
    })?;
    Ok(match (begun, caller) {
        (None, Some(caller)) => {
            Posted::Blocked(BlockedPost { link, caller, id: id.cloned(), expected })
        }
        (Some(id), _) => Posted::Begun(exchange_of(link, id, false)),
        (None, None) => return Err(Refusal::unknown_session(id)),
    })
}

/// Passes a message, which may have been decoded already, to a connection.
fn begin(
    state: &mut State<Machine>,
    now: Instant,
    caller: Arc<Caller>,
    expected: Expected,
    body: &Bytes,
    decoded: &mut Option<DecodedMessage<'_>>,
) -> Option<ServerExchangeId> {
    state.role.principal = caller.principal().cloned();
    let http = state.http()?;
    http.set_caller(caller);
    let id = match decoded.take() {
        Some(decoded) => http.handle_decoded(now, expected.is_answered, decoded),
        None => http.handle_post(now, expected.is_answered, body.clone()),
    };
    if !expected.accepts_events {
        http.require_json(id);
    }
    // An idle connection keeps no head.
    http.set_caller(None);
    Some(id)
}

fn exchange_of(link: Arc<Link<Machine>>, id: ServerExchangeId, is_modern: bool) -> Exchange {
    Exchange {
        link,
        source: ResponseSource::Exchange(id),
        is_modern,
        is_over: false,
        listening: None,
        share: None,
        listener_share: None,
    }
}

pub(super) fn caller(head: &RequestHead, principal: Option<&Principal>) -> Arc<Caller> {
    let caller = Caller::new().with_data(head.clone());
    Arc::new(match principal {
        Some(principal) => caller.with_principal(principal.clone()),
        None => caller,
    })
}

/// How long a message waits for room in its session.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
