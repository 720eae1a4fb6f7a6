//! The rules of the wire: checks every line of one side against everything both sides sent before.
//!
//! It parses JSON with `serde_json` and splits lines itself, so that it shares no code with the
//! machines under test.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::{Instant, Limits, Revision, Side};
use serde_json::Value;

use crate::methods::{forbids, is_early_notification, is_early_request};
use crate::modern::{Asked, ModernRules};
use crate::parse::{spelling, tree};

/// The rules for the output of `side`.
#[derive(Clone, Debug)]
pub struct WireRules {
    side: Side,
    limits: Limits,
    /// Whether the connection is modern.
    pub(crate) is_modern: bool,
    revision: Option<Revision>,
    ours: Value,
    theirs: Value,
    /// Whether the peer is ready: requests other than pings may be sent.
    is_settled: bool,
    /// Our requests, by id.
    sent: BTreeMap<u64, Sent>,
    /// The peer's messages that wait for a response, by the spelling of their id, oldest first.
    received: BTreeMap<String, Vec<Received>>,
    /// Cancellations and responses received; they count once their input was processed.
    cancels: Vec<String>,
    answers: Vec<u64>,
    /// Progress tokens of requests with one id.
    repeated_tokens: BTreeSet<String>,
    initialize: Option<(String, Value)>,
    /// Further tokens, of which one counts if the first request is refused.
    initialize_again: Vec<(String, Value)>,
    /// The rules of modern messages.
    modern: ModernRules,
    idless_errors: f64,
    idless_at: Instant,
    partial: Vec<u8>,
    /// The lines that could not be read or were too long, lossily: errors may name their ids.
    unread: Vec<String>,
    /// Whether it is uncertain that the current line will be accepted.
    is_unsure: bool,
    /// Whether the revision is part of bytes that were not processed yet.
    is_fresh: bool,
    pub(crate) is_form_only: bool,
}

#[derive(Clone, Debug)]
struct Sent {
    method: String,
    /// Kept for modern requests.
    params: Option<Value>,
    is_answered: bool,
    is_cancelled: bool,
}

#[derive(Clone, Debug, Default)]
struct Received {
    /// The progress token, as spelled.
    token: Option<String>,
    progress: Option<f64>,
    /// Whether the peer cancelled it.
    is_cancelled: bool,
    /// Whether another has an equal id: responses cannot be attributed.
    is_repeated: bool,
    /// Whether it may have been answered in a batch that was not sent yet.
    in_batch: bool,
    /// Whether it is not a request that could be served.
    is_broken: bool,
    /// Whether it is modern.
    asked: Option<Asked>,
}

impl Received {
    /// Returns the first and the last that a response may belong to; requests of a batch are
    /// answered in one, if possible.
    fn find(waiting: &[Self], in_batch: bool, is_broken: bool) -> Option<(usize, usize)> {
        let is_it = |received: &Self| received.is_broken == is_broken;
        let is_near = |received: &Self| is_it(received) && received.in_batch == in_batch;
        let ends = |is_it: &dyn Fn(&Self) -> bool| {
            waiting.iter().position(is_it).zip(waiting.iter().rposition(is_it))
        };
        ends(&is_near).or_else(|| ends(&is_it))
    }
}

impl WireRules {
    /// Creates the rules for a side that has sent nothing yet.
    #[must_use]
    pub fn new(side: Side, limits: Limits) -> Self {
        Self {
            side,
            idless_errors: f64::from(limits.error_replies_max),
            limits,
            is_modern: true,
            revision: None,
            ours: Value::Null,
            theirs: Value::Null,
            is_settled: false,
            sent: BTreeMap::new(),
            received: BTreeMap::new(),
            cancels: Vec::new(),
            answers: Vec::new(),
            repeated_tokens: BTreeSet::new(),
            initialize: None,
            initialize_again: Vec::new(),
            modern: ModernRules::default(),
            idless_at: Instant::ZERO,
            partial: Vec::new(),
            unread: Vec::new(),
            is_unsure: false,
            is_fresh: false,
            is_form_only: false,
        }
    }

    /// Restricts the checks to the form of messages: for a peer that may send anything, so that
    /// only the machine knows how it understood it.
    #[must_use]
    pub const fn form_only(mut self) -> Self {
        self.is_form_only = true;
        self
    }

