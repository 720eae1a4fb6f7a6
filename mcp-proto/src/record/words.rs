//! Lines and events in words that show what they are and not what they hold; knows nothing of recordings.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Write};

use super::act::{Act, Asked, Changed, Done};
use crate::connection::{CallError, CallId, Close, Fault, IncomingId};
use crate::json::{Raw, elements, find};
use crate::{client, server};

/// What is shown of an id or a name, in characters: enough to know it again.
const NAME_CHARS_MAX: usize = 60;

/// A line's kind, id, method, error code and length; none of its values.
pub(super) fn shape(line: &[u8]) -> String {
    let text = core::str::from_utf8(line).ok();
    let Some(message) = text.and_then(|text| Raw::from_text(text).ok()) else {
        return format!("no message ({} bytes)", line.len());
    };
    let length = line.len();
    if message.is_object() {
        return format!("{} ({length} bytes)", message_shape(&message));
    }
    let mut out = String::from("batch");
    for member in elements(message.as_bytes()).take(BATCH_MAX) {
        let member = Raw::from_text(core::str::from_utf8(member).unwrap_or_default()).ok();
        let shape = member.map(|member| message_shape(&member));
        let _infallible = write!(out, ", {}", shape.as_deref().unwrap_or("?"));
    }
    format!("{out} ({length} bytes)")
}

/// How many messages of a batch are shown.
const BATCH_MAX: usize = 16;

fn message_shape(message: &Raw) -> String {
    let member = |name| message.member(name);
    let id = member("id").map(|id| name(id.as_str()).to_string());
    let method = member("method").and_then(|method| method.to_text().map(|text| name(&text).to_string()));
    let has_result = find(message.as_bytes(), "result").is_some();
    let code =
        member("error").map(|error| error.member("code").map_or(0, |code| code.parse::<i64>().unwrap_or(0)));
    match (id, method, code) {
        (Some(id), Some(method), _) => format!("request {id} {method}"),
        (None, Some(method), _) => format!("notification {method}"),
        (Some(id), None, Some(code)) => format!("error {id} {code}"),
        (None, None, Some(code)) => format!("error {code}"),
        (Some(id), None, None) if has_result => format!("result {id}"),
        _ => "no message".into(),
    }
}

/// Bytes as text on one line, and no longer than it may be.
pub(super) struct OneLine<'a> {
    bytes: &'a [u8],
    chars_max: usize,
}

