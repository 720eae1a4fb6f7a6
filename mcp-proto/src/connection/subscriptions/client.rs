//! A client's subscriptions to changes, in both eras.
//!
//! A subscription is a long call. A modern one is one request that stays open, and what belongs to
//! it is tagged with its id. In a legacy session it is a set of `resources/subscribe`, and what the
//! server reports by itself is handed to the subscriptions that cover it. (STL-29…38, T-100…T-104,
//! T-122)
//!
//! ```text
//!   modern:   sent ── acknowledged ──▶ open ──▶ over
//!   legacy:   waiting for its resources ── all subscribed, or refused ──▶ open ──▶ over
//!
//!   a resource of a session:  queued (Turn) ──▶ asked (Answer) ──▶ subscribed (Nothing)
//! ```

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use super::super::context::Env;
use super::super::lifecycle::phase::Phase;
use crate::collections::Empty;
use crate::json::unescape;
use crate::limits::Limits;
use crate::method::MethodId;
use crate::rpc::Params;
use crate::vocabulary::{CallId, CallOptions, Event, Filter};

/// The open subscriptions of a client.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    open: BTreeMap<CallId, Subscription>,
    /// In a session: the resources that are subscribed to, or will be.
    resources: BTreeMap<Box<str>, Resource>,
    /// The resource that a pending call subscribes to.
    asked: BTreeMap<u64, Box<str>>,
    /// What to ask the server once it has answered some of what it was asked.
    queue: BTreeMap<Box<str>, Queued>,
    /// Pending calls that subscribe or unsubscribe; some as long as anything is queued.
    in_flight: usize,
}

#[derive(Debug)]
struct Resource {
    /// How many subscriptions name it.
    listeners: usize,
    /// What has to come first.
    waits_for: WaitsFor,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum WaitsFor {
    /// The answer to this call.
    Answer(u64),
    Nothing,
    /// Its turn in the queue.
    Turn,
}

#[derive(Clone, Copy, Debug)]
enum Queued {
    /// To subscribe, and how long to wait for the answer; with `is_known`, the server may still be
    /// subscribed to.
    Subscribe {
        timeout: Option<Duration>,
        timeout_max: Option<Duration>,
        is_known: bool,
    },
    Unsubscribe,
}

/// What to ask the server next.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) uri: Box<str>,
    /// How to subscribe; `None` to unsubscribe.
    pub(crate) subscribe: Option<CallOptions>,
}

#[derive(Debug)]
struct Subscription {
    /// In a session its URIs are sorted and unique.
    asked: Filter,
    /// In a session: how many of its URIs wait for something.
    waits: usize,
    /// What the server reports, once that is known.
    acknowledged: Option<Filter>,
}

impl Empty for Subscriptions {
    const EMPTY: &'static Self = &Self {
        open: BTreeMap::new(),
        resources: BTreeMap::new(),
        asked: BTreeMap::new(),
        queue: BTreeMap::new(),
        in_flight: 0,
    };
}

/// Pending calls that subscribe or unsubscribe at a time: the others find room beside them.
const IN_FLIGHT_MAX: usize = 64;

