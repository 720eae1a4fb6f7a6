//! Checks messages against the method tables and the capabilities that both sides declared.

mod extensions;

use alloc::vec::Vec;

use crate::error::{Misuse, Unencodable, code};
use crate::json::{Raw, elements, find, find_rare, unescape};
use crate::method::MethodId;
use crate::revision::{
    Capability, Condition, ConditionValue, MethodRule, Revision, Rules, Side, UrlElicitation,
};
use crate::rpc::{ErrorObject, Params, Repeated};
use crate::schema::Capabilities;
use crate::vocabulary::Peer;
pub(crate) use extensions::{incoming_extension, outgoing_extension};

/// Checks a request that this side is about to send to a peer with the capabilities `theirs`.
///
/// Returns the rule of its method, or `None` for a method that no revision defines.
///
/// `is_automatic` is true if the connection sends the request on its own.
///
/// # Errors
/// Fails with [`Misuse::Unsupported`] if this side cannot send the request in `revision` or the
/// revision does not define its mode, and with [`Misuse::Undeclared`] if the peer lacks a
/// capability.
// CAP-03, CAP-06, CAP-09: requests need the capabilities of the receiver.
pub(crate) fn outgoing_request(
    side: Side,
    revision: Revision,
    method: Option<MethodId>,
    params: &[u8],
    theirs: &Capabilities,
    is_automatic: bool,
) -> Result<Option<&'static MethodRule>, Misuse> {
    let Some(rule) = rule_in(method, true, revision)? else { return Ok(None) };
    if (rule.internal && !is_automatic) || !rule.is_sent_by(side) {
        return Err(Misuse::Unsupported);
    }
    let member = |name| find_rare(params, name);
    let declared = rule.needs.is_none_or(|capability| theirs.has(capability))
        && mode_in(rule, member)?.is_none_or(|mode| theirs.has(mode.needs))
        && rule.conditions.iter().all(|condition| {
            !applies(condition.value, member(condition.member)) || theirs.has(condition.needs)
        });
    if declared { Ok(Some(rule)) } else { Err(Misuse::Undeclared) }
}

/// Checks a call like [`outgoing_request`], and that its params are an object or empty. An unknown
/// `peer` has no capabilities.
// JSON-17: params are an object.
pub(crate) fn outgoing_call(
    side: Side,
    revision: Revision,
    method: Option<MethodId>,
    params: &[u8],
    peer: Option<&Peer>,
    is_automatic: bool,
) -> Result<Option<&'static MethodRule>, Misuse> {
    if params.first().is_some_and(|first| *first != b'{') {
        return Err(Misuse::Unencodable);
    }
    let none = Capabilities::none();
    let theirs = peer.map_or(&none, |peer| &peer.capabilities);
    outgoing_request(side, revision, method, params, theirs, is_automatic)
}

/// Returns why `write` failed for the negotiated revision: a newer one may define what the value
/// has.
pub(crate) fn encoding_misuse(
    write: impl Fn(Revision, &mut Vec<u8>) -> Result<(), Unencodable>,
) -> Misuse {
    let is_defined_later =
        Revision::ALL.into_iter().any(|revision| write(revision, &mut Vec::new()).is_ok());
    if is_defined_later { Misuse::Unsupported } else { Misuse::Unencodable }
}

/// Checks a notification that this side, with the capabilities `ours`, is about to send. Returns
/// the rule of its method, or `None` for a method that no revision defines.
///
/// `names_task` returns whether its `_meta` names a task.
// CAP-12, LOG-01: notifications need the capabilities of the sender.
pub(crate) fn outgoing_notification(
    side: Side,
    revision: Revision,
    method: Option<MethodId>,
    ours: &Capabilities,
    names_task: impl FnOnce() -> bool,
) -> Result<Option<&'static MethodRule>, Misuse> {
    let Some(rule) = rule_in(method, false, revision)? else { return Ok(None) };
    let is_of_task = || rule.names_task && ours.has(Capability::Tasks) && names_task();
    if (rule.internal && !is_of_task()) || !rule.is_sent_by(side) {
        return Err(Misuse::Unsupported);
    }
    if rule.needs.is_some_and(|capability| !ours.has(capability)) {
        return Err(Misuse::Undeclared);
    }
    Ok(Some(rule))
}

/// Returns `base` plus the capabilities that a client needs for an input request.
///
/// # Errors
/// Fails with [`Misuse::Unsupported`] if the revision does not define the mode of the request.
// CAP-06, CAP-09, CAP-16: modes and conditions on params need their own capabilities.
pub(crate) fn input_request_needs(
    rule: &'static MethodRule,
    params: Option<&[u8]>,
    base: Capabilities,
) -> Result<Capabilities, Misuse> {
    let member = |name| params.and_then(|params| find(params, name));
    let mode = mode_in(rule, member)?;
    let conditions =
        rule.conditions.iter().filter(|it| applies(it.value, member(it.member))).chain(mode);
    let needs = rule.needs.into_iter().chain(conditions.map(|condition| condition.needs));
    Ok(needs.fold(base, Capabilities::with))
}

/// Returns whether this side, with the capabilities `ours`, accepts an input request.
// T-96: input requests need declared capabilities.
pub(crate) fn accepts_input_request(
    rule: &'static MethodRule,
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
        && mode_in(rule, member).is_ok_and(|mode| mode.is_none_or(|mode| ours.has(mode.needs)))
        && receiver_conditions(rule).all(|condition| {
            !applies(condition.value, member(condition.member)) || ours.has(condition.needs)
        })
}

