//! The legacy era: a handshake opens a session, and both sides send requests.

use alloc::vec::Vec;

use super::super::context::Env;
use super::super::inbound::{Inbound, ReplyTo};
use super::super::lifecycle::phase::Phase;
use super::super::pending_calls::{Owner, PendingCalls};
use super::super::subscriptions::client::Subscriptions;
use super::rules::{Delivery, LogTarget, WrittenQuestion};
use crate::collections::LazyBox;
use crate::error::{Misuse, Unencodable};
use crate::method::MethodId;
use crate::permissions;
use crate::schema::Level;
use crate::vocabulary::{CallId, CallOptions, Filter, IncomingId, NeededInput, Route};

/// Subscribes with one `resources/subscribe` per new URI, a bounded number at a time.
pub(super) fn listen(
    env: &Env,
    calls: &mut PendingCalls,
    subscriptions: &mut LazyBox<Subscriptions>,
    filter: &Filter,
    options: &CallOptions,
) -> Result<CallId, Misuse> {
    let mut asked = match &env.terms.peer {
        Some(peer) => filter.offered_by(&peer.capabilities),
        None => Filter::new(),
    };
    // Only modern subscriptions select elements.
    asked.elements = Vec::new();
    asked.normalize();
    let calls_max = env.limits().calls_max;
    let queued = subscriptions.queued();
    // One subscription may queue any number of URIs; the next is blocked until some are sent.
    if calls.table().len() >= calls_max || (queued > 0 && queued + asked.uris.len() > calls_max) {
        return Err(Misuse::Blocked);
    }
    let call = calls.insert_local(Owner::Listen);
    subscriptions.begin(call, asked, options);
    Ok(call)
}

/// Returns the target of a log message; it is discarded without a session or below the threshold.
// LOG-02, LOG-06: the threshold is set by `logging/setLevel`.
pub(super) fn log_to(env: &Env, level: Level, route: Route) -> LogTarget {
    let never_had_session = env.phase() == Phase::Draining && env.terms.peer.is_none();
    let has_no_client = env.has_no_session() || never_had_session;
    if has_no_client || env.terms.log_level.is_some_and(|threshold| level < threshold) {
        LogTarget::Discard
    } else {
        LogTarget::Session(route)
    }
}

/// Encodes the questions as requests; fails before any is sent if one is invalid.
// LIF-10, T-28: questions are held until the client has completed the handshake.
pub(super) fn ask(
    env: &mut Env,
    calls: &PendingCalls,
    inbound: &mut Inbound,
    incoming: IncomingId,
    questions: &[(&str, NeededInput)],
    state: Option<&str>,
) -> Result<Delivery, Misuse> {
    let open = inbound.requests().get(incoming).ok_or(Misuse::Stale)?;
    let ReplyTo::Peer { to, .. } = open.reply else { return Err(Misuse::Unsupported) };
    let limits = env.limits();
    let fits = open.rounds() < limits.input_rounds_max
        && calls.table().len() + inbound.requests().held_questions() + questions.len()
            <= limits.calls_max;
    if !fits {
        return Err(Misuse::Blocked);
    }
    let allowed = env.allows();
    env.require(allowed.traffic || allowed.serving)?;
    env.require_room(Route::Stream(to.stream))?;
    let mut written = Vec::with_capacity(questions.len());
    for (_, question) in questions {
        let mut params = Vec::new();
        question.write(env.revision(), &mut params).map_err(|Unencodable| {
            permissions::encoding_misuse(|revision, out| question.write(revision, out))
        })?;
        env.own_call_rule(MethodId::from_name(question.method()), &params)?;
        written.push(WrittenQuestion { method: question.method().into(), params });
    }
    let is_held = !allowed.traffic && !written.is_empty();
    let bytes: usize = written.iter().map(|question| question.params.len()).sum();
    if is_held && inbound.requests().bytes() + bytes > limits.requests_bytes_max {
        return Err(Misuse::Blocked);
    }
    inbound.begin_asking(env, incoming, questions, state);
    if is_held {
        inbound.hold(incoming, written);
        return Ok(Delivery::Held);
    }
    Ok(Delivery::ByRequests(written))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::revision::{Revision, Side};

    #[test]
    fn a_log_message_below_the_threshold_is_discarded_log_02_log_06() {
        let mut env = Env::for_test(Side::Server, Limits::default(), Revision::V2025_11_25);
        let is_sent = |env: &Env, level| {
            matches!(log_to(env, level, Route::Any), LogTarget::Session(Route::Any))
        };
        assert!(is_sent(&env, Level::Debug), "no threshold is set");
        env.terms.log_level = Some(Level::Warning);
        let sent = [Level::Notice, Level::Warning, Level::Error].map(|level| is_sent(&env, level));
        assert_eq!(sent, [false, true, true]);
        env.terms.phase = Phase::Draining;
        assert!(is_sent(&env, Level::Error), "responses are still sent");
        env.terms.peer = None;
        assert!(!is_sent(&env, Level::Error), "no session was opened");
    }
}