    /// Returns the negotiated revision, as seen on the wire.
    #[must_use]
    pub const fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Records input: what it allows may be sent from now on.
    pub fn hear(&mut self, input: &[u8]) {
        let mut rest = if self.is_form_only { &[] } else { input };
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let mut line = std::mem::take(&mut self.partial);
            line.extend_from_slice(rest.get(..end).unwrap_or_default());
            self.hear_line(&line);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        self.partial.extend_from_slice(rest);
    }

    /// Records the end of input; an unfinished line may have been a message.
    pub fn hear_end(&mut self) {
        let line = std::mem::take(&mut self.partial);
        self.hear_line(&line);
    }

    /// Records that the input was processed: its cancellations and responses count from now on.
    pub fn settle(&mut self) {
        self.is_fresh = false;
        for id in std::mem::take(&mut self.cancels) {
            self.modern.hear_cancel(&id);
            if let Some(waiting) = self.received.get_mut(&id) {
                waiting.retain(|received| !received.is_cancelled || received.in_batch);
            }
        }
        for id in std::mem::take(&mut self.answers) {
            if let Some(sent) = self.sent.get_mut(&id) {
                sent.is_answered = true;
            }
        }
    }

    /// Checks one line, without its end.
    ///
    /// # Errors
    ///
    /// The broken rule.
    pub fn check(&mut self, now: Instant, line: &[u8]) -> Result<(), String> {
        if line.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            return Err("a message holds a line break (FRM-02)".into());
        }
        let message = tree(line).map_err(|error| format!("not JSON: {error}"))?;
        match &message {
            Value::Object(_) => self.check_message(now, &message, false),
            Value::Array(members) => {
                if !self.is_form_only
                    && !self.revision.is_some_and(|revision| revision.rules().batches)
                {
                    return Err("an array, where the revision has none (FRM-15)".into());
                }
                if members.is_empty() {
                    return Err("an empty array (BAT-06)".into());
                }
                members.iter().try_for_each(|member| self.check_message(now, member, true))
            }
            _ => Err("neither an object nor an array (JSON-01)".into()),
        }
    }

    fn hear_line(&mut self, line: &[u8]) {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        // Lines that are too long or too deep were not accepted, and those close to a limit may not
        // have been.
        self.is_unsure = line.len() >= self.limits.message_bytes_max
            || depth(line) >= usize::from(self.limits.depth_max);
        match tree(line) {
            Ok(Value::Array(members)) => {
                // The negotiation may be part of these bytes.
                let has_batches = match self.revision {
                    Some(revision) => revision.rules().batches,
                    // BAT-16: a client is initialized before; a server that is initialized is so
                    // within these bytes.
                    None => self.side == Side::Server && self.initialize.is_some(),
                };
                // Otherwise the array is refused as a whole.
                if has_batches && members.len() <= self.limits.batch_members_max {
                    members.iter().for_each(|member| self.hear_message(member, true));
                }
            }
            Ok(message) => self.hear_message(&message, false),
            Err(_) => self.unread.push(String::from_utf8_lossy(line).into_owned()),
        }
        if line.len() >= self.limits.message_bytes_max {
            self.unread.push(String::from_utf8_lossy(line).into_owned());
        }
    }

    fn hear_message(&mut self, message: &Value, in_batch: bool) {
        let id = message.get("id").filter(|id| id.is_number() || id.is_string()).map(spelling);
        let method = message.get("method").and_then(Value::as_str);
        let is_response = message.get("method").is_none()
            && message.get("result").or_else(|| message.get("error")).is_some();
        let is_whole = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
            && message.get("result").or_else(|| message.get("error")).is_none();
        match (id, method) {
            (Some(id), _) if is_response => self.hear_response(&id, message),
            (Some(id), _) if !is_whole => {
                // It has no content, and is refused.
                let received = Received { is_broken: true, in_batch, ..Received::default() };
                self.received.entry(id).or_default().push(received);
            }
            (None, _) if !is_whole => {}
            (Some(id), method) => {
                if method == Some("initialize")
                    && self.side == Side::Server
                    && self.revision.is_none()
                {
                    let params = message.get("params").cloned().unwrap_or_default();
                    match self.initialize {
                        None => self.initialize = Some((id.clone(), params)),
                        Some(_) => self.initialize_again.push((id.clone(), params)),
                    }
                }
                let token = message.pointer("/params/_meta/progressToken").map(spelling);
                let asked =
                    Asked::of(message).filter(|_| self.side == Side::Server && self.is_modern);
                if asked.is_some() {
                    self.modern.hear_request(&id, message);
                }
                let others = self.received.values().flatten();
                if token.is_some() && others.clone().any(|other| other.token == token) {
                    self.repeated_tokens.extend(token.clone());
                }
                let waiting = self.received.entry(id).or_default();
                let is_repeated = waiting.iter().any(|received| !received.is_broken);
                waiting.push(Received {
                    token,
                    asked,
                    is_repeated,
                    in_batch,
                    ..Received::default()
                });
                if is_repeated {
                    waiting
                        .iter_mut()
                        .filter(|received| !received.is_broken)
                        .for_each(|received| received.is_repeated = true);
                    let tokens = waiting.iter().filter_map(|received| received.token.clone());
                    self.repeated_tokens.extend(tokens);
                }
            }
            (None, Some("notifications/cancelled")) => {
                let id = message.pointer("/params/requestId").map(spelling).unwrap_or_default();
                let waiting = self.received.get_mut(&id).into_iter().flatten();
                if let Some(received) = waiting
                    .into_iter()
                    .find(|received| !received.is_cancelled && !received.is_broken)
                {
                    received.is_cancelled = true;
                    self.cancels.push(id);
                }
            }
            (None, Some("notifications/initialized")) if self.side == Side::Server => {
                self.is_settled |= self.revision.is_some() || self.initialize.is_some();
            }
            (None, _) => {}
        }
    }

    fn hear_response(&mut self, id: &str, message: &Value) {
        let Ok(id) = id.parse() else { return };
        let Some(sent) = self.sent.get(&id) else { return };
        if sent.is_answered || self.answers.contains(&id) {
            return;
        }
        if !self.is_unsure {
            self.answers.push(id);
        }
        if self.revision.is_none() {
            self.modern.hear_response(&sent.method, sent.params.as_ref(), message);
        }
        if sent.method == "initialize" && message.get("error").is_some() {
            // It opened nothing.
            self.initialize = None;
        } else if sent.method == "initialize" && self.revision.is_none() {
            let revision = message.pointer("/result/protocolVersion").and_then(Value::as_str);
            self.revision = revision.and_then(Revision::from_name);
            self.is_fresh = true;
            self.theirs = message.pointer("/result/capabilities").cloned().unwrap_or_default();
            self.is_settled = self.revision.is_some();
        }
    }

    fn check_message(
        &mut self,
        now: Instant,
        message: &Value,
        in_batch: bool,
    ) -> Result<(), String> {
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err("`jsonrpc` is not \"2.0\" (JSON-01)".into());
        }
        if let Some(params) = message.get("params").filter(|params| !params.is_object()) {
            return Err(format!("params are {params}, not an object (JSON-17)"));
        }
        match (message.get("id"), message.get("method")) {
            _ if self.is_form_only => Ok(()),
            (Some(id), Some(Value::String(method))) => self.check_request(id, method, message),
            (None, Some(Value::String(method))) => self.check_notification(method, message),
            (_, Some(_)) => Err("`method` is not a string".into()),
            (id, None) => self.check_response(now, id, message, in_batch),
        }
    }

    fn check_request(&mut self, id: &Value, method: &str, message: &Value) -> Result<(), String> {
        let Some(id) = id.as_u64().filter(|id| *id < 1 << 53) else {
            return Err(format!("the request id is {id} (JSON-02, ID-06)"));
        };
        let params = message.get("params").cloned().filter(|_| Asked::of(message).is_some());
        let has_metadata = params.is_some();
        let sent = Sent { method: method.into(), params, is_answered: false, is_cancelled: false };
        if self.sent.insert(id, sent).is_some() {
            return Err(format!("the request id {id} was reused (ID-01)"));
        }
        let is_agreed = self.revision.is_some() && !self.is_fresh;
        if self.side == Side::Client && method == "server/discover" && !is_agreed {
            // The previous attempt failed, even if a response to it followed immediately.
            self.initialize = None;
            self.revision = None;
            self.is_settled = false;
            self.give_up("initialize");
        }
        let is_modern = self.modern.discovered.is_some() && self.initialize.is_none();
        if self.side == Side::Client && method != "initialize" && (has_metadata || is_modern) {
            if !is_modern && method != "server/discover" {
                return Err(format!(
                    "{method} left before the server was discovered (LIF-26, LIF-32)"
                ));
            }
            return self.modern.check_request(method, message);
        }
        if !self.is_settled && !is_early_request(method, self.side) {
            return Err(format!("{method} left before the handshake was over (LIF-09, LIF-10)"));
        }
        if method == "initialize" {
            let opens =
                |sent: &Sent| matches!(&*sent.method, "initialize" | "ping" | "server/discover");
            if !self.sent.values().all(opens) {
                return Err("`initialize` is not the first (LIF-01)".into());
            }
            if message.pointer("/params/protocolVersion").and_then(Value::as_str)
                == Some("2026-07-28")
            {
                return Err("`initialize` in a revision without it (LIF-19)".into());
            }
            self.ours = message.pointer("/params/capabilities").cloned().unwrap_or_default();
            self.initialize = Some((id.to_string(), Value::Null));
            self.modern.discovered = None;
            self.give_up("server/discover");
            return Ok(());
        }
        self.check_table(message, true)
    }

    /// Records that a client changes its approach: responses to the previous one are too late.
    // LIF-28, LIF-31, T-35: an abandoned probe is ignored.
    fn give_up(&mut self, method: &str) {
        self.sent
            .values_mut()
            .filter(|sent| sent.method == method)
            .for_each(|sent| sent.is_answered = true);
    }

    fn check_notification(&mut self, method: &str, message: &Value) -> Result<(), String> {
        let is_modern = self.modern.discovered.is_some() && self.initialize.is_none();
        if self.side == Side::Client && is_modern {
            return match method {
                "notifications/cancelled" => self.check_cancel(message),
                // Methods outside of the protocol are up to the application.
                _ => {
                    let (revision, undeclared) = (Revision::V2026_07_28, Value::Null);
                    forbids(message, false, Side::Client, revision, &undeclared, &undeclared)
                        .map_or(Ok(()), |why| Err(format!("{why} (§2.2)")))
                }
            };
        }
        if self.side == Side::Server && ModernRules::is_tagged(method, message) {
            return self.modern.check_tagged(method, message);
        }
        let has_session = self.revision.is_some();
        if self.side == Side::Server && !has_session {
            match method {
                "notifications/progress" => return self.check_progress(message),
                "notifications/cancelled" => return self.modern.check_cancel(message),
                "notifications/message" => {
                    let wants = |received: &Received| {
                        received.asked.as_ref().is_some_and(|asked| asked.wants_logs)
                    };
                    let is_wanted = self.received.values().flatten().any(wants);
                    return if is_wanted {
                        Ok(())
                    } else {
                        Err("an unrequested log message (LOG-05)".into())
                    };
                }
                _ => {}
            }
        }
        if !self.is_settled && !is_early_notification(method, self.side) {
            return Err(format!("{method} left before the handshake was over (LIF-09, LIF-10)"));
        }
        match method {
            "notifications/cancelled"
                if self.side == Side::Server
                    && !self.is_open(message)
                    && self.modern.check_cancel(message).is_ok() =>
            {
                return Ok(());
            }
            "notifications/cancelled" => self.check_cancel(message)?,
            "notifications/progress" => self.check_progress(message)?,
            _ => {}
        }
        self.check_table(message, false)
    }

    fn check_table(&self, message: &Value, is_request: bool) -> Result<(), String> {
        let Some(revision) = self.revision else { return Ok(()) };
        forbids(message, is_request, self.side, revision, &self.ours, &self.theirs)
            .map_or(Ok(()), |why| Err(format!("{why} (CAP-03)")))
    }

    /// Returns whether a cancellation names an open request of ours; a subscription of the peer may
    /// have an equal id.
    fn is_open(&self, cancel: &Value) -> bool {
        let id = cancel.pointer("/params/requestId").and_then(Value::as_u64);
        id.and_then(|id| self.sent.get(&id))
            .is_some_and(|sent| !sent.is_answered && !sent.is_cancelled)
    }

    /// Checks that a cancellation names a request of ours, after it and once.
    // CAN-01, CAN-02: only requests in flight can be cancelled.
    fn check_cancel(&mut self, message: &Value) -> Result<(), String> {
        let id = message.pointer("/params/requestId").unwrap_or(&Value::Null);
        let Some(sent) = id.as_u64().and_then(|id| self.sent.get_mut(&id)) else {
            return Err(format!("a cancel of {id}, which was not sent (CAN-01)"));
        };
        if sent.method == "initialize"
            || (sent.method == "server/discover" && self.modern.discovered.is_none())
        {
            return Err(format!("a cancel of {} (CAN-02, T-35)", sent.method));
        }
        if std::mem::replace(&mut sent.is_cancelled, true) {
            return Err(format!("{id} was cancelled twice (CAN-01)"));
        }
        if sent.is_answered {
            return Err(format!("a cancel of {id}, which was answered (CAN-01)"));
        }
        Ok(())
    }

    /// Checks that progress has the token of an open request, and increases.
    // PRG-03…05: tokens and values of progress.
    fn check_progress(&mut self, message: &Value) -> Result<(), String> {
        let token = message.pointer("/params/progressToken").unwrap_or(&Value::Null).to_string();
        let progress = message.pointer("/params/progress").and_then(Value::as_f64);
        let Some(progress) = progress else { return Err("progress is not a number".into()) };
        if self.repeated_tokens.contains(&token) {
            return Ok(());
        }
        let mut open = self
            .received
            .values_mut()
            .flatten()
            .filter(|received| received.token.as_ref() == Some(&token));
        let Some(received) = open.next() else {
            return Err(format!(
                "progress for {token}, which belongs to no open request (PRG-03, PRG-04)"
            ));
        };
        let in_session = received.asked.is_none() && self.revision == Some(Revision::V2024_11_05);
        if in_session && message.pointer("/params/message").is_some() {
            return Err("progress has no message in 2024-11-05 (PRG-07)".into());
        }
        if received.progress.is_some_and(|last| progress <= last) {
            return Err(format!("progress {progress} does not increase (PRG-05)"));
        }
        received.progress = Some(progress);
        Ok(())
    }

    fn check_response(
        &mut self,
        now: Instant,
        id: Option<&Value>,
        message: &Value,
        in_batch: bool,
    ) -> Result<(), String> {
        match (message.get("result"), message.get("error")) {
            (Some(Value::Object(_)), None) => {}
            (Some(_), None) => return Err("the result is not an object (JSON-08)".into()),
            (None, Some(error)) => {
                let is_whole = error.get("code").is_some_and(Value::is_i64)
                    && error.get("message").is_some_and(Value::is_string);
                if !is_whole {
                    return Err("the error lacks its code or message (JSON-09)".into());
                }
            }
            (Some(_), Some(_)) => return Err("both a result and an error (JSON-07)".into()),
            (None, None) => return Err("neither a result nor an error (JSON-07)".into()),
        }
        match id {
            None | Some(Value::Null) => self.check_idless(now, id.is_some(), message, in_batch),
            Some(id) if self.is_unread(id, message) => Ok(()),
            Some(id) => self.check_answer(&spelling(id), message, in_batch),
        }
    }

    /// Returns whether an error refuses a line that could not be read.
    fn is_unread(&self, id: &Value, message: &Value) -> bool {
        let is_open = self.received.get(&spelling(id)).is_some_and(|waiting| !waiting.is_empty());
        let is_read = match message["error"]["code"].as_i64() {
            Some(-32700) => false,
            Some(-32600) => is_open,
            _ => true,
        };
        // An id keeps its spelling, of which the tree shows only the value.
        let has_id = |line: &String| match id.as_str() {
            Some(text) => line.contains(text) || line.contains("\\u"),
            None => !id.is_i64() || line.contains(&spelling(id)),
        };
        !is_read && self.unread.iter().any(has_id)
    }

    /// Checks that a response answers an open request, once.
    // JSON-05, JSON-06: notifications get no response, and ids are echoed.
    fn check_answer(&mut self, id: &str, message: &Value, in_batch: bool) -> Result<(), String> {
        let waiting = self.received.get_mut(id).filter(|waiting| !waiting.is_empty());
        let Some(waiting) = waiting else {
            return Err(format!("a response to {id}, which is not open (JSON-05, CAN-03)"));
        };
        let is_error = message.get("error").is_some();
        let (broken, served) =
            (Received::find(waiting, in_batch, true), Received::find(waiting, in_batch, false));
        let index = match (broken, served) {
            (Some((broken, _)), _) if message["error"]["code"] == -32600 => broken,
            // ID-09: of two requests with one id, the later one is refused.
            (_, Some((_, last))) if is_error => last,
            (_, Some((first, _))) => first,
            (_, None) => return Err(format!("an answer to {id}, which was no request (JSON-01)")),
        };
        let answered = Some(waiting.remove(index));
        let says_used =
            message["error"]["message"].as_str().is_some_and(|why| why.contains("already in use"));
        if says_used
            && answered
                .as_ref()
                .is_some_and(|received| !received.is_repeated && !received.is_broken)
        {
            return Err(format!(
                "{id} is refused as a duplicate, and no open request has it (ID-09)"
            ));
        }
        if self.side == Side::Client
            && self.modern.discovered.is_some()
            && self.initialize.is_none()
        {
            return Err("a client answers, where none is asked (FRM-16)".into());
        }
        // Of two requests with one id, the refusal may belong to the other.
        let is_doubtful = is_error
            && answered.as_ref().is_some_and(|received| received.is_repeated || received.is_broken);
        if self.side == Side::Server && self.revision.is_none() && !is_doubtful {
            self.check_welcome(id, message);
        }
        // Of two that arrived together, the first may have been refused for its content; only a
        // refusal for its id means the later one.
        let is_its_own = !is_doubtful || message["error"]["code"] == -32600;
        if is_error
            && is_its_own
            && let Some(asked) = answered.as_ref().and_then(|received| received.asked.as_ref())
        {
            self.modern.refuse(id, asked);
        }
        let answered = answered.filter(|received| !received.is_repeated);
        if let Some(asked) = answered.and_then(|received| received.asked) {
            return self.modern.check_answer(id, &asked, message);
        }
        Ok(())
    }

    /// Checks a response to `initialize`, which opens the session, or leaves it to the next one.
    fn check_welcome(&mut self, id: &str, message: &Value) {
        let mut pending: Vec<_> = self.initialize.take().into_iter().collect();
        pending.append(&mut self.initialize_again);
        if let Some(index) = pending.iter().position(|(initialize, _)| initialize == id) {
            let (_, params) = pending.remove(index);
            if let Some(revision) =
                message.pointer("/result/protocolVersion").and_then(Value::as_str)
            {
                self.revision = Revision::from_name(revision);
                self.theirs = params.get("capabilities").cloned().unwrap_or_default();
                self.ours = message.pointer("/result/capabilities").cloned().unwrap_or_default();
            }
        }
        let mut pending = pending.into_iter();
        self.initialize = pending.next();
        self.initialize_again = pending.collect();
    }

    /// Checks an error that names no request: it has the revision's form, and there are not many.
    // D-01, T-20: the form of the id, and a limited rate.
    fn check_idless(
        &mut self,
        now: Instant,
        is_null: bool,
        message: &Value,
        in_batch: bool,
    ) -> Result<(), String> {
        if message.get("error").is_none() {
            return Err("a result without an id (JSON-06)".into());
        }
        if let Some(revision) = self.revision
            && revision.rules().unknown_id_is_null != is_null
            && !self.is_fresh
        {
            return Err(format!("an error without an id has the wrong form for {revision} (D-01)"));
        }
        if in_batch {
            return Ok(());
        }
        let every = self.limits.error_reply_every.as_secs_f64().max(1e-9);
        let earned = now.duration_since(self.idless_at).as_secs_f64() / every;
        self.idless_at = self.idless_at.max(now);
        self.idless_errors =
            (self.idless_errors + earned).min(f64::from(self.limits.error_replies_max));
        self.idless_errors -= 1.0;
        if self.idless_errors < -1e-6 {
            return Err("more errors without an id than the limit allows (T-18, T-20)".into());
        }
        Ok(())
    }
}

/// Returns the nesting depth of a text.
fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut is_escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