impl Subscriptions {
    /// The open subscriptions, with what they cover.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CallId, &Filter)> {
        self.open.iter().map(|(call, it)| (*call, it.acknowledged.as_ref().unwrap_or(&it.asked)))
    }

    pub(crate) fn len(&self) -> usize {
        self.open.len()
    }

    /// A modern subscription was sent.
    pub(crate) fn open(&mut self, call: CallId, asked: Filter) {
        self.open.insert(call, Subscription { asked, waits: 0, acknowledged: None });
    }

    /// Whether a subscription was acknowledged; `None` when there is no such subscription.
    pub(crate) fn is_acknowledged(&self, call: CallId) -> Option<bool> {
        self.open.get(&call).map(|it| it.acknowledged.is_some())
    }

    /// The server says what it will report. Returns what of it counts. (STL-29, STL-30)
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
        if filter.uris.len() > limits.subscription_uris_max
            || held + filter.bytes() > limits.subscriptions_bytes_max
        {
            return Err("`notifications` is more than this side can hold");
        }
        if open.acknowledged.is_some() {
            return Err("the subscription is acknowledged already");
        }
        let filter = filter.restricted_to(&open.asked);
        open.acknowledged = Some(filter.clone());
        Ok(filter)
    }

    /// What waits to be asked.
    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Begins a subscription in a session. Follow with [`next_step`](Self::next_step) and
    /// [`check`](Self::check).
    pub(crate) fn begin(&mut self, call: CallId, asked: Filter, options: &CallOptions) {
        let waits = asked.uris.iter().filter(|uri| self.retain(uri, options)).count();
        self.open.insert(call, Subscription { asked, waits, acknowledged: None });
    }

    /// Adds a listener to a resource. Returns whether it has to wait.
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

    /// What to ask the server now, as far as there is room among `calls` pending ones; for one
    /// thing at a time there always is. Answer with [`sent`](Self::sent) or
    /// [`unsent`](Self::unsent).
    pub(crate) fn next_step(&mut self, calls: usize, calls_max: usize) -> Option<Step> {
        let has_room = self.in_flight == 0 || (self.in_flight < IN_FLIGHT_MAX && calls < calls_max);
        if !has_room {
            return None;
        }
        let (uri, queued) = self.queue.pop_first()?;
        let subscribe = match queued {
            Queued::Subscribe { timeout, timeout_max, .. } => {
                Some(CallOptions { timeout, timeout_max, ..CallOptions::default() })
            }
            Queued::Unsubscribe => None,
        };
        Some(Step { uri, subscribe })
    }

    /// A step was sent as the call `id`.
    pub(crate) fn sent(&mut self, step: Step, id: u64) {
        self.in_flight += 1;
        if step.subscribe.is_some() {
            if let Some(resource) = self.resources.get_mut(&step.uri) {
                resource.waits_for = WaitsFor::Answer(id);
            }
            self.asked.insert(id, step.uri);
        }
    }

    /// A step cannot be sent.
    pub(crate) fn unsent(&mut self, env: &mut Env, step: &Step) {
        self.on_settled(env, &step.uri, WaitsFor::Turn, false);
    }

    /// A resource is subscribed to, or cannot be.
    pub(crate) fn on_subscribed(&mut self, env: &mut Env, id: u64, is_ok: bool) {
        if let Some(uri) = self.asked.remove(&id) {
            self.on_settled(env, &uri, WaitsFor::Answer(id), is_ok);
        }
        self.in_flight -= 1;
    }

    /// A resource is not subscribed to any more.
    pub(crate) fn on_unsubscribed(&mut self) {
        self.in_flight -= 1;
    }

    fn on_settled(&mut self, env: &mut Env, uri: &str, waited_for: WaitsFor, is_ok: bool) {
        // It can have been released in the meantime, and subscribed to again.
        let resource = self.resources.get_mut(uri).filter(|it| it.waits_for == waited_for);
        let Some(resource) = resource else { return };
        resource.waits_for = WaitsFor::Nothing;
        if !is_ok {
            self.resources.remove(uri);
        }
        let mut nearer = Vec::new();
        for (call, it) in &mut self.open {
            let Ok(index) = it.asked.uris.binary_search_by(|asked| (**asked).cmp(uri)) else {
                continue;
            };
            if !is_ok {
                it.asked.uris.remove(index);
            }
            it.waits -= 1;
            nearer.push(*call);
        }
        nearer.into_iter().for_each(|call| self.check(env, call));
    }

    /// Reports what a subscription covers, once that is known. (STL-35)
    pub(crate) fn check(&mut self, env: &mut Env, call: CallId) {
        let Some(open) = self.open.get_mut(&call) else { return };
        if open.waits > 0 || open.acknowledged.is_some() {
            return;
        }
        let filter = open.asked.clone();
        open.acknowledged = Some(filter.clone());
        env.emit(Event::Listening { call, filter });
    }

    /// Removes a subscription that has ended. Returns what it asked for.
    pub(crate) fn end(&mut self, env: &Env, call: CallId) -> Option<Filter> {
        // What is open at the end of the connection is what to subscribe to on the next one.
        // (STL-38)
        if env.phase() == Phase::Closed {
            return None;
        }
        self.open.remove(&call).map(|it| it.asked)
    }

    /// In a session: the subscriptions that cover a change.
    pub(crate) fn receivers(&self, method: MethodId, params: &Params<'_>) -> Vec<CallId> {
        if method != MethodId::ResourceUpdated {
            return self.covering(|filter| filter.matches_list(method));
        }
        let uri = params.member("uri").and_then(unescape).unwrap_or_default();
        let covering = self.covering(|filter| filter.matches_uri(&uri));
        if covering.is_empty() {
            // It may be a part of something, by a rule that only the server knows.
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
