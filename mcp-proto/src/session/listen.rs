//! Hearing of changes: a client's subscriptions, in both eras; knows nothing of how a server comes to tell of them.
//!
//! A subscription is a long call. Without sessions it is one request that stays open, and what belongs to it is tagged
//! with its id. In a session it is a set of `resources/subscribe`, and what the server tells of by itself is handed to
//! whoever listens for it. (STL-29…38, T-100…T-104, T-122)

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use super::calls::{Asker, CallId, CallOptions};
use super::core::Core;
use super::event::Event;
use super::filter::Filter;
use super::guard::ViolationKind;
use super::outcome::CallError;
use super::peer::Method;
use crate::collections::Empty;
use crate::error::Misuse;
use crate::json::{Object, Raw, unescape};
use crate::revision::{MethodRule, PROMPTS_CHANGED, RESOURCE_UPDATED, RESOURCES_CHANGED, TOOLS_CHANGED};
use crate::rpc::{Params, RequestId};
use crate::schema::key;
use crate::time::Instant;

/// The open subscriptions of a client.
#[derive(Debug, Default)]
pub(crate) struct Listens {
    open: BTreeMap<CallId, Listen>,
    /// In a session: the resources that are subscribed to, or will be.
    subscribed: BTreeMap<Box<str>, Subscribed>,
    /// Which resource a call subscribes to that was not answered yet.
    asked: BTreeMap<u64, Box<str>>,
    /// What to ask of the server once it has answered some of what it was asked.
    queue: BTreeMap<Box<str>, Queued>,
    /// Calls that subscribe or unsubscribe and were not answered yet; some as long as anything is queued.
    in_flight: usize,
}

#[derive(Debug)]
struct Subscribed {
    /// How many listen to it.
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
    /// To subscribe, and how long to wait for the answer; the server may be subscribed to still.
    Subscribe {
        timeout: Option<Duration>,
        timeout_max: Option<Duration>,
        is_known: bool,
    },
    Unsubscribe,
}

#[derive(Debug)]
struct Listen {
    /// In a session its URIs are sorted, and none is there twice.
    asked: Filter,
    /// In a session: how many of its URIs wait for something.
    waits: usize,
    /// What will be told of, once that is known.
    heard: Option<Filter>,
}

impl Empty for Listens {
    const EMPTY: &'static Self = &Self {
        open: BTreeMap::new(),
        subscribed: BTreeMap::new(),
        asked: BTreeMap::new(),
        queue: BTreeMap::new(),
        in_flight: 0,
    };
}

impl Listens {
    /// What is listened to, with the calls that do.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (CallId, &Filter)> {
        self.open.iter().map(|(call, listen)| (*call, listen.heard.as_ref().unwrap_or(&listen.asked)))
    }

    /// One listener more to a resource; whether it has to wait.
    fn remember(&mut self, uri: &str, options: &CallOptions) -> bool {
        if let Some(subscribed) = self.subscribed.get_mut(uri) {
            subscribed.listeners += 1;
            return subscribed.waits_for != WaitsFor::Nothing;
        }
        let (timeout, timeout_max) = (options.timeout, options.timeout_max);
        let is_known = self.queue.contains_key(uri);
        self.queue.insert(uri.into(), Queued::Subscribe { timeout, timeout_max, is_known });
        self.subscribed.insert(uri.into(), Subscribed { listeners: 1, waits_for: WaitsFor::Turn });
        true
    }

    /// One listener less to a resource.
    fn forget(&mut self, uri: &str) {
        let Some(subscribed) = self.subscribed.get_mut(uri) else { return };
        subscribed.listeners -= 1;
        if subscribed.listeners > 0 {
            return;
        }
        self.subscribed.remove(uri);
        if let Some(Queued::Subscribe { is_known: false, .. }) = self.queue.get(uri) {
            self.queue.remove(uri);
        } else {
            self.queue.insert(uri.into(), Queued::Unsubscribe);
        }
    }
}

/// Calls that subscribe or unsubscribe and are on their way together: the others find room beside them.
const IN_FLIGHT_MAX: usize = 64;

impl Core {
    pub(crate) fn listening(&self) -> impl Iterator<Item = (CallId, &Filter)> {
        self.listens.iter()
    }

