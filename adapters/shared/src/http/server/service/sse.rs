//! The endpoints of HTTP+SSE, the transport of revision 2024-11-05.

use std::error::Error as StdError;
use std::sync::Arc;

use http::Response;
use http::request::Parts;
use mcp_proto::Principal;
use mcp_proto::http::legacy_sse::{SseServer, admit_message, admit_stream};
use mcp_proto::http::{HttpServer, Refusal, Reply};
use mcp_proto::server::Server as Machine;

use super::authorize_batch::parse;
use super::open::{PATIENCE, caller};
use super::shared::ServiceShared;
use crate::exec::clock::Clock;
use crate::http::server::body::{Exchange, ResponseBody};
use crate::http::server::budget::{ByteLease, Rejection};
use crate::http::server::options::SsePaths;
use crate::http::server::request_head::RequestHead;
use crate::http::server::transport::{HttpBinding, ResponseSource};
use crate::server::connection::serving::Serving;
use crate::transport::link::{Link, State};

/// An endpoint of a service.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ServiceEndpoint {
    /// The endpoint of Streamable HTTP.
    Mcp,
    /// The path belongs to no endpoint.
    None,
    /// Messages of clients over HTTP+SSE.
    SseMessages,
    /// Streams of HTTP+SSE.
    SseStream,
}

impl ServiceShared {
    /// Returns the endpoint at a path.
    pub(super) fn endpoint(&self, path: &str) -> ServiceEndpoint {
        match &self.options.sse {
            Some(SsePaths { stream, .. }) if stream == path => ServiceEndpoint::SseStream,
            Some(SsePaths { messages, .. }) if messages == path => ServiceEndpoint::SseMessages,
            _ if self.options.path.as_deref().is_some_and(|known| known != path) => {
                ServiceEndpoint::None
            }
            _ => ServiceEndpoint::Mcp,
        }
    }

    /// Refuses a request to HTTP+SSE with the wrong method. This needs no credentials: the status
    /// is what makes clients try HTTP+SSE.
    // LIF-36: a POST to the stream is answered with 405.
    pub(super) fn screen_sse(
        &self,
        endpoint: ServiceEndpoint,
        parts: &Parts,
    ) -> Result<(), Refusal> {
        let (verb, fields) = (parts.method.as_str(), &parts.headers);
        match endpoint {
            ServiceEndpoint::SseStream if verb != "GET" => admit_stream(&self.policy, verb, fields),
            ServiceEndpoint::SseMessages if verb != "POST" => {
                admit_message(&self.policy, verb, fields, None).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Starts a session and returns its stream.
    // HTTP-57.
    pub(super) async fn open_sse(
        self: &Arc<Self>,
        head: &RequestHead,
        principal: Option<&Principal>,
    ) -> Result<Response<ResponseBody>, Refusal> {
        head.peek(|parts| admit_stream(&self.policy, parts.method.as_str(), &parts.headers))?;
        let settings = self.sse.as_ref().ok_or_else(|| Refusal::new(404, "not found"))?;
        let listener_share = self.listener_share(head.peer_address())?;
        let place = self.session_place(head.peer_address(), principal.cloned())?;
        self.require_session_bytes()?;
        let id = self.options.session_ids.next()?;
        let clock = Clock::new();
        let session = SseServer::new(clock.now(), settings, &id);
        let link = self.link(clock, HttpBinding::Sse(session), 0, &self.parts);
        let serving = Serving::new(Arc::clone(&link), principal.cloned());
        let exchange = Exchange {
            link: Arc::clone(&link),
            source: ResponseSource::SseStream,
            is_modern: false,
            is_over: false,
            listening: None,
            share: None,
            listener_share: Some(listener_share),
        };
        self.sessions
            .insert(&self.runtime, id, principal, &link, serving, place)
            .map_err(|why| self.session_refusal(why))?;
        link.spawn_timers_with(Arc::clone(&self.timers));
        Ok(self.respond(exchange).await)
    }

    /// Passes a message to its session.
    // HTTP-58.
    pub(super) async fn post_sse<B>(
        self: &Arc<Self>,
        head: &RequestHead,
        principal: Option<&Principal>,
        body: B,
    ) -> Result<Response<ResponseBody>, Refusal>
    where
        B: http_body::Body<Error: Into<Box<dyn StdError + Send + Sync>>>,
    {
        let id = head.peek(|parts| {
            let (verb, query) = (parts.method.as_str(), parts.uri.query());
            admit_message(&self.policy, verb, &parts.headers, query)
        })?;
        // Counted until the connection has the message, which then counts it.
        let mut lease = ByteLease::new(&self.options.counters.requests_bytes);
        let mut share = self.address_share(head.peer_address());
        let body = self.read(body, &mut lease, &mut share).await?;
        let mut share = Some(share);
        let caller = caller(head, principal);
        // SEC-13: the session of another principal does not exist.
        let link = self.sessions.get(&id, principal);
        let link = link.ok_or_else(|| Refusal::unknown_session(None))?;
        self.require_session_bytes()?;
        self.authorize_sse(head, &caller, &body)?;
        self.wait_for_room(&link).await?;
        link.trace.input(&body);
        let description = HttpServer::description_bytes(body.len());
        let handled = link.with_request(|state, now| {
            state.role.principal = caller.principal().cloned();
            let was_open = state.connection.peer().is_some();
            let sse = state.sse()?;
            sse.set_caller(Arc::clone(&caller));
            let handled = sse.handle_post(now, body.clone());
            // An idle connection keeps no head.
            sse.set_caller(None);
            let is_open = state.connection.peer().is_some();
            if let Some(metered) = state.metered() {
                if is_open && !was_open {
                    metered.set_description(description);
                }
                if handled.is_ok() {
                    // The response comes on the stream.
                    metered.keep(share.take());
                }
            }
            Some(handled)
        });
        let reply: Reply = handled.ok_or_else(|| Refusal::unknown_session(None))??;
        drop((body, lease));
        head.detach_if_kept();
        Ok(self.reply(reply, None))
    }

    /// Refuses a message if the token of the caller lacks its scopes.
    // AUT-24: the stream cannot carry a challenge, so the POST does.
    fn authorize_sse(
        &self,
        head: &RequestHead,
        caller: &mcp_proto::Caller,
        body: &[u8],
    ) -> Result<(), Refusal> {
        match parse(body) {
            Some(message) if !message.as_bytes().starts_with(b"[") => {
                self.authorize_message(head, None, caller, &message)
            }
            _ => self.authorize_batch(head, None, caller, body),
        }
    }

    /// Waits until a session accepts another message.
    async fn wait_for_room(&self, link: &Link<Machine>) -> Result<(), Refusal> {
        if link.wants_input_now() {
            return Ok(());
        }
        let has_changed =
            |state: &State<Machine>| state.wants_input() || state.connection.is_closed();
        let has_changed = link.wait_until(PATIENCE, has_changed).await;
        if link.inspect(|state| state.connection.is_closed()) {
            return Err(Refusal::unknown_session(None));
        }
        if !has_changed {
            let why = "the session has too many requests in flight";
            return Err(self.refusal(Rejection::Service, why));
        }
        Ok(())
    }
}
