//! A client's subscriptions to changes, in both eras.
//!
//! A subscription is a long-lived call. A modern one is a single request that stays open;
//! notifications carry its id. In a legacy session it is a set of `resources/subscribe` requests,
//! and each notification is delivered to the subscriptions that cover it.
//!
//! ```text
//!   modern:   sent ── acknowledged ──▶ open ──▶ over
//!   legacy:   waiting for its resources ── all subscribed, or refused ──▶ open ──▶ over
//!
//!   a legacy resource:  queued (Turn) ──▶ requested (Answer) ──▶ subscribed (Nothing)
//! ```
// STL-29…38, T-100…T-104, T-122: acknowledgement, tags, ends and URI matching.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::super::context::Env;
use super::super::lifecycle::phase::Phase;
use crate::collections::{Empty, SortedMap};
use crate::json::unescape;
use crate::limits::Limits;
use crate::method::MethodId;
use crate::rpc::Params;
use crate::vocabulary::{CallId, CallOptions, Event, Filter};

/// The open subscriptions of a client.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    open: SortedMap<CallId, Subscription>,
    /// Legacy: the resources subscribed to, requested or queued.
    resources: SortedMap<Box<str>, Resource>,
    /// Legacy: the resource of each pending subscribe or unsubscribe call, at most one call per
    /// resource. Not empty while anything is queued.
    // Over HTTP, an unsubscribe request could otherwise overtake a later subscribe request.
    requested: SortedMap<u64, Box<str>>,
    /// Legacy: the requests not sent yet, by URI.
    queue: SortedMap<Box<str>, Queued>,
}

#[derive(Debug)]
struct Resource {
    /// Number of subscriptions that name the resource.
    listeners: usize,
    waits_for: WaitsFor,
}

/// The event after which a resource counts as settled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum WaitsFor {
    /// The response to this call.
    Answer(u64),
    Nothing,
    /// The resource's turn in the queue.
    Turn,
}

/// A queued request.
#[derive(Clone, Copy, Debug)]
enum Queued {
    /// Subscribes; with `is_known`, the server may still hold an earlier subscription.
    Subscribe {
        timeout: Option<Duration>,
        timeout_max: Option<Duration>,
        is_known: bool,
    },
    Unsubscribe,
}

/// A `resources/subscribe` or `resources/unsubscribe` request to send.
#[derive(Debug)]
pub(crate) struct SubscriptionRequest {
    pub(crate) uri: Box<str>,
    /// The options for subscribing; `None` to unsubscribe.
    pub(crate) subscribe: Option<CallOptions>,
}

#[derive(Debug)]
struct Subscription {
    /// The requested filter. Legacy: URIs are sorted, unique and not refused.
    asked: Filter,
    /// Legacy: the number of URIs for which a request is still queued or unanswered.
    waits: usize,
    /// The filter in effect, once known.
    acknowledged: Option<Filter>,
}

impl Empty for Subscriptions {
    const EMPTY: &'static Self = &Self {
        open: SortedMap::new(),
        resources: SortedMap::new(),
        requested: SortedMap::new(),
        queue: SortedMap::new(),
    };
}

/// Maximum number of concurrent subscribe and unsubscribe calls, to leave room for others.
const IN_FLIGHT_MAX: usize = 64;

impl Subscriptions {
    /// Iterates over the open subscriptions and the filters in effect.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CallId, &Filter)> {
        self.open.iter().map(|(call, it)| (*call, it.acknowledged.as_ref().unwrap_or(&it.asked)))
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// Adds a modern subscription that was sent.
    pub(crate) fn open(&mut self, call: CallId, asked: Filter) {
        self.open.insert(call, Subscription { asked, waits: 0, acknowledged: None });
    }

    /// Returns whether a subscription was acknowledged; `None` if there is no such subscription.
    pub(crate) fn is_acknowledged(&self, call: CallId) -> Option<bool> {
        self.open.get(&call).map(|it| it.acknowledged.is_some())
    }

