//! One-line summaries of commands and events, without the values they carry.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write};

use super::{OwnedChange, OwnedCommand};
use crate::json::Raw;
use crate::vocabulary::{CallError, CallId, CloseReason, Fault, IncomingId, NeededInput};

/// The maximum length of a displayed name, in characters.
const NAME_CHARS_MAX: usize = 60;

/// Displays bytes as one line of text, truncated after `chars_max` characters.
pub(crate) struct OneLine<'a> {
    bytes: &'a [u8],
    chars_max: usize,
}

impl<'a> OneLine<'a> {
    /// Displays all bytes.
    pub(crate) const fn whole(bytes: &'a [u8]) -> Self {
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

/// Displays a method name or an id, truncated because the peer may have chosen it.
pub(crate) const fn name(text: &str) -> OneLine<'_> {
    OneLine { bytes: text.as_bytes(), chars_max: NAME_CHARS_MAX }
}

/// Displays the length of a value, or with `{:#}` its text.
struct Value<'a>(&'a [u8]);

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            write!(f, " {}", OneLine::whole(self.0))
        } else {
            write!(f, " ({} bytes)", self.0.len())
        }
    }
}

fn value(f: &mut fmt::Formatter<'_>, text: &[u8]) -> fmt::Result {
    fmt::Display::fmt(&Value(text), f)
}

/// Writes a payload. A value that could not be encoded (`null`) counts as empty.
fn payload(f: &mut fmt::Formatter<'_>, raw: Option<&Raw>) -> fmt::Result {
    let text = raw.map(Raw::as_bytes).unwrap_or_default();
    value(f, if text == b"null" { b"" } else { text })
}

/// Writes a summary; `{:#}` includes the values.
impl fmt::Display for OwnedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { method, params, .. } => {
                write!(f, "call {}", name(method))?;
                payload(f, params.as_ref())
            }
            Self::Cancel { call, reason } => {
                write!(f, "cancel {call}")?;
                value(f, reason.as_bytes())
            }
            Self::NotifyChanged { change: OwnedChange::Extension { method, params, .. } } => {
                write!(f, "changed {}", name(method))?;
                payload(f, params.as_ref())
            }
            Self::NotifyChanged { change: OwnedChange::Prompts } => f.write_str("changed prompts"),
            Self::NotifyChanged { change: OwnedChange::Resource(uri) } => {
                f.write_str("changed resource")?;
                value(f, uri.as_bytes())
            }
            Self::NotifyChanged { change: OwnedChange::Resources } => {
                f.write_str("changed resources")
            }
            Self::NotifyChanged { change: OwnedChange::Tools } => f.write_str("changed tools"),
            Self::Close => f.write_str("close"),
            Self::EndStream { incoming } => write!(f, "end stream {incoming}"),
            Self::Subscribe { filter, .. } => {
                f.write_str("listen")?;
                let lists = [
                    ("tools", filter.tools),
                    ("prompts", filter.prompts),
                    ("resources", filter.resources),
                ];
                for (list, _) in lists.into_iter().filter(|(_, wanted)| *wanted) {
                    write!(f, " {list}")?;
                }
                filter.uris.iter().try_for_each(|uri| {
                    f.write_str(" resource")?;
                    value(f, uri.as_bytes())
                })
            }
            Self::Log { incoming, level, data, .. } => {
                write!(f, "log {level}")?;
                incoming.map_or(Ok(()), |incoming| write!(f, " for {incoming}"))?;
                value(f, data.as_bytes())
            }
            Self::Notify { method, params } => {
                write!(f, "notify {}", name(method))?;
                payload(f, params.as_ref())
            }
            Self::Progress { incoming, progress } => {
                write!(f, "progress {incoming}")?;
                if f.alternate() { write!(f, " {progress:?}") } else { Ok(()) }
            }
            Self::RefuseUndeclared { incoming, questions } => {
                write!(f, "refuse {incoming}")?;
                questions.iter().try_for_each(|(key, question)| question_summary(f, key, question))
            }
            Self::RequestInput { incoming, questions, state } => {
                write!(f, "ask {incoming}")?;
                questions
                    .iter()
                    .try_for_each(|(key, question)| question_summary(f, key, question))?;
                let Some(state) = state else { return Ok(()) };
                f.write_str(" state")?;
                value(f, state.as_bytes())
            }
            Self::Respond { incoming, result } => {
                write!(f, "respond {incoming}")?;
                payload(f, result.as_ref())
            }
            Self::RespondError { incoming, error } => {
                write!(f, "fail {incoming} {}", error.code)?;
                value(f, error.message.as_bytes())?;
                error.data.as_ref().map_or(Ok(()), |data| value(f, data.as_bytes()))
            }
            Self::SetLogLevel { level, .. } => write!(f, "set log level {level}"),
        }
    }
}

fn question_summary(f: &mut fmt::Formatter<'_>, key: &str, question: &NeededInput) -> fmt::Result {
    write!(f, " {}", name(question.method()))?;
    match question {
        NeededInput::Raw(_, Some(params)) if f.alternate() => write!(f, " {key:?} {params}"),
        _ => Ok(()),
    }
}

/// Summarizes an incoming request.
pub(crate) fn request(incoming: IncomingId, method: &str) -> String {
    format!("{incoming} {}", name(method))
}

/// Summarizes the end of a call.
pub(crate) fn completed(call: CallId, outcome: &Result<Raw, CallError>) -> String {
    let how = match outcome {
        Ok(_) => "ok",
        Err(CallError::Cancelled) => "cancelled",
        Err(CallError::Http { status, .. } | CallError::Redirected { status, .. }) => {
            return format!("{call} status {status}");
        }
        Err(CallError::Invalid(_)) => "invalid",
        Err(CallError::Lost | CallError::LostRead) => "lost",
        Err(CallError::SessionEnded) => "session ended",
        Err(CallError::Refused(error)) => return format!("{call} refused {}", error.code),
        Err(CallError::TooManyRounds) => "too many rounds",
        Err(CallError::TimedOut) => "timed out",
        Err(CallError::InputRefused(error)) => return format!("{call} unanswered {}", error.code),
        Err(CallError::Unauthorized(_)) => "unauthorized",
        Err(CallError::Unsent) => "unsent",
        Err(CallError::SubscriptionEnded) => "withdrawn",
    };
    format!("{call} {how}")
}

/// Summarizes the end of a connection.
pub(crate) fn closed(why: &CloseReason) -> String {
    let how = match why {
        CloseReason::Local => "here",
        CloseReason::Peer => "by the peer",
        CloseReason::Fault(Fault::BadHandshake(_)) => "bad handshake",
        CloseReason::Fault(Fault::FirstViolation) => "first violation",
        CloseReason::Fault(Fault::HandshakeTimedOut) => "handshake timed out",
        CloseReason::Fault(Fault::NoCommonRevision(_)) => "no common revision",
        CloseReason::Fault(Fault::NoRevisionConfigured) => "nothing to offer",
        CloseReason::Fault(Fault::Refused(error)) => {
            return format!("closed: refused {}", error.code);
        }
        CloseReason::Fault(Fault::SessionLost) => "session lost",
        CloseReason::Fault(Fault::Stalled) => "stalled",
        CloseReason::Fault(Fault::TooManyViolations) => "too many violations",
        CloseReason::Fault(Fault::Unreachable(_)) => "unopened",
        CloseReason::Fault(Fault::Unresponsive) => "unresponsive",
    };
    format!("closed: {how}")
}
