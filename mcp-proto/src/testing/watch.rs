//! What may stand on the wire between any two peers: every line that either sends, held against all
//! that both sent before; knows nothing of machines, of time, or of what has arrived.
//!
//! Whoever listens to a wire does not know what has arrived at the other end. So a line is a breach
//! here only where it is one whatever is still under way: what is reported is wrong, and what is
//! not reported can be.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::transcript::Shown;
use crate::json::{Raw, find};
use crate::revision::{MethodRule, Revision, Side};

/// A rule of the wire that a peer broke.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Breach {
    /// Who broke it.
    pub side: Side,
    /// What is wrong, and with which line.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Client => "client",
            Side::Server => "server",
        };
        write!(f, "the {side} broke a rule: {}", self.what)
    }
}

impl core::error::Error for Breach {}

/// Listens to both directions of a stream of lines, and says what breaks the rules of the wire.
///
/// It takes sides with nobody: either peer can be a machine of this crate or anything else.
/// Reported are
///
/// - lines that are no message: not JSON, not JSON-RPC 2.0, batches where the revision has none;
/// - answers to what was not asked, second answers, results without an id;
/// - request ids that are used again, within a session or while the first is open;
/// - requests before the session is open, and `initialized` before the welcome;
/// - messages of the protocol from the wrong side, or that the session's revision does not have;
/// - progress that nobody asked for, that does not grow, or that follows its answer; cancels of
///   what was not asked, and of `initialize`.
///
/// Its memory grows with the number of requests: it is for tests.
///
/// ```
/// use mcp_proto::Side;
/// use mcp_proto::testing::Watch;
///
/// let mut watch = Watch::default();
/// watch.sent(Side::Client, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
/// assert_eq!(watch.unanswered().count(), 1);
/// watch.sent(Side::Server, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").unwrap();
/// let breach = watch.sent(Side::Server, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n").unwrap_err();
/// assert_eq!(breach.side, Side::Server);
/// assert!(breach.what.contains("1 was answered before"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Watch {
    client: Half,
    server: Half,
    /// What the session speaks, once there is one.
    session: Option<Revision>,
    /// The client has said that it is all set.
    is_initialized: bool,
    /// Somebody else said something: what the peers know of each other is not known.
    is_disturbed: bool,
}

/// What one side has sent.
#[derive(Clone, Debug, Default)]
struct Half {
    /// A line that is not complete.
    partial: Vec<u8>,
    /// Its requests, by their id's text.
    asked: BTreeMap<Box<str>, Asked>,
    /// It sent something without a readable id that can be answered all the same.
    is_unreadable: bool,
}

/// Requests of one side with one id.
#[derive(Clone, Debug, Default)]
struct Asked {
    method: Box<str>,
    /// How many of them are not answered.
    open: usize,
    is_cancelled: bool,
    /// The text of the progress token.
    token: Option<Raw>,
    progress: Option<f64>,
}

