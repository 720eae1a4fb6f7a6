//! What differs between the two eras and takes parts of a connection: the dispatch to [`legacy`]
//! and [`modern`]. What needs no part is in [`rules`].

pub(super) mod legacy;
pub(super) mod modern;
pub(super) mod rules;

use super::context::Env;
use super::inbound::{Inbound, Open};
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
use crate::vocabulary::{CallId, CallOptions, Event, Filter, IncomingId, Question, Route};

use rules::{Asked, LogTo};

/// Returns whether the peer may wait for answers of this side before it answers this side's calls.
pub(super) fn may_be_asked(env: &Env, inbound: &Inbound) -> bool {
    match env.era() {
        Era::Legacy => env.side == Side::Client && !inbound.is_empty(),
        Era::Modern => false,
    }
}

/// Client: has the server send log messages of `level` and above.
///
/// `None` where that takes a call of `logging/setLevel`.
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

/// Client: listens to changes.
pub(super) fn listen(
    env: &mut Env,
    calls: &mut PendingCalls,
    listens: &mut LazyBox<Subscriptions>,
    filter: &Filter,
    options: &CallOptions,
) -> Result<CallId, Misuse> {
    match env.era() {
        Era::Legacy => legacy::listen(env, calls, listens, filter, options),
        Era::Modern => modern::listen(env, calls, listens, filter, options),
    }
}

/// Client: a subscription was begun, and what it had to ask was sent.
pub(super) fn on_listening(env: &mut Env, listens: &mut LazyBox<Subscriptions>, call: CallId) {
    match env.era() {
        Era::Legacy => listens.check(env, call),
        Era::Modern => {}
    }
}

/// Client: a subscription has ended.
pub(super) fn unlisten(env: &Env, listens: &mut LazyBox<Subscriptions>, call: CallId) {
    let Some(listens) = listens.allocated_mut() else { return };
    let Some(filter) = listens.end(env, call) else { return };
    match env.era() {
        Era::Legacy if env.allows().traffic => listens.release(&filter),
        Era::Legacy | Era::Modern => {}
    }
}

/// Client: a notification that belongs to subscriptions, for those that it belongs to.
pub(super) fn on_change(
    env: &mut Env,
    calls: &mut PendingCalls,
    listens: &mut LazyBox<Subscriptions>,
    cache: &mut LazyBox<Cache>,
    method: MethodId,
    params: &Params<'_>,
    kept: Option<Raw>,
) {
    let receivers = match env.era() {
        Era::Legacy => Some(listens.receivers(method, params)),
        Era::Modern => modern::receivers(env, calls, listens, method, params),
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

/// Returns the call that a log message belongs to, where that can be known.
pub(super) fn logged_call(env: &Env, calls: &PendingCalls) -> Option<CallId> {
    match env.era() {
        Era::Legacy => None,
        Era::Modern => calls.only_logged(),
    }
}

/// Returns where a log message goes that belongs to `open`, or to no request. (LOG-05…07)
pub(super) fn log_to(env: &Env, open: Option<&Open>, level: Level) -> Result<LogTo, Misuse> {
    let route = Route::of(open.and_then(Open::stream));
    match open.map(|open| (open, open.peer.revision.era())) {
        Some((open, Era::Modern)) => modern::log_to(env, open, level, route),
        Some((_, Era::Legacy)) | None => Ok(legacy::log_to(env, level, route)),
    }
}

/// Server: answers a request with questions. Returns whether that was all; otherwise the questions
/// are calls to be placed.
pub(super) fn ask(
    env: &mut Env,
    calls: &PendingCalls,
    inbound: &mut Inbound,
    incoming: IncomingId,
    questions: &[(&str, Question)],
    state: Option<&str>,
) -> Result<Asked, Misuse> {
    let open = inbound.get(incoming).filter(|open| open.asking().is_none()).ok_or(Misuse::Stale)?;
    if !open.rule.is_some_and(|rule| rule.may_ask) {
        return Err(Misuse::Unsupported);
    }
    let is_repeated = |(index, (key, _)): (usize, &(&str, Question))| {
        questions.iter().take(index).any(|(earlier, _)| earlier == key)
    };
    if (questions.is_empty() && state.is_none()) || questions.iter().enumerate().any(is_repeated) {
        return Err(Misuse::Unencodable);
    }
    if questions.len() > env.limits().questions_max {
        return Err(Misuse::Blocked);
    }
    match open.peer.revision.era() {
        Era::Legacy => legacy::ask(env, calls, inbound, incoming, questions, state),
        Era::Modern => {
            modern::ask(env, inbound, incoming, questions, state)?;
            Ok(Asked::InResult)
        }
    }
}
