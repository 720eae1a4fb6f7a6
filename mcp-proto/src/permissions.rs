//! What may be sent and what is served: the method tables against what both sides declared.

use crate::error::{Misuse, code};
use crate::json::{find, find_rare, unescape};
use crate::method::MethodId;
use crate::revision::{Condition, ConditionValue, MethodRule, Revision, Side};
use crate::rpc::{ErrorObject, Params};
use crate::schema::Capabilities;
use crate::vocabulary::Peer;

/// The row of a request that we want to send to a peer that declared `theirs`; none for a method of
/// no revision. `by_itself`: the machine sends it, and not the application. (CAP-03, CAP-06,
/// CAP-09)
pub(crate) fn outgoing_request(
    side: Side,
    revision: Revision,
    method: Option<MethodId>,
    params: &[u8],
    theirs: &Capabilities,
    by_itself: bool,
) -> Result<Option<&'static MethodRule>, Misuse> {
    let Some(rule) = known(method, true, revision)? else { return Ok(None) };
    if (rule.internal && !by_itself) || !rule.is_sent_by(side) {
        return Err(Misuse::Unsupported);
    }
    let declared = rule.needs.is_none_or(|capability| theirs.has(capability))
        && rule.conditions.iter().all(|condition| {
            !applies(condition.value, find_rare(params, condition.member))
                || theirs.has(condition.needs)
        });
    if declared { Ok(Some(rule)) } else { Err(Misuse::Undeclared) }
}

/// As [`outgoing_request`], to `peer` if it is known already; `params` are an object, or nothing.
/// (JSON-17)
pub(crate) fn outgoing_call(
    side: Side,
    revision: Revision,
    method: Option<MethodId>,
    params: &[u8],
    peer: Option<&Peer>,
    by_itself: bool,
) -> Result<Option<&'static MethodRule>, Misuse> {
    if params.first().is_some_and(|first| *first != b'{') {
        return Err(Misuse::Unencodable);
    }
    let none = Capabilities::none();
    let theirs = peer.map_or(&none, |peer| &peer.capabilities);
    outgoing_request(side, revision, method, params, theirs, by_itself)
}

/// The row of a notification that we, who declared `ours`, want to send. (CAP-12, LOG-01)
pub(crate) fn outgoing_notification(
    side: Side,
    revision: Revision,
    method: Option<MethodId>,
    ours: &Capabilities,
) -> Result<Option<&'static MethodRule>, Misuse> {
    let Some(rule) = known(method, false, revision)? else { return Ok(None) };
    if rule.internal || !rule.is_sent_by(side) {
        return Err(Misuse::Unsupported);
    }
    if rule.needs.is_some_and(|capability| !ours.has(capability)) {
        return Err(Misuse::Undeclared);
    }
    Ok(Some(rule))
}

/// What the client must have declared for us to ask this of it, by its row and params; which row
/// there is depends on the revision. `besides` are added. (CAP-06, CAP-09, CAP-16)
pub(crate) fn input_request_needs(
    rule: &MethodRule,
    params: Option<&[u8]>,
    besides: Capabilities,
) -> Capabilities {
    let applying = rule.conditions.iter().filter(|condition| {
        applies(condition.value, params.and_then(|params| find(params, condition.member)))
    });
    let needs = rule.needs.into_iter().chain(applying.map(|condition| condition.needs));
    needs.fold(besides, Capabilities::with)
}

/// Whether a question of the peer is one that we, who declared `ours`, can be asked. (T-96)
pub(crate) fn accepts_input_request(
    rule: &MethodRule,
    params: Option<&[u8]>,
    ours: &Capabilities,
) -> bool {
    let member = |name| params.and_then(|params| find(params, name));
    params.is_none_or(|params| params.starts_with(b"{"))
        && rule.needs.is_none_or(|capability| ours.has(capability))
        && rule
            .text_params
            .iter()
            .all(|name| member(name).is_some_and(|value| value.starts_with(b"\"")))
        && binding(rule).all(|condition| {
            !applies(condition.value, member(condition.member)) || ours.has(condition.needs)
        })
        && (rule.conditions.is_empty()
            || rule.needs.is_some()
            || binding(rule).any(|condition| applies(condition.value, member(condition.member))))
}

/// The method's row under `revision`. A method that only other revisions have may not be sent; one
/// that no revision has is an extension's. A request is no notification, and the other way round.
fn known(
    method: Option<MethodId>,
    is_request: bool,
    revision: Revision,
) -> Result<Option<&'static MethodRule>, Misuse> {
    let Some(method) = method else { return Ok(None) };
    let rule = method.rule(revision).filter(|rule| rule.is_request == is_request);
    rule.map(Some).ok_or(Misuse::Unsupported)
}

/// Whether we, who declared `ours`, serve a request of the peer; how it is refused otherwise.
/// (CAP-04, CAP-07, CAP-10, JSON-15, JSON-16, T-09)
pub(crate) fn incoming_request(
    rule: Option<&'static MethodRule>,
    served_besides: bool,
    side: Side,
    method: &str,
    params: &Params<'_>,
    ours: &Capabilities,
    said_in: Revision,
) -> Result<(), ErrorObject> {
    match rule {
        Some(rule) => {
            let offered = rule.is_sent_by(side.other())
                && !rule.internal
                && match rule.needs {
                    Some(needed) => ours.says(needed, side, said_in),
                    // There is no word for it in the revision. (CAP-19)
                    None => rule.offered_with.is_none_or(|capability| ours.has(capability)),
                }
                // Some mode of the method must be offered for the method to be.
                && (rule.conditions.is_empty()
                    || rule.needs.is_some()
                    || binding(rule).any(|condition| ours.says(condition.needs, side, said_in)));
            if !offered {
                return Err(ErrorObject::method_not_found(method));
            }
        }
        None if served_besides => {}
        None => return Err(ErrorObject::method_not_found(method)),
    }
    if params.malformed {
        return Err(ErrorObject::invalid_params("params must be an object"));
    }
    let Some(rule) = rule else { return Ok(()) };
    check_text_params(rule, params)?;
    for condition in binding(rule) {
        if applies(condition.value, params.member(condition.member))
            && !ours.says(condition.needs, side, said_in)
        {
            return Err(ErrorObject::new(
                code::INVALID_PARAMS,
                alloc::format!("`{}` asks for what was not declared", condition.member),
            ));
        }
    }
    Ok(())
}

/// The conditions that whoever receives a request heeds.
fn binding(rule: &MethodRule) -> impl Iterator<Item = &Condition> {
    rule.conditions.iter().filter(|condition| !condition.binds_sender_only)
}

/// Whether the members that must be strings are.
pub(crate) fn check_text_params(rule: &MethodRule, params: &Params<'_>) -> Result<(), ErrorObject> {
    for name in rule.text_params {
        if !params.member(name).is_some_and(|value| value.starts_with(b"\"")) {
            return Err(ErrorObject::invalid_params(alloc::format!("`{name}` must be a string")));
        }
    }
    Ok(())
}

fn applies(value: ConditionValue, found: Option<&[u8]>) -> bool {
    let is = |wanted: &str| found.and_then(unescape).as_deref() == Some(wanted);
    match value {
        ConditionValue::AbsentOr(wanted) => found.is_none() || is(wanted),
        ConditionValue::OtherThan(unwanted) => {
            found.is_some_and(|value| value.starts_with(b"\"")) && !is(unwanted)
        }
        ConditionValue::Present => found.is_some_and(|value| value != b"null"),
        ConditionValue::Text(wanted) => is(wanted),
    }
}

#[cfg(test)]
mod tests;
