//! The protocol's methods, taken from the specification rather than from the crate under test: who
//! may send what in which revision, and which capability it needs.

use mcp_proto::{Revision, Side};
use serde_json::Value;

/// A message of the protocol.
#[derive(Clone, Copy, Debug)]
struct Row {
    name: &'static str,
    is_request: bool,
    /// `None` for both sides.
    sender: Option<Side>,
    since: Revision,
    until: Revision,
    /// The pointer of the capability: the receiver's for a request, the sender's for a
    /// notification.
    needs: &'static str,
}

use Revision::{V2024_11_05 as R1, V2025_03_26 as R2, V2025_11_25 as R4, V2026_07_28 as R5};

const C: Option<Side> = Some(Side::Client);
const S: Option<Side> = Some(Side::Server);

const fn request(
    name: &'static str,
    sender: Option<Side>,
    since: Revision,
    until: Revision,
    needs: &'static str,
) -> Row {
    Row { name, is_request: true, sender, since, until, needs }
}

const fn notification(
    name: &'static str,
    sender: Option<Side>,
    since: Revision,
    until: Revision,
    needs: &'static str,
) -> Row {
    Row { name, is_request: false, sender, since, until, needs }
}

const ROWS: &[Row] = &[
    request("initialize", C, R1, R4, ""),
    request("ping", None, R1, R4, ""),
    request("server/discover", C, R5, R5, ""),
    request("subscriptions/listen", C, R5, R5, ""),
    request("tools/list", C, R1, R5, "/tools"),
    request("tools/call", C, R1, R5, "/tools"),
    request("resources/list", C, R1, R5, "/resources"),
    request("resources/templates/list", C, R1, R5, "/resources"),
    request("resources/read", C, R1, R5, "/resources"),
    request("resources/subscribe", C, R1, R4, "/resources/subscribe"),
    request("resources/unsubscribe", C, R1, R4, "/resources/subscribe"),
    request("prompts/list", C, R1, R5, "/prompts"),
    request("prompts/get", C, R1, R5, "/prompts"),
    request("completion/complete", C, R1, R1, ""),
    request("completion/complete", C, R2, R5, "/completions"),
    request("logging/setLevel", C, R1, R4, "/logging"),
    request("sampling/createMessage", S, R1, R4, "/sampling"),
    request("roots/list", S, R1, R4, "/roots"),
    // The first two revisions lack it, but clients that declare it may be asked.
    request("elicitation/create", S, R1, R4, "/elicitation"),
    request("tasks/get", None, R4, R4, "/tasks"),
    request("tasks/result", None, R4, R4, "/tasks"),
    request("tasks/list", None, R4, R4, "/tasks/list"),
    request("tasks/cancel", None, R4, R4, "/tasks/cancel"),
    notification("notifications/initialized", C, R1, R4, ""),
    notification("notifications/cancelled", None, R1, R4, ""),
    notification("notifications/progress", None, R1, R4, ""),
    notification("notifications/message", S, R1, R5, "/logging"),
    notification("notifications/tools/list_changed", S, R1, R5, "/tools/listChanged"),
    notification("notifications/prompts/list_changed", S, R1, R5, "/prompts/listChanged"),
    notification("notifications/resources/list_changed", S, R1, R5, "/resources/listChanged"),
    notification("notifications/resources/updated", S, R1, R5, "/resources/subscribe"),
    notification("notifications/roots/list_changed", C, R1, R4, "/roots/listChanged"),
    notification("notifications/elicitation/complete", S, R4, R4, ""),
    notification("notifications/tasks/status", None, R4, R4, ""),
    notification("notifications/subscriptions/acknowledged", S, R5, R5, ""),
];

/// Returns why a message may not be sent, if it may not.
pub(crate) fn forbids(
    message: &Value,
    is_request: bool,
    side: Side,
    revision: Revision,
    ours: &Value,
    theirs: &Value,
) -> Option<String> {
    let name = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let mut known =
        ROWS.iter().filter(|row| row.name == name && row.is_request == is_request).peekable();
    known.peek()?;
    let Some(row) = known.find(|row| row.since <= revision && revision <= row.until) else {
        return Some(format!("{name} is not a part of {revision}"));
    };
    if row.sender.is_some_and(|sender| sender != side) {
        return Some(format!("{name} must not be sent by a {side:?}"));
    }
    let declared = if row.is_request { theirs } else { ours };
    if !row.needs.is_empty() && !declares(declared, row.needs) {
        return Some(format!("{name} needs {} to be declared in {declared}", row.needs));
    }
    modes(name, message.get("params").unwrap_or(&Value::Null), revision, theirs)
}

/// Returns why an input request may not be put to a client with these capabilities, if it may not.
// STL-16: input requests are elicitation, sampling or roots.
pub(crate) fn forbids_question(question: &Value, theirs: &Value) -> Option<String> {
    let name = question.get("method").and_then(Value::as_str).unwrap_or_default();
    let needs = match name {
        "elicitation/create" => "/elicitation",
        "sampling/createMessage" => "/sampling",
        "roots/list" => "/roots",
        _ => return Some(format!("{name} is nothing that can be asked")),
    };
    if !declares(theirs, needs) {
        return Some(format!("{name} needs {needs} to be declared in {theirs}"));
    }
    modes(name, question.get("params").unwrap_or(&Value::Null), R5, theirs)
}

/// Checks what depends on params: modes of elicitation, tools of sampling.
// CAP-06, CAP-08, CAP-09: modes and tools must be declared.
fn modes(name: &str, params: &Value, revision: Revision, theirs: &Value) -> Option<String> {
    if revision < R4 {
        return None;
    }
    match name {
        "elicitation/create" => {
            let mode = params.get("mode").and_then(Value::as_str).unwrap_or("form");
            let has = |mode: &str| declares(theirs, &format!("/elicitation/{mode}"));
            let modeless = !has("form") && !has("url");
            let allowed = if mode == "form" { modeless || has("form") } else { has(mode) };
            (!allowed).then(|| format!("elicitation of mode {mode} was not declared"))
        }
        "sampling/createMessage" => {
            let tools = params.get("tools").is_some() || params.get("toolChoice").is_some();
            (tools && !declares(theirs, "/sampling/tools"))
                .then(|| "sampling.tools was not declared".into())
        }
        _ => None,
    }
}

/// Returns whether the member at `pointer` is present and neither false nor null.
// T-41: presence declares a capability.
fn declares(capabilities: &Value, pointer: &str) -> bool {
    capabilities
        .pointer(pointer)
        .is_some_and(|value| !matches!(value, Value::Bool(false) | Value::Null))
}

/// Returns whether a request may be sent before the handshake is complete.
// LIF-09, LIF-10: only pings are.
pub(crate) fn is_early_request(name: &str, side: Side) -> bool {
    name == "ping" || (name == "initialize" && side == Side::Client)
}

/// Returns whether a notification may be sent before the handshake is complete.
// LIF-08, D-24: `initialized` and log messages are.
pub(crate) fn is_early_notification(name: &str, side: Side) -> bool {
    match side {
        Side::Client => false,
        // T-29: log messages, changes, and notifications about a request being served.
        Side::Server => matches!(
            name,
            "notifications/message"
                | "notifications/progress"
                | "notifications/cancelled"
                | "notifications/tools/list_changed"
                | "notifications/prompts/list_changed"
                | "notifications/resources/list_changed"
                | "notifications/resources/updated"
        ),
    }
}