impl Watch {
    /// Takes in bytes that `side` sent, split anywhere.
    ///
    /// # Errors
    /// The first breach in them. All of them are taken in even then.
    pub fn sent(&mut self, side: Side, bytes: &[u8]) -> Result<(), Breach> {
        let mut outcome = Ok(());
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let half = self.half(side);
            half.partial.extend_from_slice(part);
            if half.partial.last() == Some(&b'\n') {
                let line = core::mem::take(&mut half.partial);
                let line = line.strip_suffix(b"\n").unwrap_or_default();
                let checked = self.line(side, line).map_err(|why| breach(side, &why, line));
                outcome = outcome.and(checked);
            }
        }
        outcome
    }

    /// A line that somebody else sent in the name of `side`: it breaks no rule, and can be
    /// answered.
    pub fn stray(&mut self, side: Side, line: &[u8]) {
        self.is_disturbed = true;
        let half = self.half(side);
        half.is_unreadable = true;
        let Some(message) = read(line) else { return };
        for message in
            if message.is_object() { [message].to_vec() } else { message.elements().collect() }
        {
            if let (Some(id), false) = (message.member("id"), is_response(&message)) {
                let asked = self.half(side).asked.entry(id.as_str().into()).or_default();
                asked.open += 1;
                asked.is_cancelled = true;
            }
        }
    }

    /// The requests that were neither answered nor taken back: who sent each, its id as it was
    /// written, its method.
    pub fn unanswered(&self) -> impl Iterator<Item = (Side, &str, &str)> {
        let sides = [(Side::Client, &self.client), (Side::Server, &self.server)];
        sides.into_iter().flat_map(|(side, half)| {
            let open = half.asked.iter().filter(|(_, asked)| asked.open > 0 && !asked.is_cancelled);
            open.map(move |(id, asked)| (side, &**id, &*asked.method))
        })
    }

    /// The revision of the session, once the server has agreed to one.
    #[must_use]
    pub const fn session(&self) -> Option<Revision> {
        self.session
    }

    /// Whether the last byte that `side` sent ended a line, or none was sent.
    pub(crate) const fn is_between_lines(&self, side: Side) -> bool {
        match side {
            Side::Client => self.client.partial.is_empty(),
            Side::Server => self.server.partial.is_empty(),
        }
    }

    const fn half(&mut self, side: Side) -> &mut Half {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }

    fn line(&mut self, side: Side, line: &[u8]) -> Result<(), String> {
        let Some(message) = read(line) else {
            self.half(side).is_unreadable = true;
            return Err("it is not JSON".to_owned());
        };
        if message.is_object() {
            return self.message(side, &message);
        }
        self.half(side).is_unreadable = true;
        let members: Vec<Raw> = message.elements().collect();
        let has_batches =
            self.is_disturbed || self.session.is_some_and(|revision| revision.rules().batches);
        if members.is_empty() || !has_batches {
            return Err("it is no message".to_owned());
        }
        members.iter().try_for_each(|member| self.message(side, member))
    }

    fn message(&mut self, side: Side, message: &Raw) -> Result<(), String> {
        let id = message.member("id");
        if message.member("jsonrpc").is_none_or(|version| version.as_str() != "\"2.0\"") {
            self.half(side).is_unreadable = true;
            return Err("`jsonrpc` is not \"2.0\"".to_owned());
        }
        if is_response(message) {
            return self.response(side, id.as_ref(), message);
        }
        let method = message.member("method");
        let Some(method) = method.as_ref().and_then(Raw::to_text) else {
            self.half(side).is_unreadable = true;
            return Err("it is neither a request, a notification nor a response".to_owned());
        };
        if message.member("params").is_some_and(|params| !params.is_object()) {
            return Err("params are not an object".to_owned());
        }
        match id {
            Some(id) => self.request(side, &id, &method, message),
            None => self.notification(side, &method, message),
        }
    }

    fn request(&mut self, side: Side, id: &Raw, method: &str, message: &Raw) -> Result<(), String> {
        if !is_integer(id) && id.to_text().is_none() {
            self.half(side).is_unreadable = true;
            return Err(format!("the id is {id}"));
        }
        let stands_alone = meta(message, VERSION).is_some();
        let (session, is_disturbed) = (self.session.is_some(), self.is_disturbed);
        let asked = self.half(side).asked.entry(id.as_str().into()).or_default();
        let is_repeated = asked.open > 0 || (!asked.method.is_empty() && session && !stands_alone);
        let open = asked.open + 1;
        let token = meta(message, "progressToken");
        *asked = Asked { method: method.into(), open, token, ..Asked::default() };
        if is_repeated && !is_disturbed {
            return Err(format!("the request id {id} was used before"));
        }
        if is_disturbed || stands_alone || method == "ping" {
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
                    return Err("the client was not welcomed yet".to_owned());
                }
                Ok(())
            }
            "notifications/cancelled" => self.cancel(side, param("requestId").as_ref()),
            "notifications/progress" => {
                self.progress(side, param("progressToken").as_ref(), param("progress").as_ref())
            }
            // It belongs to a subscription, and to no session.
            _ if meta(message, SUBSCRIPTION).is_some() => Ok(()),
            _ => self.check_table(side, method, false),
        }
    }

    fn response(&mut self, side: Side, id: Option<&Raw>, message: &Raw) -> Result<(), String> {
        let (result, error) = (message.member("result"), message.member("error"));
        match (&result, &error) {
            (Some(result), None) if !result.is_object() => {
                return Err("the result is no object".to_owned());
            }
            (Some(_), Some(_)) => return Err("both a result and an error".to_owned()),
            (None, Some(error)) => {
                let has_code = error.member("code").is_some_and(|code| is_integer(&code));
                if !has_code || error.member("message").is_none_or(|text| text.to_text().is_none())
                {
                    return Err("the error lacks its code or its message".to_owned());
                }
            }
            (Some(_) | None, None) => {}
        }
        let Some(id) = id.filter(|id| id.as_str() != "null") else {
            // An error can answer what had no id that could be read.
            return if result.is_some() {
                Err("a result without an id".to_owned())
            } else {
                Ok(())
            };
        };
        let other = self.half(side.other());
        let is_excused = other.is_unreadable && error.is_some();
        let Some(asked) = other.asked.get_mut(id.as_str()) else {
            return if is_excused { Ok(()) } else { Err(format!("nobody asked {id}")) };
        };
        if asked.open == 0 {
            return if is_excused { Ok(()) } else { Err(format!("{id} was answered before")) };
        }
        asked.open -= 1;
        if &*asked.method == "initialize"
            && let Some(revision) = result.and_then(|result| result.member("protocolVersion"))
        {
            self.session = revision.to_text().and_then(|name| Revision::from_name(&name));
        }
        Ok(())
    }

    fn cancel(&mut self, side: Side, id: Option<&Raw>) -> Result<(), String> {
        let Some(id) = id else { return Err("it does not say what is cancelled".to_owned()) };
        if let Some(asked) = self.half(side).asked.get_mut(id.as_str()) {
            asked.is_cancelled = true;
            let is_handshake = &*asked.method == "initialize";
            return if is_handshake {
                Err("initialize cannot be cancelled".to_owned())
            } else {
                Ok(())
            };
        }
        let is_disturbed = self.is_disturbed;
        // A server ends a subscription of the client's by cancelling it.
        let subscription = self.half(side.other()).asked.get_mut(id.as_str());
        match subscription.filter(|asked| &*asked.method == "subscriptions/listen") {
            Some(asked) => {
                asked.is_cancelled = true;
                Ok(())
            }
            None if is_disturbed => Ok(()),
            None => Err(format!("{id} was not asked")),
        }
    }

    fn progress(
        &mut self,
        side: Side,
        token: Option<&Raw>,
        progress: Option<&Raw>,
    ) -> Result<(), String> {
        let Some(progress) = progress.and_then(|progress| progress.parse::<f64>().ok()) else {
            return Err("progress is no number".to_owned());
        };
        if self.is_disturbed {
            return Ok(());
        }
        let waits = |asked: &&mut Asked| asked.token.is_some() && asked.token.as_ref() == token;
        let mut asked: Vec<_> = self.half(side.other()).asked.values_mut().filter(waits).collect();
        // With two of one token, whose progress it is cannot be told.
        match asked.as_mut_slice() {
            [] => Err("nobody asked for this progress".to_owned()),
            [asked] if asked.open == 0 => Err("the progress follows its answer".to_owned()),
            [asked] if asked.progress.is_some_and(|last| progress <= last) => {
                Err("the progress does not grow".to_owned())
            }
            [asked] => {
                asked.progress = Some(progress);
                Ok(())
            }
            [..] => Ok(()),
        }
    }

    /// What the protocol knows must come from the right side, and be known to the session's
    /// revision.
    fn check_table(&self, side: Side, method: &str, is_request: bool) -> Result<(), String> {
        let Some(revision) = self
            .session
            .filter(|_| !self.is_disturbed && crate::MethodId::from_name(method).is_some())
        else {
            return Ok(());
        };
        match MethodRule::find(method, is_request, revision) {
            None => Err(format!("{revision} has no {method}")),
            Some(rule) if !rule.is_sent_by(side) => {
                Err(format!("{method} is not this side's to send"))
            }
            Some(_) => Ok(()),
        }
    }
}

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

fn breach(side: Side, why: &str, line: &[u8]) -> Breach {
    let shown = line.get(..LINE_BYTES_MAX).unwrap_or(line);
    let dots = if shown.len() < line.len() { " …" } else { "" };
    Breach { side, what: format!("{why}: {}{dots}", Shown(shown)) }
}

/// The longest line that a breach shows whole.
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