/// Returns the rule of a method in `revision`, or `None` for a method that no revision defines,
/// which belongs to an extension.
///
/// # Errors
/// Fails with [`Misuse::Unsupported`] if only other revisions define the method, or if the method
/// is a notification where a request is expected, or the reverse.
fn rule_in(
    method: Option<MethodId>,
    is_request: bool,
    revision: Revision,
) -> Result<Option<&'static MethodRule>, Misuse> {
    let Some(method) = method else { return Ok(None) };
    let rule = method.rule(revision).filter(|rule| rule.is_request == is_request);
    rule.map(Some).ok_or(Misuse::Unsupported)
}

/// Checks a request from the peer against the capabilities `ours` of this side.
///
/// `declared_in` is the revision in which this side declared them.
///
/// `is_served` is true if the application serves a method that the revision does not define.
///
/// # Errors
/// Fails with the error to respond with.
// CAP-04, CAP-07, CAP-10, JSON-15, JSON-16, T-09: method, params and conditions in turn.
pub(crate) fn incoming_request(
    rule: Option<&'static MethodRule>,
    is_served: bool,
    side: Side,
    method: &str,
    params: &Params<'_>,
    ours: &Capabilities,
    declared_in: Revision,
) -> Result<(), ErrorObject> {
    match rule {
        Some(rule) => {
            let offered = rule.is_sent_by(side.other())
                && !rule.internal
                && match rule.needs {
                    Some(needed) => ours.declares_to(needed, side, declared_in),
                    // CAP-19: the revision has no name for the capability.
                    None => rule.offered_with.is_none_or(|capability| ours.has(capability)),
                }
                // At least one mode of the method must be offered.
                && (rule.modes.is_empty()
                    || rule
                        .modes
                        .iter()
                        .any(|mode| ours.declares_to(mode.needs, side, declared_in)));
            // CAP-05: `roots/list` needs the roots capability.
            if !offered {
                return Err(ErrorObject::method_not_found(method));
            }
        }
        None if is_served => {}
        None => return Err(ErrorObject::method_not_found(method)),
    }
    if params.malformed {
        return Err(ErrorObject::invalid_params("params must be an object"));
    }
    if params.is_meta_repeated {
        return Err(ErrorObject::invalid_params("`_meta` is repeated"));
    }
    let Some(rule) = rule else { return Ok(()) };
    check_text_params(rule, params)?;
    let Ok(mode) = mode_in(rule, |name| params.member(name)) else {
        return Err(ErrorObject::invalid_params("unknown mode"));
    };
    for condition in receiver_conditions(rule).chain(mode) {
        if applies(condition.value, params.member(condition.member))
            && !ours.declares_to(condition.needs, side, declared_in)
        {
            return Err(ErrorObject::new(
                code::INVALID_PARAMS,
                alloc::format!(
                    "`{}` requires a capability that was not declared",
                    condition.member
                ),
            ));
        }
    }
    Ok(())
}

/// Returns the mode that the params of a message select with their members; `None` if its method
/// has no modes.
///
/// # Errors
/// Fails with [`Misuse::Unsupported`] if the revision does not define the mode.
// CAP-06, CAP-07: no capability covers an unknown mode.
fn mode_in<'a>(
    rule: &'static MethodRule,
    member: impl Fn(&'static str) -> Option<&'a [u8]>,
) -> Result<Option<&'static Condition>, Misuse> {
    if rule.modes.is_empty() {
        return Ok(None);
    }
    let selected = rule.modes.iter().find(|mode| applies(mode.value, member(mode.member)));
    selected.map(Some).ok_or(Misuse::Unsupported)
}

/// Returns the conditions that the receiver of a request enforces.
fn receiver_conditions(rule: &'static MethodRule) -> impl Iterator<Item = &'static Condition> {
    rule.conditions.iter().filter(|condition| !condition.binds_sender_only)
}

/// Checks that required string members are present, unique and strings.
pub(crate) fn check_text_params(rule: &MethodRule, params: &Params<'_>) -> Result<(), ErrorObject> {
    for name in rule.text_params {
        let invalid = |why| Err(ErrorObject::invalid_params(alloc::format!("`{name}` {why}")));
        match params.unique_member(name) {
            Ok(Some(value)) if value.starts_with(b"\"") => {}
            Ok(_) => return invalid("must be a string"),
            Err(Repeated) => return invalid("is repeated"),
        }
    }
    Ok(())
}

/// Returns whether an error has the data that its code requires.
// SEC-10: an error about URL elicitations names at least one, each with its id.
pub(crate) fn is_complete_error(error: &ErrorObject, rules: &Rules) -> bool {
    if error.code != code::URL_ELICITATION_REQUIRED
        || rules.elicitation_urls != UrlElicitation::WithId
    {
        return true;
    }
    let data = error.data.as_ref().map_or(&[][..], Raw::as_bytes);
    let mut all = elements(find(data, "elicitations").unwrap_or_default()).peekable();
    let is_text = |value: Option<&[u8]>| value.is_some_and(|value| value.starts_with(b"\""));
    all.peek().is_some()
        && all.all(|elicitation| {
            find(elicitation, "mode").and_then(unescape).as_deref() == Some("url")
                && is_text(find(elicitation, "url"))
                && is_text(find(elicitation, "elicitationId"))
        })
}

/// Returns whether the value `found` meets a condition.
fn applies(value: ConditionValue, found: Option<&[u8]>) -> bool {
    let is = |wanted: &str| found.and_then(unescape).as_deref() == Some(wanted);
    match value {
        ConditionValue::AbsentOr(wanted) => {
            found.is_none_or(|value| value == b"null") || is(wanted)
        }
        ConditionValue::OtherThan(unwanted) => {
            found.is_some_and(|value| value.starts_with(b"\"")) && !is(unwanted)
        }
        ConditionValue::Present => found.is_some_and(|value| value != b"null"),
        ConditionValue::Text(wanted) => is(wanted),
    }
}

#[cfg(test)]
mod tests;
