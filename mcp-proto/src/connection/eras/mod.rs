//! Dispatches to [`legacy`] or [`modern`]; rules that need no part are in [`rules`].

pub(super) mod legacy;
pub(super) mod modern;
pub(super) mod rules;

use super::context::Env;
use super::inbound::{Inbound, InboundRequest};
use super::pending_calls::PendingCalls;
use super::subscriptions::client::Subscriptions;
use crate::cache::Cache;
use crate::collections::LazyBox;
use crate::error::Misuse;
use crate::json::Raw;
use crate::method::MethodId;
use crate::revision::{Era, Side};
use crate::rpc::Params;
use crate::schema::Level;
use crate::vocabulary::{CallId, CallOptions, Event, Filter, IncomingId, NeededInput, Route};

use rules::{Delivery, LogTarget};

/// Returns whether the peer may be waiting for our responses before it can answer our calls.
pub(super) fn peer_may_be_waiting(env: &Env, inbound: &Inbound) -> bool {
    match env.era() {
        Era::Legacy => env.side() == Side::Client && !inbound.requests().is_empty(),
        Era::Modern => false,
    }
}

/// Client: sets the log level; returns `None` if that requires a call of `logging/setLevel`.
pub(super) fn set_log_level(
    env: &mut Env,
    calls: &mut PendingCalls,
    level: Level,
) -> Result<Option<CallId>, Misuse> {
    match env.era() {
        Era::Legacy => Ok(None),
        Era::Modern => modern::set_log_level(env, calls, level).map(Some),
    }
}

/// Client: subscribes to the changes that `filter` selects.
pub(super) fn listen(
    env: &mut Env,
    calls: &mut PendingCalls,
    subscriptions: &mut LazyBox<Subscriptions>,
    filter: &Filter,
    options: &CallOptions,
) -> Result<CallId, Misuse> {
    match env.era() {
        Era::Legacy => legacy::listen(env, calls, subscriptions, filter, options),
        Era::Modern => modern::listen(env, calls, subscriptions, filter, options),
    }
}

/// Client: reports a new legacy subscription that is already complete.
pub(super) fn on_subscription_begun(
    env: &mut Env,
    subscriptions: &mut LazyBox<Subscriptions>,
    call: CallId,
) {
    match env.era() {
        Era::Legacy => subscriptions.report_if_settled(env, call),
        Era::Modern => {}
    }
}

/// Client: releases the resources of a subscription that has ended.
pub(super) fn on_subscription_ended(env: &Env, subscriptions: &mut Subscriptions, filter: &Filter) {
    match env.era() {
        Era::Legacy if env.allows().traffic => subscriptions.release(filter),
        Era::Legacy | Era::Modern => {}
    }
}

/// Client: delivers a change notification to the subscriptions that it belongs to.
pub(super) fn on_subscription_notification(
    env: &mut Env,
    calls: &mut PendingCalls,
    subscriptions: &mut LazyBox<Subscriptions>,
    cache: &mut LazyBox<Cache>,
    method: MethodId,
    params: &Params<'_>,
    kept: Option<Raw>,
) {
    let receivers = match env.era() {
        Era::Legacy => Some(subscriptions.receivers(method, params)),
        Era::Modern => modern::receivers(env, calls, subscriptions, method, params),
    };
    let Some(receivers) = receivers else { return };
    if env.limits().cache_bytes_max > 0 {
        cache.invalidate_for(method);
    }
    let mut emit = |call| {
        env.emit(Event::Notification { call, method: method.into(), params: kept.clone() });
    };
    if receivers.is_empty() {
        return emit(None);
    }
    receivers.into_iter().for_each(|call| emit(Some(call)));
}

/// Returns the call that a log message belongs to, if it is unambiguous.
pub(super) fn logged_call(env: &Env, calls: &PendingCalls) -> Option<CallId> {
    match env.era() {
        Era::Legacy => None,
        Era::Modern => calls.only_logged(),
    }
}

/// Returns the target of a log message that belongs to the request `open`, or to none.
// LOG-05…07: a modern request sets its own threshold.
pub(super) fn log_to(
    env: &Env,
    open: Option<&InboundRequest>,
    level: Level,
) -> Result<LogTarget, Misuse> {
    let route = Route::of(open.and_then(InboundRequest::stream));
    match open.map(|open| (open, open.peer.revision.era())) {
        Some((open, Era::Modern)) => modern::log_to(env, open, level, route),
        Some((_, Era::Legacy)) | None => Ok(legacy::log_to(env, level, route)),
    }
}

/// Server: asks for the input of a request. Returns whether the questions must be sent as requests.
pub(super) fn ask(
    env: &mut Env,
    calls: &PendingCalls,
    inbound: &mut Inbound,
    incoming: IncomingId,
    questions: &[(&str, NeededInput)],
    state: Option<&str>,
) -> Result<Delivery, Misuse> {
    let open = inbound
        .requests()
        .get(incoming)
        .filter(|open| open.asking().is_none())
        .ok_or(Misuse::Stale)?;
    if !open.rule.is_some_and(|rule| rule.may_ask) {
        return Err(Misuse::Unsupported);
    }
    let is_repeated = |(index, (key, _)): (usize, &(&str, NeededInput))| {
        questions.iter().take(index).any(|(earlier, _)| earlier == key)
    };
    if (questions.is_empty() && state.is_none()) || questions.iter().enumerate().any(is_repeated) {
        return Err(Misuse::Unencodable);
    }
    if questions.len() > env.limits().input_requests_max {
        return Err(Misuse::Blocked);
    }
    match open.peer.revision.era() {
        Era::Legacy => legacy::ask(env, calls, inbound, incoming, questions, state),
        Era::Modern => {
            modern::ask(env, inbound, incoming, questions, state)?;
            Ok(Delivery::InResult)
        }
    }
}
