//! The modern era: each request carries its own context, and only clients send requests.

use alloc::vec::Vec;
use alloc::{format, vec};

use super::super::context::Env;
use super::super::inbound::{Destination, Inbound, Open};
use super::super::pending_calls::{NewCall, Owner, PendingCalls};
use super::super::subscriptions::client::Subscriptions;
use super::rules::LogTo;
use crate::collections::LazyBox;
use crate::error::Misuse;
use crate::json::{Object, Raw};
use crate::meta::write_revisions;
use crate::method::MethodId;
use crate::permissions;
use crate::revision::{Capability, MethodRule, Revision, Side};
use crate::rpc::{self, Params, RequestId};
use crate::schema::{Capabilities, Level, key};
use crate::vocabulary::{
    CallId, CallOptions, Event, Filter, IncomingId, Peer, Question, Route, ViolationKind,
};

/// All requests from now on ask for log messages of `level` and above. (LOG-05)
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

/// Listens with one call, which stays open.
pub(super) fn listen(
    env: &mut Env,
    calls: &mut PendingCalls,
    listens: &mut LazyBox<Subscriptions>,
    filter: &Filter,
    options: &CallOptions,
) -> Result<CallId, Misuse> {
    let mut params = Vec::new();
    let mut object = Object::begin(&mut params);
    filter.write(object.key("notifications"));
    object.end();
    if calls.len() >= env.limits().calls_max {
        return Err(Misuse::Blocked);
    }
    let (method, theirs) = (MethodId::Listen, env.terms.peer.as_deref());
    let rule =
        permissions::outgoing_call(env.side, env.revision(), Some(method), &params, theirs, true)?;
    let wait = options.wait_for(rule, env.limits());
    let new = NewCall {
        wants_progress: options.progress,
        ..NewCall::own(method, rule, &params, Owner::Listen, wait)
    };
    let id = calls.send(env, new);
    let call = CallId(id);
    listens.open(call, filter.clone());
    Ok(call)
}

/// Returns the subscriptions that a notification belongs to; `None` where it belongs to none, or
/// was an acknowledgement.
pub(super) fn receivers(
    env: &mut Env,
    calls: &mut PendingCalls,
    listens: &mut LazyBox<Subscriptions>,
    method: MethodId,
    params: &Params<'_>,
) -> Option<Vec<CallId>> {
    let call = tagged(env, calls, listens, method, params)?;
    if method != MethodId::Acknowledged {
        return Some(vec![call]);
    }
    acknowledged(env, calls, listens, call, params);
    None
}

/// The subscription that a notification is tagged with. (STL-33, T-100)
fn tagged(
    env: &mut Env,
    calls: &PendingCalls,
    listens: &Subscriptions,
    method: MethodId,
    params: &Params<'_>,
) -> Option<CallId> {
    let id = params.meta_member(key::SUBSCRIPTION_ID).and_then(RequestId::from_json);
    let call = id.as_ref().and_then(RequestId::as_u64).map(CallId);
    let is_acknowledged = call.and_then(|call| listens.is_acknowledged(call));
    match is_acknowledged {
        Some(is_acknowledged) if is_acknowledged || method == MethodId::Acknowledged => {
            return call;
        }
        // It crossed the end of its subscription.
        None if call.is_some_and(|call| calls.is_retired(call.0)) => return None,
        _ => {}
    }
    let why = match (is_acknowledged, id) {
        (Some(_), Some(id)) => format!("{method} before {id} was acknowledged"),
        (_, Some(id)) => format!("{method} for {id}, which is no subscription"),
        (_, None) => format!("{method} without a subscription"),
    };
    env.violation(ViolationKind::UnknownSubscription, why);
    None
}

/// The server acknowledged a subscription. (STL-29, STL-30)
fn acknowledged(
    env: &mut Env,
    calls: &mut PendingCalls,
    listens: &mut Subscriptions,
    call: CallId,
    params: &Params<'_>,
) {
    let limits = env.limits();
    let filter = params
        .member("notifications")
        .and_then(|filter| Filter::read(filter, limits.subscription_uris_max));
    match listens.acknowledge(call, filter, limits) {
        Ok(filter) => {
            calls.wait_for_ever(call);
            env.emit(Event::Listening { call, filter });
        }
        Err(why) => env.bad_notification(MethodId::Acknowledged.name(), why),
    }
}

/// The server ends one of our calls, which it may only do to a subscription. (CAN-14, CAN-18,
/// T-101)
///
/// Returns the call's wire id, if there is one.
pub(in super::super) fn on_cancelled(
    env: &mut Env,
    calls: &PendingCalls,
    listens: &Subscriptions,
    id: &RequestId,
) -> Option<u64> {
    let wire = id.as_u64();
    let call = wire.map(CallId).filter(|call| listens.is_acknowledged(*call).is_some());
    let crossed_its_end = wire.is_some_and(|wire| calls.is_retired(wire));
    if call.is_none() && !crossed_its_end {
        env.bad_notification(MethodId::Cancelled.name(), "it names no subscription");
    }
    call.map(|call| call.0)
}

/// Returns where a log message goes that belongs to a request: each decides whether it wants any.
/// (LOG-05…07)
pub(super) fn log_to(env: &Env, open: &Open, level: Level, route: Route) -> Result<LogTo, Misuse> {
    if !env.identity.capabilities.has(Capability::Logging) {
        return Err(Misuse::Undeclared);
    }
    if open.log_level.is_none_or(|threshold| level < threshold) {
        return Ok(LogTo::Nobody);
    }
    env.require_room(route)?;
    Ok(LogTo::Request(route))
}

/// Answers a request with questions; the client repeats it as another request. (STL-13…17, STL-27)
pub(super) fn ask(
    env: &mut Env,
    inbound: &mut Inbound,
    incoming: IncomingId,
    questions: &[(&str, Question)],
    state: Option<&str>,
) -> Result<(), Misuse> {
    let open = inbound.get(incoming).ok_or(Misuse::Stale)?;
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
        .answer::<Raw>(env, incoming, to_answer, None, |out, wire, _| {
            rpc::response(out, wire, |out| {
                out.extend_from_slice(&result);
                Ok(())
            })
        })
        .map(|_| ())
}

/// Writes one question to a client that declared what answering it takes. (CAP-16)
fn write_question(out: &mut Vec<u8>, question: &Question, peer: &Peer) -> Result<(), Misuse> {
    let mut params = Vec::new();
    question.write(peer.revision, &mut params)?;
    if params.first().is_some_and(|first| *first != b'{') {
        return Err(Misuse::Unencodable);
    }
    let rule = MethodId::from_name(question.method())
        .and_then(|method| MethodRule::question(method, peer.revision))
        .ok_or(Misuse::Unsupported)?;
    let params = (!params.is_empty()).then_some(params.as_slice());
    let needs = permissions::input_request_needs(rule, params, Capabilities::none());
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

/// Answers `server/discover`. (LIF-22, STL-39)
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
    env.identity.capabilities.write(object.key("capabilities"), Side::Server, peer.revision);
    object.opt_str("instructions", env.identity.instructions.as_deref());
    object.end();
    env.terms.meta.finish_result(&mut result, 0, MethodId::Discover.rule(peer.revision));
    inbound.accept_with(env, to, id, |out| {
        out.extend_from_slice(&result);
        Ok(())
    });
}
