//! Checks that an idle machine has room for as much as at the start.

use std::time::Duration;

use mcp_harness::{Pipe, Role};
use mcp_proto::{
    CallOptions, CommandOutcome, Endpoint, Era, Limits, Misuse, OwnedCommand, Raw, Side,
};

use crate::case::Feature;
use crate::node::{Done, Node};
use crate::observed::Observe;
use crate::party::{Party, Shared};
use crate::plan::Mode;

/// Limits above this are not filled.
const FEW: usize = 16;
const LITTLE: usize = 1 << 16;

/// The metadata of a modern request.
const STANDALONE: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

/// The form of valid requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    InSession,
    Standalone,
}

impl Form {
    /// Builds a request whose params contain `members`.
    fn request(self, id: &str, method: &str, members: &str) -> String {
        let params = match (self, members) {
            (Self::InSession, _) => members.to_owned(),
            (Self::Standalone, "") => STANDALONE.to_owned(),
            (Self::Standalone, _) => format!("{members},{STANDALONE}"),
        };
        format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{{{params}}}}}"#)
    }

    /// Returns the length of the metadata, which counts by itself as well as within the params.
    const fn meta_bytes(self) -> usize {
        match self {
            Self::InSession => 0,
            Self::Standalone => STANDALONE.len() - r#""_meta":"#.len(),
        }
    }

    /// Builds a request with params of `bytes` bytes, or as long as a message can be; `None` if
    /// neither suffices.
    fn request_of(self, limits: &Limits, bytes: usize) -> Option<String> {
        let empty = self.request("r0", "x/known", r#""pad":"""#);
        let params =
            empty.len() - r#"{"jsonrpc":"2.0","id":"r0","method":"x/known","params":}"#.len();
        let most = bytes.min((limits.message_bytes_max + params).checked_sub(empty.len())?);
        let pad = "a".repeat(most.checked_sub(params)?);
        Some(self.request("r0", "x/known", &format!(r#""pad":"{pad}""#)))
    }
}

impl<R: Role<Event: Observe>> Node<R> {
    /// Passes as much input to the machine as it must accept. Its output is discarded.
    pub(crate) fn take_in_again(&mut self, shared: &mut Shared, without_subscriptions: bool) {
        // The machine's own requests stay open without answers.
        let is_quiet = self.is_serving()
            && self.machine.wants_input()
            && self.machine.outbox().is_empty()
            && self.bounds.is_between_lines()
            && self.requests.is_empty()
            && (self.asks == 0 || shared.plan.mode == Mode::Honest);
        let Some(form) = self.form(shared).filter(|_| is_quiet) else { return };
        self.requests_again(shared, form);
        self.batches_again(shared);
        // A client that gave up on a subscription leaves it open at the server.
        if without_subscriptions && self.watched == 0 && R::SIDE == Side::Server {
            self.subscriptions_again(shared, form);
        }
    }

    fn form(&self, shared: &Shared) -> Option<Form> {
        let asks = |side: Side| match (side, R::SIDE) {
            (Side::Client, Side::Client) => {
                self.machine.peer().map(|peer| peer.revision.rules().server_requests)
            }
            _ => self.machine.peer().map(|_| true),
        };
        let is_modern =
            shared.plan.revisions[1].iter().any(|revision| revision.era() == Era::Modern);
        if R::SIDE == Side::Server && is_modern {
            return Some(Form::Standalone);
        }
        asks(R::SIDE).filter(|asks| *asks).map(|_| Form::InSession)
    }

    fn requests_again(&mut self, shared: &mut Shared, form: Form) {
        let limits = self.machine.limits().clone();
        if limits.requests_bytes_max <= LITTLE
            && let Some(bytes) = limits.requests_bytes_max.checked_sub(form.meta_bytes())
            && let Some(line) = form.request_of(&limits, bytes)
        {
            self.tell_and_take(shared, &line);
            if self.requests.len() != 1 && self.is_serving() {
                self.machine
                    .breach("nothing is open and one large request does not fit: something leaked");
            }
            self.mark(shared, "rest", "requests_bytes_max");
        }
        self.refuse_all(shared);
        let line = form.request("r0", "x/known", "");
        let fits = line.len() <= limits.message_bytes_max
            && limits.requests_bytes_max > LITTLE
            && limits.requests_max <= FEW;
        if fits {
            for number in 0..limits.requests_max {
                let line = form.request(&format!("r{number}"), "x/known", "");
                self.tell_and_take(shared, &line);
                if self.requests.len() <= number && self.is_serving() {
                    self.machine.breach(format!(
                        "nothing is open and request {number} does not fit: something leaked"
                    ));
                }
            }
            self.mark(shared, "rest", "requests_max");
        }
        self.refuse_all(shared);
    }

    /// Checks that batches are accepted: one is refused only if too many replies wait, so the limit
    /// is filled, and once again.
    fn batches_again(&mut self, shared: &mut Shared) {
        let limits = self.machine.limits().clone();
        let has_batches = self.machine.peer().is_some_and(|peer| peer.revision.rules().batches);
        if !has_batches || limits.replies_bytes_max > LITTLE {
            return;
        }
        let members = (0..limits.batch_members_max.min(FEW) as u64)
            .map(|number| format!(r#"{{"jsonrpc":"2.0","id":"r{number}","method":"ping"}}"#));
        let batch = format!("[{}]", members.collect::<Vec<_>>().join(","));
        let mut said = 0;
        while said <= limits.replies_bytes_max
            && batch.len() <= limits.message_bytes_max
            && self.is_serving()
        {
            let lines = self.tell_and_take(shared, &batch);
            if lines.iter().any(|line| line.contains("too many batched responses")) {
                self.machine.breach("no batch is open and one more is refused: something leaked");
            }
            said += lines.iter().map(String::len).sum::<usize>().max(1);
            self.mark(shared, "rest", "replies_bytes_max");
        }
    }

    fn subscriptions_again(&mut self, shared: &mut Shared, form: Form) {
        let limits = self.machine.limits().clone();
        let uri = "u".repeat(
            limits.subscriptions_bytes_max.min(limits.message_bytes_max.saturating_sub(500)),
        );
        let (subscribe, end) = match form {
            Form::InSession => (
                form.request("r0", "resources/subscribe", &format!(r#""uri":"{uri}""#)),
                form.request("r1", "resources/unsubscribe", &format!(r#""uri":"{uri}""#)),
            ),
            Form::Standalone => (
                form.request(
                    "r0",
                    "subscriptions/listen",
                    &format!(r#""notifications":{{"resourceSubscriptions":["{uri}"]}}"#),
                ),
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r0"}}"#
                    .to_owned(),
            ),
        };
        let may = limits.subscriptions_max > 0
            && limits.subscription_uris_max > 0
            && limits.subscriptions_bytes_max <= LITTLE
            && subscribe.len() <= limits.message_bytes_max;
        if !may {
            return;
        }
        let lines = self.tell_and_take(shared, &subscribe);
        if lines.iter().any(|line| line.contains("too many subscriptions")) {
            self.machine.breach("no subscription is open and one does not fit: something leaked");
        }
        self.tell_and_take(shared, &end);
        self.mark(shared, "rest", "subscriptions_bytes_max");
    }

    fn refuse_all(&mut self, shared: &mut Shared) {
        let open: Vec<u64> = self.requests.keys().copied().collect();
        for request in open {
            let _misuse = self.refuse(shared, request);
        }
        self.take_away(shared);
    }

    /// Passes a line to the machine, and returns its output.
    fn tell_and_take(&mut self, shared: &mut Shared, line: &str) -> Vec<String> {
        let mut piece = line.as_bytes().to_vec();
        piece.push(b'\n');
        self.hear(shared, &piece);
        self.look(shared);
        self.take_away(shared)
    }

    fn take_away(&mut self, shared: &mut Shared) -> Vec<String> {
        let before = self.record.lines.len();
        let mut nowhere = Pipe::default();
        while self.send(shared, &mut nowhere) {}
        self.record.lines.get(before..).unwrap_or_default().to_vec()
    }

    /// Makes as many calls, and one as large, as must be accepted.
    pub(crate) fn call_again(&mut self, shared: &mut Shared, without_subscriptions: bool) {
        let limits = self.machine.limits().clone();
        let is_quiet = self.is_serving()
            && limits.ping_every.is_none()
            && self.calls.is_empty()
            && (self.asks == 0 || shared.plan.mode == Mode::Honest)
            && (self.listens == 0 || without_subscriptions)
            && self.machine.outbox().is_empty()
            && self.machine.peer().is_some();
        if !is_quiet {
            return;
        }
        if R::SIDE == Side::Client && limits.calls_bytes_max <= LITTLE {
            self.large_call_again(shared, &limits);
        }
        if limits.calls_max <= FEW
            && (R::SIDE == Side::Client || shared.plan.has(Feature::ServerCalls))
        {
            for number in self.calls.len()..limits.calls_max {
                let _misuse = self.try_call(shared, "x/unknown", None, &format!("call {number}"));
            }
            self.mark(shared, "rest", "calls_max");
        }
    }

    /// Only params of calls that can be repeated are kept.
    fn large_call_again(&mut self, shared: &mut Shared, limits: &Limits) {
        for (method, opening) in [
            ("tools/call", r#"{"name":"t","pad":""#),
            ("prompts/get", r#"{"name":"p","pad":""#),
            ("resources/read", r#"{"uri":"file:///a","pad":""#),
        ] {
            let Some(pad) = limits.calls_bytes_max.checked_sub(opening.len() + 2) else { continue };
            let Ok(params) = Raw::from_text(&format!("{opening}{}\"}}", "a".repeat(pad))) else {
                continue;
            };
            if matches!(
                self.try_call(shared, method, Some(params), "one large call"),
                Ok(CommandOutcome::Call(_))
            ) {
                return self.mark(shared, "rest", "calls_bytes_max");
            }
        }
    }

    fn try_call(
        &mut self,
        shared: &mut Shared,
        method: &str,
        params: Option<Raw>,
        what: &str,
    ) -> Done {
        // A cached answer would not occupy room.
        let options = CallOptions {
            timeout: Some(Duration::from_secs(1)),
            bypass_cache: true,
            ..CallOptions::default()
        };
        let command =
            OwnedCommand::Call { method: method.into(), params, options: options.clone() };
        let done = self.called(shared, command, 0, &options);
        let is_full = self.machine.outbox().len() > self.machine.limits().outbox_bytes_max;
        if done == Err(Misuse::Blocked) && !is_full {
            self.machine
                .breach(format!("nothing is open and {what} is {done:?}: something leaked"));
        }
        done
    }
}
