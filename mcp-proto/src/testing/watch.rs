//! [`WireChecker`]: a checker for the messages that two peers exchange.
//!
//! The checker sees what each side sends, but not what has arrived at the other side. Therefore it
//! reports a line only if the line is wrong no matter which earlier messages are still in flight.
//! There are no false positives, but there can be false negatives.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::transcript::EscapedLine;
use crate::json::{Raw, find};
use crate::revision::{MethodRule, Revision, Side};

/// A violation of the protocol, found by a [`WireChecker`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WireViolation {
    /// The side that sent the invalid line.
    pub side: Side,
    /// A description of the violation, with the line or its first 600 bytes.
    pub what: String,
}

impl fmt::Display for WireViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Client => "client",
            Side::Server => "server",
        };
        write!(f, "protocol violation by the {side}: {}", self.what)
    }
}

impl core::error::Error for WireViolation {}

/// A checker for both directions of a line-delimited connection between any two peers.
///
/// The checker reports:
///
/// - lines that are not messages: invalid JSON, invalid JSON-RPC 2.0, and batches in revisions that
///   do not allow them;
/// - responses to unknown or already answered requests, and results without an id;
/// - requests whose id the sender has already used for a request that is still open or, in a legacy
///   session, for any earlier request;
/// - requests sent before a legacy session is established, and `initialized` sent before the
///   server's response to `initialize`;
/// - MCP methods that the revision of the legacy session does not define, or that only the other
///   side may send;
/// - progress that was not requested, does not increase, or follows the response;
/// - cancellations of unknown requests or of `initialize`.
///
/// Memory use grows with the number of requests, so use it only in tests.
///
/// ```
/// use mcp_proto::Side;
/// use mcp_proto::testing::WireChecker;
///
/// let request = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
/// let response = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
///
/// let mut watch = WireChecker::default();
/// watch.check(Side::Client, request).unwrap();
/// assert_eq!(watch.unanswered().count(), 1);
/// watch.check(Side::Server, response).unwrap();
/// let fail = watch.check(Side::Server, response).unwrap_err();
/// assert_eq!(fail.side, Side::Server);
/// assert!(fail.what.contains("request 1 is already answered"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct WireChecker {
    client: SideState,
    server: SideState,
    /// The revision of the session, once negotiated.
    session: Option<Revision>,
    /// Whether the client has sent `initialized`.
    is_initialized: bool,
    /// Whether lines were inserted, so that the state of the peers is unknown.
    is_disturbed: bool,
}

/// The messages one side has sent.
#[derive(Clone, Debug, Default)]
struct SideState {
    /// The incomplete last line.
    partial: Vec<u8>,
    /// The requests by the JSON text of their id.
    requests: BTreeMap<Box<str>, SentRequests>,
    /// Whether the side sent a message without a readable id, which may be answered with an error.
    is_unreadable: bool,
}

/// The requests that one side has sent with a particular id.
#[derive(Clone, Debug, Default)]
struct SentRequests {
    method: Box<str>,
    /// The number of unanswered requests.
    open: usize,
    is_cancelled: bool,
    /// The progress token.
    token: Option<Raw>,
    progress: Option<f64>,
}

