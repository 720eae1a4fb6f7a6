//! The modern era: each request carries its own context, and only clients send requests.

use alloc::vec::Vec;
use alloc::{format, vec};

use super::super::context::Env;
use super::super::inbound::{Destination, Inbound, InboundRequest};
use super::super::pending_calls::{NewCall, Owner, PendingCalls};
use super::super::subscriptions::client::Subscriptions;
use super::rules::LogTarget;
use crate::collections::LazyBox;
use crate::error::{Misuse, Unencodable};
use crate::json::{Object, Raw};
use crate::meta::write_revisions;
use crate::method::MethodId;
use crate::permissions;
use crate::revision::{Capability, MethodRule, Revision, Side};
use crate::rpc::{self, Params, RequestId};
use crate::schema::{Capabilities, Level, key};
use crate::vocabulary::{
    CallId, CallOptions, Event, Filter, IncomingId, NeededInput, Peer, Route, ViolationKind,
};

/// Sets the log level that all further requests carry.
// LOG-05: the level is per request.
pub(super) fn set_log_level(
    env: &mut Env,
    calls: &mut PendingCalls,
    level: Level,
) -> Result<CallId, Misuse> {
    env.require(env.allows().traffic)?;
    if !env.terms.peer.as_ref().is_some_and(|peer| peer.has(Capability::Logging)) {
        return Err(Misuse::Undeclared);
    }
    env.terms.log_level = Some(level);
    Ok(calls.complete_now(env, Raw::empty_object()))
}

/// Subscribes with one `subscriptions/listen` call, which stays open.
pub(super) fn listen(
    env: &mut Env,
    calls: &mut PendingCalls,
    subscriptions: &mut LazyBox<Subscriptions>,
    filter: &Filter,
    options: &CallOptions,
) -> Result<CallId, Misuse> {
    let mut filter = filter.clone();
    // LIF-34: a server without the extension does not receive its elements.
    let (extensions, revision) = (&env.identity.extensions, env.revision());
    filter.elements.retain(|(key, _)| {
        let theirs = env.terms.peer.as_deref().map(|peer| &peer.capabilities);
        theirs.is_some_and(|theirs| extensions.shares_listen_key(key, revision, theirs))
    });
    let mut params = Vec::new();
    let mut object = Object::begin(&mut params);
    filter.write(object.key("notifications"));
    object.end();
    if calls.table().len() >= env.limits().calls_max {
        return Err(Misuse::Blocked);
    }
    let rule = env.own_call_rule(Some(MethodId::Listen), &params)?;
    let wait = options.wait_for(rule, env.limits());
    let new = NewCall {
        wants_progress: options.progress,
        ..NewCall::own(MethodId::Listen, rule, &params, Owner::Listen, wait)
    };
    let id = calls.send(env, new);
    let call = CallId(id);
    subscriptions.open(call, filter);
    Ok(call)
}

/// Returns the subscription that a notification belongs to; `None` if it has no receiver or was
/// an acknowledgement.
pub(super) fn receivers(
    env: &mut Env,
    calls: &mut PendingCalls,
    subscriptions: &mut LazyBox<Subscriptions>,
    method: MethodId,
    params: &Params<'_>,
) -> Option<Vec<CallId>> {
    let call = tagged(env, calls, subscriptions, method, params)?;
    if method != MethodId::Acknowledged {
        return Some(vec![call]);
    }
    acknowledged(env, calls, subscriptions, call, params);
    None
}

// STL-33, T-100: returns the subscription named in `_meta`; reports a violation if not open.
fn tagged(
    env: &mut Env,
    calls: &PendingCalls,
    subscriptions: &Subscriptions,
    method: MethodId,
    params: &Params<'_>,
) -> Option<CallId> {
    let id = params.meta_member(key::SUBSCRIPTION_ID).and_then(RequestId::from_json);
    let call = id.as_ref().and_then(RequestId::as_u64).map(CallId);
    let is_acknowledged = call.and_then(|call| subscriptions.is_acknowledged(call));
    match is_acknowledged {
        Some(is_acknowledged) if is_acknowledged || method == MethodId::Acknowledged => {
            return call;
        }
        // The notification crossed the end of its subscription.
        None if call.is_some_and(|call| calls.table().is_retired(call.0)) => return None,
        _ => {}
    }
    let why = match (is_acknowledged, id) {
        (Some(_), Some(id)) => format!("{method} before {id} was acknowledged"),
        (_, Some(id)) => format!("{method} for unknown subscription {id}"),
        (_, None) => format!("{method} without a subscription id"),
    };
    env.violation(ViolationKind::UnknownSubscription, why);
    None
}

// STL-29, STL-30: the acknowledgement names the part of the filter that the server honors.
fn acknowledged(
    env: &mut Env,
    calls: &mut PendingCalls,
    subscriptions: &mut Subscriptions,
    call: CallId,
    params: &Params<'_>,
) {
    let filter =
        params.member("notifications").and_then(|filter| env.read_filter(filter, env.revision()));
    match subscriptions.acknowledge(call, filter, env.limits()) {
        Ok(filter) => {
            calls.remove_deadline(call);
            env.emit(Event::Subscribed { call, filter });
        }
        Err(why) => env.bad_notification(MethodId::Acknowledged.name(), why),
    }
}