    /// Records an acknowledgement. Returns the acknowledged part of the requested filter.
    // STL-29, STL-30: it comes first and names only the honored part.
    pub(crate) fn acknowledge(
        &mut self,
        call: CallId,
        filter: Option<Filter>,
        limits: &Limits,
    ) -> Result<Filter, &'static str> {
        let held: usize =
            self.open.values().filter_map(|it| it.acknowledged.as_ref()).map(Filter::bytes).sum();
        let (Some(open), Some(filter)) = (self.open.get_mut(&call), filter) else {
            return Err("`notifications` must be a filter");
        };
        if filter.len() > limits.subscription_uris_max
            || held + filter.bytes() > limits.subscriptions_bytes_max
        {
            return Err("`notifications` exceeds the limits for subscriptions");
        }
        if open.acknowledged.is_some() {
            return Err("the subscription is already acknowledged");
        }
        let filter = filter.restricted_to(&open.asked);
        open.acknowledged = Some(filter.clone());
        Ok(filter)
    }

    /// Returns the number of queued requests.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Begins a legacy subscription; call [`report_if_settled`](Self::report_if_settled) later.
    pub(crate) fn begin(&mut self, call: CallId, asked: Filter, options: &CallOptions) {
        let waits = asked.uris.iter().filter(|uri| self.retain(uri, options)).count();
        self.open.insert(call, Subscription { asked, waits, acknowledged: None });
    }

    /// Adds a listener to a resource. Returns whether the resource is not settled yet.
    fn retain(&mut self, uri: &str, options: &CallOptions) -> bool {
        if let Some(resource) = self.resources.get_mut(uri) {
            resource.listeners += 1;
            return resource.waits_for != WaitsFor::Nothing;
        }
        let (timeout, timeout_max) = (options.timeout, options.timeout_max);
        let is_known = self.queue.contains_key(uri);
        self.queue.insert(uri.into(), Queued::Subscribe { timeout, timeout_max, is_known });
        self.resources.insert(uri.into(), Resource { listeners: 1, waits_for: WaitsFor::Turn });
        true
    }

    /// Removes a listener from each resource of a subscription that has ended.
    pub(crate) fn release(&mut self, filter: &Filter) {
        for uri in &filter.uris {
            let Some(resource) = self.resources.get_mut(uri) else { continue };
            resource.listeners -= 1;
            if resource.listeners > 0 {
                continue;
            }
            self.resources.remove(uri);
            if let Some(Queued::Subscribe { is_known: false, .. }) = self.queue.get(uri) {
                self.queue.remove(uri);
            } else {
                self.queue.insert(uri.clone(), Queued::Unsubscribe);
            }
        }
    }

    /// Takes the next request to send, if `calls` pending calls leave room; one is always allowed.
    pub(crate) fn next_request(
        &mut self,
        calls: usize,
        calls_max: usize,
    ) -> Option<SubscriptionRequest> {
        let in_flight = self.requested.len();
        let has_room = in_flight == 0 || (in_flight < IN_FLIGHT_MAX && calls < calls_max);
        if !has_room {
            return None;
        }
        let is_pending = |uri: &str| self.requested.values().any(|pending| **pending == *uri);
        let uri = self.queue.keys().find(|uri| !is_pending(uri))?.clone();
        let queued = self.queue.remove(&uri)?;
        let subscribe = match queued {
            Queued::Subscribe { timeout, timeout_max, .. } => {
                Some(CallOptions { timeout, timeout_max, ..CallOptions::default() })
            }
            Queued::Unsubscribe => None,
        };
        Some(SubscriptionRequest { uri, subscribe })
    }

    /// Records that a request was sent as the call `id`.
    pub(crate) fn on_sent(&mut self, request: SubscriptionRequest, id: u64) {
        if request.subscribe.is_some()
            && let Some(resource) = self.resources.get_mut(&request.uri)
        {
            resource.waits_for = WaitsFor::Answer(id);
        }
        self.requested.insert(id, request.uri);
    }

    /// Treats a request that cannot be sent as refused.
    pub(crate) fn on_unsendable(&mut self, env: &mut Env, request: &SubscriptionRequest) {
        self.on_settled(env, &request.uri, WaitsFor::Turn, false);
    }

    /// Handles the response to `resources/subscribe`.
    pub(crate) fn on_subscribed(&mut self, env: &mut Env, id: u64, is_ok: bool) {
        if let Some(uri) = self.requested.remove(&id) {
            self.on_settled(env, &uri, WaitsFor::Answer(id), is_ok);
        }
    }

    /// Handles the response to `resources/unsubscribe`.
    pub(crate) fn on_unsubscribed(&mut self, id: u64) {
        self.requested.remove(&id);
    }

    fn on_settled(&mut self, env: &mut Env, uri: &str, waited_for: WaitsFor, is_ok: bool) {
        // The resource may have been released and requested again in the meantime.
        let resource = self.resources.get_mut(uri).filter(|it| it.waits_for == waited_for);
        let Some(resource) = resource else { return };
        resource.waits_for = WaitsFor::Nothing;
        if !is_ok {
            self.resources.remove(uri);
        }
        let mut affected = Vec::new();
        for (call, it) in self.open.iter_mut() {
            let Ok(index) = it.asked.uris.binary_search_by(|asked| (**asked).cmp(uri)) else {
                continue;
            };
            if !is_ok {
                it.asked.uris.remove(index);
            }
            it.waits -= 1;
            affected.push(*call);
        }
        affected.into_iter().for_each(|call| self.report_if_settled(env, call));
    }

    /// Reports the filter in effect once all resources of a legacy subscription are settled.
    // STL-35: the application can compare it with the requested filter.
    pub(crate) fn report_if_settled(&mut self, env: &mut Env, call: CallId) {
        let Some(open) = self.open.get_mut(&call) else { return };
        if open.waits > 0 || open.acknowledged.is_some() {
            return;
        }
        let filter = open.asked.clone();
        open.acknowledged = Some(filter.clone());
        env.emit(Event::Subscribed { call, filter });
    }

    /// Removes a subscription that has ended. Returns its requested filter.
    pub(crate) fn remove(&mut self, env: &Env, call: CallId) -> Option<Filter> {
        // STL-38: subscriptions open at the end are kept, to be renewed on the next connection.
        if env.phase() == Phase::Closed {
            return None;
        }
        self.open.remove(&call).map(|it| it.asked)
    }

    /// Legacy: returns the subscriptions that cover a change.
    pub(crate) fn receivers(&self, method: MethodId, params: &Params<'_>) -> Vec<CallId> {
        if method != MethodId::ResourceUpdated {
            return self.covering(|filter| filter.matches_list(method));
        }
        let uri = params.member("uri").and_then(unescape).unwrap_or_default();
        let covering = self.covering(|filter| filter.matches_uri(&uri));
        if covering.is_empty() {
            // The URI may be part of a subscribed resource by a rule that only the server knows.
            return self.covering(|filter| !filter.uris.is_empty());
        }
        covering
    }

    fn covering(&self, covers: impl Fn(&Filter) -> bool) -> Vec<CallId> {
        self.iter().filter(|(_, filter)| covers(filter)).map(|(call, _)| call).collect()
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod part_tests;
