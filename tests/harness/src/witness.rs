//! The events of both roles in one neutral form, for checkers and transcripts.

use std::fmt::{Debug, Write};

use mcp_proto::{
    CallError, CallId, CloseReason, Context, ErrorObject, Filter, IncomingId, Peer, Progress, Raw,
    Request, client, server,
};

/// The facts of an event that checkers need.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Seen<'a> {
    /// The connection is closed.
    Closed(&'a CloseReason),
    /// A call has ended.
    Completed(CallId),
    /// Any other event.
    Other,
    /// A call has progressed.
    Progress(CallId),
    /// The handshake is complete.
    Ready(&'a Peer),
    /// The peer sent a request.
    Request(IncomingId),
    /// The peer cancelled a request.
    RequestCancelled(IncomingId),
}

/// An event that can be checked and printed.
pub trait Witness: Debug {
    /// Returns what a checker needs to know.
    fn seen(&self) -> Seen<'_>;

    /// Returns the event in one line, in the notation of golden transcripts, without texts meant
    /// for people.
    fn tell(&self) -> String;
}

impl Witness for client::Event {
    fn seen(&self) -> Seen<'_> {
        match self {
            Self::Closed(why) => Seen::Closed(why),
            Self::Completed { call, .. } => Seen::Completed(*call),
            Self::Progress { call, .. } => Seen::Progress(*call),
            Self::Ready(peer) => Seen::Ready(peer),
            Self::Request { incoming, .. } => Seen::Request(*incoming),
            Self::RequestCancelled { incoming, .. } => Seen::RequestCancelled(*incoming),
            _ => Seen::Other,
        }
    }

    fn tell(&self) -> String {
        match self {
            Self::Closed(why) => closed(why),
            Self::Completed { call, outcome } => completed(*call, outcome),
            Self::Subscribed { call, filter } => format!("{call} listens{}", wanted(filter)),
            Self::Notification { call, method, params } => {
                format!("{}{}", of_call(*call), with_params(method, params.as_ref()))
            }
            Self::Progress { call, progress } => progressed(*call, progress),
            Self::Ready(peer) => ready(peer),
            Self::Request { incoming, call, request } => {
                format!("{}{}", of_call(*call), asked(*incoming, request))
            }
            Self::RequestCancelled { incoming, reason } => cancelled(*incoming, reason.as_deref()),
            Self::Violation(violation) => format!("violation {:?}", violation.kind),
            other => format!("{other:?}"),
        }
    }
}

impl Witness for server::Event {
    fn seen(&self) -> Seen<'_> {
        match self {
            Self::Closed(why) => Seen::Closed(why),
            Self::Completed { call, .. } => Seen::Completed(*call),
            Self::Progress { call, .. } => Seen::Progress(*call),
            Self::Ready(peer) => Seen::Ready(peer),
            Self::Request { incoming, .. } => Seen::Request(*incoming),
            Self::RequestCancelled { incoming, .. } => Seen::RequestCancelled(*incoming),
            _ => Seen::Other,
        }
    }

    fn tell(&self) -> String {
        match self {
            Self::Closed(why) => closed(why),
            Self::Completed { call, outcome } => completed(*call, outcome),
            Self::Notification { method, params } => with_params(method, params.as_ref()),
            Self::Progress { call, progress } => progressed(*call, progress),
            Self::Ready(peer) => ready(peer),
            Self::Request { incoming, request, context } => {
                format!("{}{}", asked(*incoming, request), surroundings(context))
            }
            Self::RequestCancelled { incoming, reason } => cancelled(*incoming, reason.as_deref()),
            Self::Violation(violation) => format!("violation {:?}", violation.kind),
            Self::Unwatched { uri, .. } => format!("unwatched {uri}"),
            Self::Watched { uri, .. } => format!("watched {uri}"),
            other => format!("{other:?}"),
        }
    }
}

/// Returns the call that an event belongs to, as a prefix.
fn of_call(call: Option<CallId>) -> String {
    call.map_or_else(String::new, |call| format!("{call}: "))
}

/// Returns the filter of a subscription, as the `listen` action names it.
fn wanted(filter: &Filter) -> String {
    let lists =
        [("tools", filter.tools), ("prompts", filter.prompts), ("resources", filter.resources)];
    let lists = lists.into_iter().filter(|(_, wanted)| *wanted).map(|(name, _)| name);
    lists.chain(filter.uris.iter().map(|uri| &**uri)).map(|name| format!(" {name}")).collect()
}

fn ready(peer: &Peer) -> String {
    format!("ready {} {} {}", peer.revision, peer.info.name, peer.info.version)
}

fn closed(why: &CloseReason) -> String {
    match why {
        CloseReason::Fault(fault) => format!("closed {}", variant(fault)),
        other => format!("closed {}", variant(other)),
    }
}

fn completed(call: CallId, outcome: &Result<Raw, CallError>) -> String {
    match outcome {
        Ok(result) => format!("{call} ok {result}"),
        Err(CallError::Refused(error)) => format!("{call} refused {}", error_object(error)),
        Err(other) => format!("{call} {}", variant(other)),
    }
}

fn error_object(error: &ErrorObject) -> String {
    let data = error.data.as_ref().map_or_else(String::new, |data| format!(" {data}"));
    format!("{} {:?}{data}", error.code, error.message)
}

fn progressed(call: CallId, progress: &Progress) -> String {
    let total = progress.total.map_or_else(String::new, |total| format!(" of {total}"));
    let message =
        progress.message.as_ref().map_or_else(String::new, |message| format!(" {message:?}"));
    format!("{call} at {}{total}{message}", progress.progress)
}

fn asked(incoming: IncomingId, request: &Request) -> String {
    format!("{incoming} {}", with_params(&request.method, request.params.as_ref()))
}

fn surroundings(context: &Context) -> String {
    let mut words = String::new();
    if let Some(level) = context.log_level {
        let _infallible = write!(words, " level={level}");
    }
    if let Some(answers) = &context.input_responses {
        if answers.iter().next().is_none() {
            words.push_str(" no answers");
        }
        for (key, answer) in answers.iter() {
            let _infallible = write!(words, " {key}={answer}");
        }
    }
    if let Some(state) = &context.state {
        let _infallible = write!(words, " state={state:?}");
    }
    words
}

fn cancelled(incoming: IncomingId, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("{incoming} cancelled {reason:?}"),
        None => format!("{incoming} cancelled"),
    }
}

fn with_params(method: &str, params: Option<&Raw>) -> String {
    params.map_or_else(|| method.to_owned(), |params| format!("{method} {params}"))
}

/// Returns the name of a value's variant.
fn variant(value: &impl Debug) -> String {
    let shown = format!("{value:?}");
    shown.split(['(', ' ', '{']).next().unwrap_or_default().to_owned()
}