impl<'a> OneLine<'a> {
    pub(super) const fn whole(bytes: &'a [u8]) -> Self {
        Self { bytes, chars_max: usize::MAX }
    }
}

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, character) in String::from_utf8_lossy(self.bytes).chars().enumerate() {
            match character {
                _ if index == self.chars_max => return f.write_char('…'),
                control if control.is_control() => write!(f, "{}", control.escape_default())?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// A name or an id.
const fn name(text: &str) -> OneLine<'_> {
    OneLine { bytes: text.as_bytes(), chars_max: NAME_CHARS_MAX }
}

/// What an application did, and what became of it.
pub(super) fn act(act: &Act, done: Done, payloads: bool) -> String {
    let mut out = String::new();
    let _infallible = write_act(act, payloads, &mut out);
    match done {
        Done::Call(call) => out + &format!(" = {call}"),
        Done::Misuse(misuse) => out + &format!(" = {misuse:?}"),
        Done::Ok => out,
    }
}

fn write_act(act: &Act, payloads: bool, out: &mut String) -> fmt::Result {
    let held = |bytes: &[u8]| {
        if payloads { format!(" {}", OneLine::whole(bytes)) } else { format!(" ({} bytes)", bytes.len()) }
    };
    match act {
        Act::Call { method, params, .. } => write!(out, "call {}{}", name(method), held(params.text())),
        Act::Cancel { call, reason } => write!(out, "cancel {call}{}", held(reason.as_bytes())),
        Act::Changed { change: Changed::Prompts } => out.write_str("changed prompts"),
        Act::Changed { change: Changed::Resource(uri) } => {
            write!(out, "changed resource{}", held(uri.as_bytes()))
        }
        Act::Changed { change: Changed::Resources } => out.write_str("changed resources"),
        Act::Changed { change: Changed::Tools } => out.write_str("changed tools"),
        Act::Close {} => out.write_str("close"),
        Act::HangUp { incoming } => write!(out, "hang up {incoming}"),
        Act::Listen { filter, .. } => {
            out.write_str("listen")?;
            let lists =
                [("tools", filter.tools), ("prompts", filter.prompts), ("resources", filter.resources)];
            for (list, _) in lists.into_iter().filter(|(_, wanted)| *wanted) {
                write!(out, " {list}")?;
            }
            filter.uris.iter().try_for_each(|uri| write!(out, " resource{}", held(uri.as_bytes())))
        }
        Act::Log { incoming, level, data, .. } => {
            write!(out, "log {level}")?;
            incoming.map_or(Ok(()), |incoming| write!(out, " for {incoming}"))?;
            out.write_str(&held(data.as_bytes()))
        }
        Act::Notify { method, params } => write!(out, "notify {}{}", name(method), held(params.text())),
        Act::Progress { incoming, progress } => {
            write!(out, "progress {incoming}")?;
            if payloads { write!(out, " {progress:?}") } else { Ok(()) }
        }
        Act::RefuseUndeclared { incoming, questions } => {
            write!(out, "refuse {incoming}")?;
            write_questions(questions, payloads, out)
        }
        Act::RequestInput { incoming, questions, state } => {
            write!(out, "ask {incoming}")?;
            write_questions(questions, payloads, out)?;
            state.as_ref().map_or(Ok(()), |state| write!(out, " state{}", held(state.as_bytes())))
        }
        Act::Respond { incoming, result } => write!(out, "respond {incoming}{}", held(result.text())),
        Act::RespondError { incoming, error } => {
            write!(out, "fail {incoming} {}{}", error.code, held(error.message.as_bytes()))?;
            error.data.as_ref().map_or(Ok(()), |data| out.write_str(&held(data.as_bytes())))
        }
        Act::SetLogLevel { level, .. } => write!(out, "set log level {level}"),
    }
}

fn write_questions(questions: &[Asked], payloads: bool, out: &mut String) -> fmt::Result {
    questions.iter().try_for_each(|asked| {
        write!(out, " {}", name(&asked.method))?;
        match &asked.params {
            Some(Some(params)) if payloads => write!(out, " {:?} {params}", asked.key),
            _ => Ok(()),
        }
    })
}

pub(super) fn of_client(event: &client::Event) -> String {
    use client::Event;
    match event {
        Event::Closed(why) => closed(why),
        Event::Completed { call, outcome } => completed(*call, outcome),
        Event::Listening { call, .. } => format!("{call} listens"),
        Event::Notification { call: Some(call), method, .. } => format!("{call}: {}", name(method)),
        Event::Notification { call: None, method, .. } => name(method).to_string(),
        Event::Progress { call, .. } => format!("{call} progress"),
        Event::Ready(peer) => format!("ready {}", peer.revision),
        Event::Request { incoming, request, .. } => asked(*incoming, &request.method),
        Event::RequestCancelled { incoming, .. } => format!("{incoming} cancelled"),
        Event::Violation(violation) => format!("violation {:?}", violation.kind),
    }
}

pub(super) fn of_server(event: &server::Event) -> String {
    use server::Event;
    match event {
        Event::Closed(why) => closed(why),
        Event::Completed { call, outcome } => completed(*call, outcome),
        Event::Notification { method, .. } => name(method).to_string(),
        Event::Progress { call, .. } => format!("{call} progress"),
        Event::Ready(peer) => format!("ready {}", peer.revision),
        Event::Request { incoming, request, .. } => asked(*incoming, &request.method),
        Event::RequestCancelled { incoming, .. } => format!("{incoming} cancelled"),
        Event::Unwatched { .. } => "unwatched".into(),
        Event::Violation(violation) => format!("violation {:?}", violation.kind),
        Event::Watched { .. } => "watched".into(),
    }
}

fn asked(incoming: IncomingId, method: &str) -> String {
    format!("{incoming} {}", name(method))
}

fn completed(call: CallId, outcome: &Result<Raw, CallError>) -> String {
    let how = match outcome {
        Ok(_) => "ok",
        Err(CallError::Cancelled) => "cancelled",
        Err(CallError::Http { status }) => return format!("{call} status {status}"),
        Err(CallError::Invalid(_)) => "invalid",
        Err(CallError::Lost) => "lost",
        Err(CallError::Refused(error)) => return format!("{call} refused {}", error.code),
        Err(CallError::Rounds) => "too many rounds",
        Err(CallError::TimedOut) => "timed out",
        Err(CallError::Unanswered(error)) => return format!("{call} unanswered {}", error.code),
        Err(CallError::Unsent) => "unsent",
        Err(CallError::Withdrawn) => "withdrawn",
    };
    format!("{call} {how}")
}

fn closed(why: &Close) -> String {
    let how = match why {
        Close::Local => "here",
        Close::Peer => "by the peer",
        Close::Fault(Fault::BadHandshake(_)) => "bad handshake",
        Close::Fault(Fault::FirstViolation) => "first violation",
        Close::Fault(Fault::HandshakeTimedOut) => "handshake timed out",
        Close::Fault(Fault::NoCommonRevision(_)) => "no common revision",
        Close::Fault(Fault::NothingToOffer) => "nothing to offer",
        Close::Fault(Fault::Refused(error)) => return format!("closed: refused {}", error.code),
        Close::Fault(Fault::SessionLost) => "session lost",
        Close::Fault(Fault::Stalled) => "stalled",
        Close::Fault(Fault::TooManyViolations) => "too many violations",
        Close::Fault(Fault::Unopened(_)) => "unopened",
        Close::Fault(Fault::Unresponsive) => "unresponsive",
    };
    format!("closed: {how}")
}