/// Handles a cancellation by the server. Returns the wire id of the subscription to end, if any.
// CAN-14, CAN-18, T-101: a server may only cancel subscriptions.
pub(in super::super) fn on_cancelled(
    env: &mut Env,
    calls: &PendingCalls,
    subscriptions: &Subscriptions,
    id: &RequestId,
) -> Option<u64> {
    let wire = id.as_u64();
    let call = wire.map(CallId).filter(|call| subscriptions.is_acknowledged(*call).is_some());
    let crossed_its_end = wire.is_some_and(|wire| calls.table().is_retired(wire));
    if call.is_none() && !crossed_its_end {
        env.bad_notification(MethodId::Cancelled.name(), "`requestId` names no subscription");
    }
    call.map(|call| call.0)
}

/// Returns the target of a log message that belongs to a request.
// LOG-05…07: without a level in the request, no log messages are sent.
pub(super) fn log_to(
    env: &Env,
    open: &InboundRequest,
    level: Level,
    route: Route,
) -> Result<LogTarget, Misuse> {
    if !env.identity.capabilities.has(Capability::Logging) {
        return Err(Misuse::Undeclared);
    }
    if open.log_level.is_none_or(|threshold| level < threshold) {
        return Ok(LogTarget::Discard);
    }
    env.require_room(route)?;
    Ok(LogTarget::Request(route))
}

/// Responds to a request with `input_required`; the client retries it with the answers.
// STL-13…17, HTTP-21, STL-27: a modern server sends no requests and does not wait for the retry.
pub(super) fn ask(
    env: &mut Env,
    inbound: &mut Inbound,
    incoming: IncomingId,
    questions: &[(&str, NeededInput)],
    state: Option<&str>,
) -> Result<(), Misuse> {
    let open = inbound.requests().get(incoming).ok_or(Misuse::Stale)?;
    let mut result = Vec::new();
    let mut object = Object::begin(&mut result);
    object.str("resultType", "input_required");
    if !questions.is_empty() {
        let mut requests = Object::begin(object.key("inputRequests"));
        for (key, question) in questions {
            write_question(requests.key(key), question, &open.peer)?;
        }
        requests.end();
    }
    object.opt_str("requestState", state);
    object.end();
    env.terms.meta.finish_result(&mut result, 0, open.rule);
    let to_answer = open.to_answer();
    inbound
        .answer::<Raw>(env, incoming, to_answer, None, |out, wire| {
            rpc::response(out, wire, |out| {
                out.extend_from_slice(&result);
                Ok(())
            })
        })
        .map(|_| ())
}

// CAP-16: writes one question; fails unless the client declared the capability for it.
fn write_question(out: &mut Vec<u8>, question: &NeededInput, peer: &Peer) -> Result<(), Misuse> {
    let mut params = Vec::new();
    question.write(peer.revision, &mut params).map_err(|Unencodable| {
        permissions::encoding_misuse(|revision, out| question.write(revision, out))
    })?;
    if params.first().is_some_and(|first| *first != b'{') {
        return Err(Misuse::Unencodable);
    }
    let rule = MethodId::from_name(question.method())
        .and_then(|method| MethodRule::question(method, peer.revision))
        .ok_or(Misuse::Unsupported)?;
    let params = (!params.is_empty()).then_some(params.as_slice());
    let needs = permissions::input_request_needs(rule, params, Capabilities::none())?;
    if !peer.capabilities.has_all(&needs) {
        return Err(Misuse::Undeclared);
    }
    let mut request = Object::begin(out);
    request.str("method", rule.name);
    if let Some(params) = params {
        request.raw("params", params);
    }
    request.end();
    Ok(())
}

/// Answers `server/discover`.
// LIF-22, STL-39: the result lists the modern revisions and the capabilities.
pub(in super::super) fn discover(
    env: &mut Env,
    inbound: &mut Inbound,
    to: Destination,
    id: &RequestId,
    peer: &Peer,
) {
    let mut result = Vec::new();
    let mut object = Object::begin(&mut result);
    write_revisions(object.key("supportedVersions"), &env.identity.revisions, Revision::is_modern);
    let capabilities = env.identity.declared_in(peer.revision);
    capabilities.write(object.key("capabilities"), Side::Server, peer.revision);
    object.opt_str("instructions", env.identity.instructions.as_deref());
    object.end();
    env.terms.meta.finish_result(&mut result, 0, MethodId::Discover.rule(peer.revision));
    inbound.accept_with(env, to, id, |out| {
        out.extend_from_slice(&result);
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::vocabulary::CallError;

    #[test]
    fn a_server_cancels_subscriptions_and_nothing_else_can_14_can_18() {
        let mut env = Env::for_test(Side::Client, Limits::default(), Revision::V2026_07_28);
        let (mut calls, mut subscriptions) = (PendingCalls::default(), LazyBox::default());
        let mut listen = |env: &mut Env, calls: &mut PendingCalls| {
            let (filter, options) = (Filter::new().tools(), CallOptions::default());
            listen(env, calls, &mut subscriptions, &filter, &options).unwrap()
        };
        let open = listen(&mut env, &mut calls);
        let ended = listen(&mut env, &mut calls);
        calls.retire(&mut env, ended.0, CallError::SubscriptionEnded);
        subscriptions.remove(&env, ended);
        let other = calls.insert_local(Owner::Application);
        env.take_events();
        for (id, cancels, violations) in [
            (RequestId::from(open.0), Some(open.0), 0),
            // The cancellation crossed the end of the subscription.
            (RequestId::from(ended.0), None, 0),
            (RequestId::from(other.0), None, 1),
            (RequestId::from(99), None, 1),
            (RequestId::from("1"), None, 1),
        ] {
            assert_eq!(on_cancelled(&mut env, &calls, &subscriptions, &id), cancels, "{id}");
            assert_eq!(env.take_events().len(), violations, "{id}");
        }
    }
}
