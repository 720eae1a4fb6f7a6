//! One-line summaries of the messages and commands of a recording.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write;

use crate::command::summary::name;
use crate::command::{CommandOutcome, OwnedCommand};
use crate::error::Misuse;
use crate::json::{Raw, elements, find};

/// Returns the type, id, method, error code and length of a message, without its values.
pub(super) fn message_summary(line: &[u8]) -> String {
    let text = core::str::from_utf8(line).ok();
    let Some(message) = text.and_then(|text| Raw::from_text(text).ok()) else {
        return format!("invalid message ({} bytes)", line.len());
    };
    let length = line.len();
    if message.is_object() {
        return format!("{} ({length} bytes)", object_summary(&message));
    }
    let mut out = String::from("batch");
    for member in elements(message.as_bytes()).take(BATCH_MAX) {
        let member = Raw::from_text(core::str::from_utf8(member).unwrap_or_default()).ok();
        let summary = member.map(|member| object_summary(&member));
        let _infallible = write!(out, ", {}", summary.as_deref().unwrap_or("?"));
    }
    format!("{out} ({length} bytes)")
}

/// The number of messages of a batch that are summarized.
const BATCH_MAX: usize = 16;

fn object_summary(message: &Raw) -> String {
    let member = |name| message.member(name);
    let id = member("id").map(|id| name(id.as_str()).to_string());
    let method =
        member("method").and_then(|method| method.to_text().map(|text| name(&text).to_string()));
    let has_result = find(message.as_bytes(), "result").is_some();
    let code = member("error")
        .map(|error| error.member("code").map_or(0, |code| code.parse::<i64>().unwrap_or(0)));
    match (id, method, code) {
        (Some(id), Some(method), _) => format!("request {id} {method}"),
        (None, Some(method), _) => format!("notification {method}"),
        (Some(id), None, Some(code)) => format!("error {id} {code}"),
        (None, None, Some(code)) => format!("error {code}"),
        (Some(id), None, None) if has_result => format!("result {id}"),
        _ => "invalid message".into(),
    }
}

/// Returns a command and its outcome on one line.
pub(super) fn command(
    command: &OwnedCommand,
    outcome: Result<CommandOutcome, Misuse>,
    with_payloads: bool,
) -> String {
    let summary = if with_payloads { format!("{command:#}") } else { command.to_string() };
    match outcome {
        Ok(CommandOutcome::Call(call)) => format!("{summary} = {call}"),
        Ok(CommandOutcome::Done) => summary,
        Err(misuse) => format!("{summary} = {misuse:?}"),
    }
}
