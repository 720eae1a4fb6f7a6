//! Accepts the subscriptions of clients, or leaves the decision to the application.
//!
//! An application that decides receives `resources/subscribe` and `subscriptions/listen` as
//! requests. Its response opens the subscription instead of being sent.
// SEC-02: a server may refuse to report changes of a resource.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Connection;
use super::inbound::{Destination, InboundRequest, Origin, RequestContext, WriteResult};
use crate::error::{Misuse, code};
use crate::json::{find, unescape};
use crate::method::MethodId;
use crate::revision::MethodRule;
use crate::rpc::{ErrorObject, MethodName, Params, RequestId};
use crate::schema::is_uri;
use crate::vocabulary::{Event, Filter, IncomingId};

impl Connection {
    /// Handles a `resources/subscribe`.
    pub(super) fn on_subscribe(
        &mut self,
        origin: Origin<'_>,
        id: &RequestId,
        method: &MethodName<'_>,
        rule: Option<&'static MethodRule>,
        params: &Params<'_>,
        sender: RequestContext,
    ) -> Result<(), ErrorObject> {
        let uri = params.member("uri").and_then(unescape).unwrap_or_default();
        if !is_uri(&uri) {
            return Err(ErrorObject::invalid_params("`uri` must be a URI with a scheme"));
        }
        let principal = self.inbound.principal();
        let is_subscribed = self.subscribers.has_in_session(&uri, principal);
        if self.env.identity.decides_subscriptions && !is_subscribed {
            self.deliver(origin, id, method, rule, params, sender);
            return Ok(());
        }
        self.subscribers.subscribe_in_session(&mut self.env, &uri, principal)?;
        self.inbound.accept(&mut self.env, origin.to, id);
        Ok(())
    }

    /// Handles a `resources/unsubscribe`, which also ends a subscription that is not decided yet.
    pub(super) fn on_unsubscribe(&mut self, to: Destination, id: &RequestId, params: &Params<'_>) {
        let uri = params.member("uri").and_then(unescape).unwrap_or_default();
        let is_undecided = |open: &InboundRequest| {
            open.rule.is_some_and(|rule| rule.id == MethodId::Subscribe)
                && subscribed(open).is_some_and(|subscribed| subscribed == uri)
        };
        while let Some(incoming) = self.inbound.requests().first_that(is_undecided) {
            self.env.emit(Event::RequestCancelled { incoming, reason: None });
            let error = ErrorObject::internal("the client unsubscribed before it was subscribed");
            let _stale = self.refuse_delivered(incoming, error);
        }
        self.subscribers.unsubscribe_in_session(&mut self.env, &uri);
        self.inbound.accept(&mut self.env, to, id);
    }

    /// Handles a `subscriptions/listen`. Only resources and elements of extensions need a decision
    /// of the application.
    pub(super) fn on_listen(
        &mut self,
        origin: Origin<'_>,
        id: &RequestId,
        method: &MethodName<'_>,
        rule: Option<&'static MethodRule>,
        params: &Params<'_>,
        sender: RequestContext,
    ) -> Result<(), ErrorObject> {
        let filter =
            self.subscribers.requested(&self.env, &sender.peer, params.member("notifications"))?;
        if self.env.identity.decides_subscriptions && filter.len() > 0 {
            self.inbound.require_room(params, self.env.limits())?;
            self.deliver(origin, id, method, rule, params, sender);
            return Ok(());
        }
        let principal = self.inbound.principal();
        self.subscribers.open(&mut self.env, origin.to.stream, id, filter, principal)
    }

    /// Returns whether a response to `incoming` accepts a subscription.
    pub(super) fn is_undecided(&self, incoming: IncomingId) -> bool {
        let rule = self.inbound.requests().get(incoming).and_then(|open| open.rule);
        self.env.identity.decides_subscriptions
            && rule.is_some_and(|rule| matches!(rule.id, MethodId::Listen | MethodId::Subscribe))
    }

    /// Opens a subscription that the application accepted. The member `notifications` of `result`
    /// names the accepted resources; without it, all are accepted.
    pub(super) fn accept_subscription(
        &mut self,
        incoming: IncomingId,
        result: WriteResult<'_>,
    ) -> Result<(), Misuse> {
        let open = self.inbound.requests().get(incoming).ok_or(Misuse::Stale)?;
        let mut answer = Vec::new();
        result(open.peer.revision, &mut answer)?;
        if !answer.starts_with(b"{") {
            return Err(Misuse::Unencodable);
        }
        let accepted = match find(&answer, "notifications") {
            Some(filter) => {
                let revision = open.peer.revision;
                Some(self.env.read_filter(filter, revision).ok_or(Misuse::Unencodable)?)
            }
            None => None,
        };
        let opened = if !self.env.allows().input {
            Err(ErrorObject::internal("the server is closing"))
        } else if open.rule.is_some_and(|rule| rule.id == MethodId::Listen) {
            self.open_accepted(incoming, accepted)
        } else {
            self.subscribe_accepted(incoming, accepted)
        };
        match opened {
            Ok(()) => {
                self.on_request_ended();
                Ok(())
            }
            Err(error) => self.refuse_delivered(incoming, error),
        }
    }

    fn open_accepted(
        &mut self,
        incoming: IncomingId,
        accepted: Option<Filter>,
    ) -> Result<(), ErrorObject> {
        let Some(open) = self.inbound.requests().get(incoming) else { return Ok(()) };
        let (params, to_answer, peer) =
            (open.again.clone(), open.to_answer(), Arc::clone(&open.peer));
        let Some((id, to)) = to_answer else { return Ok(()) };
        let notifications = params.as_ref().and_then(|it| find(it.as_bytes(), "notifications"));
        let mut filter = self.subscribers.requested(&self.env, &peer, notifications)?;
        if let Some(accepted) = accepted {
            // Changes of lists need no decision.
            let accepted = accepted.tools().prompts().resources();
            filter = filter.restricted_to(&accepted);
        }
        let principal = self.inbound.requests().get(incoming).and_then(InboundRequest::principal);
        self.subscribers.open(&mut self.env, to.stream, &id, filter, principal)?;
        self.inbound.remove(incoming);
        Ok(())
    }

    fn subscribe_accepted(
        &mut self,
        incoming: IncomingId,
        accepted: Option<Filter>,
    ) -> Result<(), ErrorObject> {
        let uri = self.inbound.requests().get(incoming).and_then(subscribed).unwrap_or_default();
        if accepted.is_some_and(|accepted| !accepted.uris.iter().any(|it| **it == *uri)) {
            return Err(ErrorObject::new(code::RESOURCE_NOT_FOUND, "the resource has no changes"));
        }
        let principal = self.inbound.requests().get(incoming).and_then(InboundRequest::principal);
        self.subscribers.subscribe_in_session(&mut self.env, &uri, principal)?;
        let _infallible = self.inbound.respond(&mut self.env, incoming, &|_, out| {
            out.extend_from_slice(b"{}");
            Ok(())
        });
        Ok(())
    }
}

/// Returns the URI of a `resources/subscribe`.
fn subscribed(open: &InboundRequest) -> Option<alloc::string::String> {
    let uri = open.again.as_ref().and_then(|params| find(params.as_bytes(), "uri"));
    uri.and_then(unescape).map(alloc::borrow::Cow::into_owned)
}