impl WireChecker {
    /// Checks the next bytes sent by `side`. The bytes may begin and end anywhere in a line.
    ///
    /// # Errors
    /// Fails with the first violation in `bytes`. Even in that case, all bytes are processed.
    pub fn check(&mut self, side: Side, bytes: &[u8]) -> Result<(), WireViolation> {
        let mut outcome = Ok(());
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let state = self.state(side);
            state.partial.extend_from_slice(part);
            if state.partial.last() == Some(&b'\n') {
                let line = core::mem::take(&mut state.partial);
                let line = line.strip_suffix(b"\n").unwrap_or_default();
                let checked = self.line(side, line).map_err(|why| breach(side, &why, line));
                outcome = outcome.and(checked);
            }
        }
        outcome
    }

    /// Registers a line that was inserted into the stream of `side`.
    ///
    /// The line itself is not checked, and the other side may respond to it. From then on, the
    /// checker cannot know the state of both sides, and reports fewer violations: mainly invalid
    /// messages and responses that match no open request.
    pub fn insert_line(&mut self, side: Side, line: &[u8]) {
        self.is_disturbed = true;
        let state = self.state(side);
        state.is_unreadable = true;
        let Some(message) = read(line) else { return };
        for message in
            if message.is_object() { [message].to_vec() } else { message.elements().collect() }
        {
            if let (Some(id), false) = (message.member("id"), is_response(&message)) {
                let request = self.state(side).requests.entry(id.as_str().into()).or_default();
                request.open += 1;
                request.is_cancelled = true;
            }
        }
    }

    /// Iterates over the requests that are neither answered nor cancelled.
    ///
    /// Each item consists of the sender, the JSON text of the id, and the method.
    pub fn unanswered(&self) -> impl Iterator<Item = (Side, &str, &str)> {
        let sides = [(Side::Client, &self.client), (Side::Server, &self.server)];
        sides.into_iter().flat_map(|(side, state)| {
            let open = state
                .requests
                .iter()
                .filter(|(_, request)| request.open > 0 && !request.is_cancelled);
            open.map(move |(id, request)| (side, &**id, &*request.method))
        })
    }

    /// Returns the revision of the legacy session.
    ///
    /// Returns `None` until the server has answered `initialize`.
    #[must_use]
    pub const fn session(&self) -> Option<Revision> {
        self.session
    }

    /// Returns whether `side` has sent no partial line.
    pub(crate) const fn is_between_lines(&self, side: Side) -> bool {
        match side {
            Side::Client => self.client.partial.is_empty(),
            Side::Server => self.server.partial.is_empty(),
        }
    }

    const fn state(&mut self, side: Side) -> &mut SideState {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    fn line(&mut self, side: Side, line: &[u8]) -> Result<(), String> {
        let Some(message) = read(line) else {
            self.state(side).is_unreadable = true;
            return Err("not JSON".to_owned());
        };
        if message.is_object() {
            return self.message(side, &message);
        }
        self.state(side).is_unreadable = true;
        let members: Vec<Raw> = message.elements().collect();
        let has_batches =
            self.is_disturbed || self.session.is_some_and(|revision| revision.rules().batches);
        if members.is_empty() || !has_batches {
            return Err("not a message".to_owned());
        }
        members.iter().try_for_each(|member| self.message(side, member))
    }

    fn message(&mut self, side: Side, message: &Raw) -> Result<(), String> {
        let id = message.member("id");
        if message.member("jsonrpc").is_none_or(|version| version.as_str() != "\"2.0\"") {
            self.state(side).is_unreadable = true;
            return Err("`jsonrpc` is not \"2.0\"".to_owned());
        }
        if is_response(message) {
            return self.response(side, id.as_ref(), message);
        }
        let method = message.member("method");
        let Some(method) = method.as_ref().and_then(Raw::to_text) else {
            self.state(side).is_unreadable = true;
            return Err("neither a request, a notification nor a response".to_owned());
        };
        if message.member("params").is_some_and(|params| !params.is_object()) {
            return Err("`params` is not an object".to_owned());
        }
        match id {
            Some(id) => self.request(side, &id, &method, message),
            None => self.notification(side, &method, message),
        }
    }

    fn request(&mut self, side: Side, id: &Raw, method: &str, message: &Raw) -> Result<(), String> {
        if !is_integer(id) && id.to_text().is_none() {
            self.state(side).is_unreadable = true;
            return Err(format!("invalid id {id}"));
        }
        let is_modern = meta(message, VERSION).is_some();
        let (session, is_disturbed) = (self.session.is_some(), self.is_disturbed);
        let request = self.state(side).requests.entry(id.as_str().into()).or_default();
        let is_repeated = request.open > 0 || (!request.method.is_empty() && session && !is_modern);
        let open = request.open + 1;
        let token = meta(message, "progressToken");
        *request = SentRequests { method: method.into(), open, token, ..SentRequests::default() };
        if is_repeated && !is_disturbed {
            return Err(format!("request id {id} is already used"));
        }
        if is_disturbed || is_modern || method == "ping" {
            return Ok(());
        }
        match side {
            Side::Client if method == "initialize" => return Ok(()),
            Side::Client if !session => return Err(format!("{method} before the session is open")),
            Side::Server if !self.is_initialized => {
                return Err(format!("{method} before the client is initialized"));
            }
            Side::Client | Side::Server => {}
        }
        self.check_table(side, method, true)
    }

    fn notification(&mut self, side: Side, method: &str, message: &Raw) -> Result<(), String> {
        let param = |name| message.member("params").and_then(|params| params.member(name));
        match method {
            "notifications/initialized" if side == Side::Client => {
                self.is_initialized = true;
                if self.session.is_none() && !self.is_disturbed {
                    return Err("`initialized` before the response to `initialize`".to_owned());
                }
                Ok(())
            }
            "notifications/cancelled" => self.cancel(side, param("requestId").as_ref()),
            "notifications/progress" => {
                self.progress(side, param("progressToken").as_ref(), param("progress").as_ref())
            }
            // The notification belongs to a modern subscription rather than a session.
            _ if meta(message, SUBSCRIPTION).is_some() => Ok(()),
            _ => self.check_table(side, method, false),
        }
    }

    fn response(&mut self, side: Side, id: Option<&Raw>, message: &Raw) -> Result<(), String> {
        let (result, error) = (message.member("result"), message.member("error"));
        match (&result, &error) {
            (Some(result), None) if !result.is_object() => {
                return Err("`result` is not an object".to_owned());
            }
            (Some(_), Some(_)) => return Err("both a result and an error".to_owned()),
            (None, Some(error)) => {
                let has_code = error.member("code").is_some_and(|code| is_integer(&code));
                if !has_code || error.member("message").is_none_or(|text| text.to_text().is_none())
                {
                    return Err("the error has no `code` or no `message`".to_owned());
                }
            }
            (Some(_) | None, None) => {}
        }
        let Some(id) = id.filter(|id| id.as_str() != "null") else {
            // The error may answer a message with an unreadable id.
            return if result.is_some() {
                Err("a result without an id".to_owned())
            } else {
                Ok(())
            };
        };
        let other = self.state(side.other());
        let is_excused = other.is_unreadable && error.is_some();
        let Some(request) = other.requests.get_mut(id.as_str()) else {
            return if is_excused { Ok(()) } else { Err(format!("no request {id}")) };
        };
        if request.open == 0 {
            return if is_excused {
                Ok(())
            } else {
                Err(format!("request {id} is already answered"))
            };
        }
        request.open -= 1;
        if &*request.method == "initialize"
            && let Some(revision) = result.and_then(|result| result.member("protocolVersion"))
        {
            self.session = revision.to_text().and_then(|name| Revision::from_name(&name));
        }
        Ok(())
    }

    fn cancel(&mut self, side: Side, id: Option<&Raw>) -> Result<(), String> {
        let Some(id) = id else { return Err("cancellation without `requestId`".to_owned()) };
        if let Some(request) = self.state(side).requests.get_mut(id.as_str()) {
            request.is_cancelled = true;
            let is_handshake = &*request.method == "initialize";
            return if is_handshake {
                Err("initialize cannot be cancelled".to_owned())
            } else {
                Ok(())
            };
        }
        let is_disturbed = self.is_disturbed;
        // A server ends a client's subscription by cancelling it.
        let subscription = self.state(side.other()).requests.get_mut(id.as_str());
        match subscription.filter(|request| &*request.method == "subscriptions/listen") {
            Some(request) => {
                request.is_cancelled = true;
                Ok(())
            }
            None if is_disturbed => Ok(()),
            None => Err(format!("cancellation of unknown request {id}")),
        }
    }

    fn progress(
        &mut self,
        side: Side,
        token: Option<&Raw>,
        progress: Option<&Raw>,
    ) -> Result<(), String> {
        let Some(progress) = progress.and_then(|progress| progress.parse::<f64>().ok()) else {
            return Err("`progress` is not a number".to_owned());
        };
        if self.is_disturbed {
            return Ok(());
        }
        let has_token = |request: &&mut SentRequests| {
            request.token.is_some() && request.token.as_ref() == token
        };
        let mut requests: Vec<_> =
            self.state(side.other()).requests.values_mut().filter(has_token).collect();
        // If several requests share the token, the progress cannot be attributed.
        match requests.as_mut_slice() {
            [] => Err("progress was not requested".to_owned()),
            [request] if request.open == 0 => Err("progress after the response".to_owned()),
            [request] if request.progress.is_some_and(|last| progress <= last) => {
                Err("progress does not increase".to_owned())
            }
            [request] => {
                request.progress = Some(progress);
                Ok(())
            }
            [..] => Ok(()),
        }
    }

    /// Checks that the revision of the session defines a method of the protocol for its sender.
    fn check_table(&self, side: Side, method: &str, is_request: bool) -> Result<(), String> {
        let Some(revision) = self
            .session
            .filter(|_| !self.is_disturbed && crate::MethodId::from_name(method).is_some())
        else {
            return Ok(());
        };
        match MethodRule::find(method, is_request, revision) {
            None => Err(format!("{revision} has no {method}")),
            Some(rule) if !rule.is_sent_by(side) => Err(format!("{method} from the wrong side")),
            Some(_) => Ok(()),
        }
    }
}

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn breach(side: Side, why: &str, line: &[u8]) -> WireViolation {
    let shown = line.get(..LINE_BYTES_MAX).unwrap_or(line);
    let dots = if shown.len() < line.len() { " …" } else { "" };
    WireViolation { side, what: format!("{why}: {}{dots}", EscapedLine(shown)) }
}

/// The maximum length of a line in a violation, in bytes; longer ones are truncated.
const LINE_BYTES_MAX: usize = 600;

fn read(line: &[u8]) -> Option<Raw> {
    Raw::from_text(core::str::from_utf8(line).ok()?).ok()
}

fn is_response(message: &Raw) -> bool {
    let has = |name| find(message.as_bytes(), name).is_some();
    !has("method") && (has("result") || has("error"))
}

fn meta(message: &Raw, name: &str) -> Option<Raw> {
    message.member("params")?.member("_meta")?.member(name)
}

fn is_integer(number: &Raw) -> bool {
    let text = number.as_str();
    text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