    pub(crate) fn listen(
        &mut self,
        now: Instant,
        filter: &Filter,
        options: &CallOptions,
    ) -> Result<CallId, Misuse> {
        self.advance(now);
        self.require(self.phase.allows().traffic)?;
        self.has_room(None)?;
        if self.listens.open.len() >= self.limits().subscriptions_max {
            return Err(Misuse::Blocked);
        }
        if self.rules().servers_ask {
            return self.listen_in_session(filter, options);
        }
        let write = |_, out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            filter.write(params.key("notifications"));
            params.end();
            Ok(())
        };
        let call = CallId(self.place_call("subscriptions/listen", &write, options, Asker::Listen)?);
        self.listens.open.insert(call, Listen { asked: filter.clone(), waits: 0, heard: None });
        Ok(call)
    }

    /// One `resources/subscribe` for each URI that nobody is subscribed to yet, a few at a time.
    fn listen_in_session(&mut self, filter: &Filter, options: &CallOptions) -> Result<CallId, Misuse> {
        let mut asked = match &self.peer {
            Some(peer) => filter.offered_by(&peer.capabilities),
            None => Filter::new(),
        };
        asked.uris.sort_unstable();
        asked.uris.dedup();
        let calls_max = self.limits().calls_max;
        let queued = self.listens.queue.len();
        // One can name as many as it likes, and others then wait until some of them are through.
        if self.calls.len() >= calls_max || (queued > 0 && queued + asked.uris.len() > calls_max) {
            return Err(Misuse::Blocked);
        }
        let call = CallId(self.calls.insert_unsent(Asker::Listen));
        let waits = asked.uris.iter().filter(|uri| self.listens.remember(uri, options)).count();
        self.listens.open.insert(call, Listen { asked, waits, heard: None });
        self.ask_queued();
        self.check_subscribed(call);
        Ok(call)
    }

    /// Asks the server for what is queued, as far as there is room; for one thing at a time there always is.
    fn ask_queued(&mut self) {
        let calls_max = self.limits().calls_max;
        while self.listens.in_flight == 0
            || (self.listens.in_flight < IN_FLIGHT_MAX && self.calls.len() < calls_max)
        {
            let Some((uri, queued)) = self.listens.queue.pop_first() else { return };
            let (method, asker, options) = match queued {
                Queued::Subscribe { timeout, timeout_max, .. } => {
                    let options = CallOptions { timeout, timeout_max, ..CallOptions::default() };
                    ("resources/subscribe", Asker::Subscribe, options)
                }
                Queued::Unsubscribe => ("resources/unsubscribe", Asker::Unsubscribe, CallOptions::default()),
            };
            let params = |_, out: &mut Vec<u8>| {
                let mut params = Object::begin(out);
                params.str("uri", &uri);
                params.end();
                Ok(())
            };
            let Ok(wire) = self.place_beyond(method, &params, &options, asker) else {
                self.settle_subscribed(&uri, WaitsFor::Turn, false);
                continue;
            };
            self.listens.in_flight += 1;
            if asker == Asker::Subscribe {
                if let Some(subscribed) = self.listens.subscribed.get_mut(&uri) {
                    subscribed.waits_for = WaitsFor::Answer(wire);
                }
                self.listens.asked.insert(wire, uri);
            }
        }
    }

    /// One resource is subscribed to, or cannot be: whoever waits for it is nearer to its end.
    pub(super) fn subscribed(&mut self, call: CallId, outcome: &Result<Raw, CallError>) {
        if let Some(uri) = self.listens.asked.remove(&call.0) {
            self.settle_subscribed(&uri, WaitsFor::Answer(call.0), outcome.is_ok());
        }
        self.unsubscribed();
    }

    fn settle_subscribed(&mut self, uri: &str, waited_for: WaitsFor, is_ok: bool) {
        let subscribed = self.listens.subscribed.get_mut(uri);
        // It can have been given up meanwhile, and asked for anew.
        let Some(subscribed) = subscribed.filter(|it| it.waits_for == waited_for) else { return };
        subscribed.waits_for = WaitsFor::Nothing;
        if !is_ok {
            self.listens.subscribed.remove(uri);
        }
        let mut nearer = Vec::new();
        for (call, listen) in &mut self.listens.open {
            let Ok(index) = listen.asked.uris.binary_search_by(|asked| (**asked).cmp(uri)) else { continue };
            if !is_ok {
                listen.asked.uris.remove(index);
            }
            listen.waits -= 1;
            nearer.push(*call);
        }
        nearer.into_iter().for_each(|call| self.check_subscribed(call));
    }

    /// The server was asked for one thing less than before: the next has its turn.
    pub(super) fn unsubscribed(&mut self) {
        self.listens.in_flight -= 1;
        self.ask_queued();
    }

    /// Tells the application what it will hear of, once that is known. (STL-35)
    fn check_subscribed(&mut self, call: CallId) {
        let Some(listen) = self.listens.open.get_mut(&call) else { return };
        if listen.waits > 0 || listen.heard.is_some() {
            return;
        }
        let filter = listen.asked.clone();
        listen.heard = Some(filter.clone());
        self.events.push(Event::Listening { call, filter });
    }

    /// Forgets a subscription that has ended, and in a session unsubscribes from what nobody listens to any more.
    pub(super) fn unlisten(&mut self, call: CallId) {
        // What was listened to at the end is what to listen to anew. (STL-38)
        if self.is_closed() {
            return;
        }
        let Some(listen) = self.listens.open.remove(&call) else { return };
        if !self.rules().servers_ask || !self.phase.allows().traffic {
            return;
        }
        listen.asked.uris.iter().for_each(|uri| self.listens.forget(uri));
        self.ask_queued();
    }

    /// The server says what it will tell of. (STL-29, STL-30)
    fn acknowledged(&mut self, call: CallId, params: &Params<'_>) {
        let (uris_max, bytes_max) =
            (self.limits().subscription_uris_max, self.limits().subscriptions_bytes_max);
        let filter = params.member("notifications").and_then(|filter| Filter::read(filter, uris_max));
        let held: usize =
            self.listens.open.values().filter_map(|it| it.heard.as_ref()).map(Filter::bytes).sum();
        let (Some(listen), Some(filter)) = (self.listens.open.get_mut(&call), filter) else {
            return self.bad_notification(ACKNOWLEDGED, "`notifications` must be a filter");
        };
        if filter.uris.len() > uris_max || held + filter.bytes() > bytes_max {
            return self.bad_notification(ACKNOWLEDGED, "`notifications` is more than this side can hold");
        }
        if listen.heard.is_some() {
            return self.bad_notification(ACKNOWLEDGED, "the subscription is acknowledged already");
        }
        let filter = filter.within(&listen.asked);
        listen.heard = Some(filter.clone());
        // From here on it is open for as long as both want it. (TMO-11)
        self.calls.wait_until(call.0, None);
        self.events.push(Event::Listening { call, filter });
    }

    /// A notification that can belong to a subscription; hands it to those that it belongs to.
    pub(super) fn changed_there(&mut self, method: &str, params: &Params<'_>, kept: Option<Raw>) {
        let rule = MethodRule::find(method, false, self.revision());
        let hears = if self.rules().servers_ask {
            self.listeners(method, params)
        } else {
            match self.tagged(method, params) {
                Some(call) if method == ACKNOWLEDGED => return self.acknowledged(call, params),
                Some(call) => alloc::vec![call],
                None => return,
            }
        };
        self.forget_cached(method);
        let mut tell = |call| {
            let method = Method::new(method, rule);
            self.events.push(Event::Notification { call, method, params: kept.clone() });
        };
        if hears.is_empty() {
            return tell(None);
        }
        hears.into_iter().for_each(|call| tell(Some(call)));
    }

    /// In a session: who listens to such changes.
    fn listeners(&self, method: &str, params: &Params<'_>) -> Vec<CallId> {
        if method != RESOURCE_UPDATED {
            return self.who(|filter| filter.names_list(method));
        }
        let uri = params.member("uri").and_then(unescape).unwrap_or_default();
        let mut hears = self.who(|filter| filter.names_uri(&uri));
        if hears.is_empty() {
            // A part of something, by a rule that only the server knows.
            hears = self.who(|filter| !filter.uris.is_empty());
        }
        hears
    }

    fn who(&self, listens: impl Fn(&Filter) -> bool) -> Vec<CallId> {
        self.listens.iter().filter(|(_, filter)| listens(filter)).map(|(call, _)| call).collect()
    }

    /// Without sessions: the subscription that a notification is tagged with. (STL-33, T-100)
    fn tagged(&mut self, method: &str, params: &Params<'_>) -> Option<CallId> {
        let id = params.meta_member(key::SUBSCRIPTION_ID).and_then(RequestId::from_json);
        let wire = id.as_ref().and_then(RequestId::as_u64);
        let call = wire.map(CallId);
        let listen = call.and_then(|call| self.listens.open.get(&call));
        match listen {
            Some(listen) if listen.heard.is_some() || method == ACKNOWLEDGED => return call,
            // It crossed the end of its subscription.
            None if wire.is_some_and(|wire| self.calls.is_retired(wire)) => return None,
            _ => {}
        }
        let why = match (listen, id) {
            (Some(_), Some(id)) => format!("{method} before {id} was acknowledged"),
            (_, Some(id)) => format!("{method} for {id}, which is no subscription"),
            (_, None) => format!("{method} without a subscription"),
        };
        self.violation(ViolationKind::UnknownSubscription, why);
        None
    }

    /// The server takes back one of our requests, which it may only do to a subscription. (CAN-14, CAN-18, T-101)
    pub(super) fn withdrawn(&mut self, id: &RequestId) {
        let wire = id.as_u64();
        let Some(call) = wire.map(CallId).filter(|call| self.listens.open.contains_key(call)) else {
            if !wire.is_some_and(|wire| self.calls.is_retired(wire)) {
                self.bad_notification("notifications/cancelled", "it names no subscription");
            }
            return;
        };
        let limits = &self.me.limits;
        if let Some(open) = self.calls.retire(call.0, limits) {
            self.complete(open.id, open.asker, Err(CallError::Withdrawn));
        }
    }
}

/// Says what a subscription will tell of.
pub(super) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Whether a notification is one that subscriptions are for.
pub(super) fn is_of_subscriptions(method: &str) -> bool {
    matches!(method, ACKNOWLEDGED | TOOLS_CHANGED | PROMPTS_CHANGED | RESOURCES_CHANGED | RESOURCE_UPDATED)
}

#[cfg(test)]
mod tests;
