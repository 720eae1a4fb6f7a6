//! Checks that the machines of an idle HTTP world have room for as much as at the start.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::http::{Body, BodyChunk};
use mcp_proto::schema::Level;
use mcp_proto::{CallOptions, Caller, ErrorObject, IncomingId, MessageEndpoint as _, Misuse, Raw};

use super::client::Client;
use super::host::{Host, principal};
use super::host_session::{HostSession, Source};
use super::model::Shared;
use super::outcome::OpenCall;
use super::server::Server;
use crate::case::Feature;
use crate::model::REFUSAL;

/// Limits above this are not filled.
const FEW: usize = 16;
const LITTLE: usize = 1 << 16;

impl Client {
    /// Ends what does not end by itself.
    pub(super) fn stop_listening(&mut self, shared: &mut Shared) {
        for (call, open) in self.calls.iter_mut().filter(|(_, open)| open.is_listening) {
            open.is_cancelled |= self.http.cancel(shared.now, *call, "no more").is_ok();
        }
        self.look(shared);
    }

    /// Makes as many calls, and one as large, as must be accepted.
    pub(super) fn check_room_again(&mut self, shared: &mut Shared) {
        if self.http.is_closed() || !self.calls.is_empty() || !self.requests.is_empty() {
            return;
        }
        let (calls_max, bytes_max) =
            (self.http.limits().calls_max, self.http.limits().calls_bytes_max);
        let opening = r#"{"name":"t","pad":""#;
        if let Some(pad) = bytes_max.checked_sub(opening.len() + 2).filter(|_| bytes_max <= LITTLE)
            && let Ok(params) = Raw::from_text(&format!("{opening}{}\"}}", "a".repeat(pad)))
        {
            self.try_call(shared, "tools/call", Some(&params), "one large call");
            let calls: Vec<_> = self.calls.keys().copied().collect();
            for call in calls {
                let is_cancelled = self.http.cancel(shared.now, call, "no more").is_ok();
                self.calls.entry(call).and_modify(|open| open.is_cancelled = is_cancelled);
            }
            self.look(shared);
        }
        // The outbox is not drained before the next command.
        if calls_max <= FEW && !shared.plan.has(Feature::SmallOutbox) {
            for number in self.calls.len()..calls_max {
                self.try_call(shared, "x/unknown", None, &format!("call {number}"));
            }
        }
    }

    fn try_call(&mut self, shared: &mut Shared, method: &str, params: Option<&Raw>, what: &str) {
        let least = Duration::from_secs(1);
        let options =
            CallOptions { timeout: Some(least), bypass_cache: true, ..CallOptions::default() };
        match self.http.call_raw(shared.now, method, params.map(|params| params as _), options) {
            Ok(call) => {
                self.calls.insert(call, OpenCall { least, ..OpenCall::new(0, shared.now) });
                shared.mark("http.rest client.calls");
            }
            Err(Misuse::Blocked) => {
                shared.breach(format!(
                    "nothing is open and {what} of client {} is blocked",
                    self.index
                ));
            }
            Err(_) => {}
        }
    }
}

impl Host {
    /// Passes as many requests to a session as it must accept, and responds to some; the responses
    /// are never sent.
    fn check_room_again(&mut self, shared: &mut Shared) {
        // The responses of HTTP+SSE would reach the client.
        let is_quiet = matches!(self.session, HostSession::Http(_))
            && !self.is_alone()
            && !self.has_asked
            && self.session.peer().is_some()
            && self.session.wants_input()
            && !self.session.is_closed()
            && self.requests.is_empty()
            && self.calls.is_empty();
        if !is_quiet {
            return;
        }
        if self.exchanges.is_empty() && self.session.is_busy() {
            shared.breach("nothing is open in a session, and it is busy");
        }
        let (count, bytes) =
            (self.session.limits().requests_max, self.session.limits().requests_bytes_max);
        if let Some(pad) = bytes.checked_sub(r#"{"pad":""}"#.len()).filter(|_| bytes <= LITTLE) {
            let params = format!(r#"{{"pad":"{}"}}"#, "a".repeat(pad));
            let exchange = self.ask_again(shared, 0, &params);
            self.answer_again_and_end(shared, &[exchange]);
        }
        if count <= FEW && bytes > LITTLE {
            let exchanges: Vec<_> =
                (0..count).map(|number| self.ask_again(shared, number, "{}")).collect();
            self.answer_again_and_end(shared, &exchanges);
        }
        self.speak_again(shared);
    }

    fn ask_again(&mut self, shared: &mut Shared, number: usize, params: &str) -> Option<Source> {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":"rest{number}","method":"x/known","params":{params}}}"#
        );
        let sender = Caller::new().with_principal(principal(self.client));
        self.session.set_caller(Arc::new(sender));
        let handled = self.session.handle_post(shared.now, true, request.as_bytes());
        self.session.set_caller(None);
        let Ok(exchange) = handled else {
            shared.breach(format!("nothing is open and request {number} is refused"));
        };
        self.look(shared);
        if self.requests.len() != number + 1 {
            shared
                .breach(format!("nothing is open and request {number} of a session does not fit"));
        }
        shared.mark("http.rest server.requests");
        exchange
    }

    fn answer_again_and_end(&mut self, shared: &Shared, exchanges: &[Option<Source>]) {
        let open: Vec<IncomingId> = self.requests.keys().copied().collect();
        for incoming in open {
            let done =
                self.session.respond_error(shared.now, incoming, &ErrorObject::new(REFUSAL, "no"));
            if done.is_err() {
                shared.breach(format!("{incoming} is open and a refusal is {done:?}"));
            }
            self.end(incoming);
        }
        for exchange in exchanges.iter().flatten() {
            let Some(reply) = self.session.poll_reply(*exchange) else {
                shared.breach("a request is answered and its exchange has no head");
            };
            while reply.body == Body::Events
                && !matches!(self.session.poll_chunk(*exchange), Some(BodyChunk::End) | None)
            {
            }
            self.session.handle_gone(shared.now, *exchange);
        }
    }

    /// Checks that a log message is accepted if nothing waits to be sent.
    fn speak_again(&mut self, shared: &mut Shared) {
        let number = shared.model.number();
        let Ok(data) = Raw::from_text(&format!("\"rest {number}\"")) else { return };
        let done = self.session.log(shared.now, None, Level::Emergency, None, &data);
        if done == Err(Misuse::Blocked) {
            shared.breach("nothing waits to be sent in a session, and a log message is blocked");
        }
        shared.mark("http.rest server.outbox");
    }
}

impl Server {
    /// Checks that each session has room, and that the table contains it.
    pub(super) fn check_room_again(&mut self, shared: &mut Shared) {
        for key in self.table.iter() {
            if !self.hosts.contains_key(key) {
                shared.breach(format!("the table contains host {key}, which has ended"));
            }
        }
        for host in self.hosts.values_mut() {
            host.check_room_again(shared);
        }
    }

    /// Checks that abandoned sessions are evicted.
    pub(super) fn check_expired(&self, shared: &Shared) {
        let is_idle = |host: &&Host| {
            !host.has_asked
                && host.requests.is_empty()
                && host.calls.is_empty()
                && host.exchanges.is_empty()
        };
        if let Some(host) = self.hosts.values().find(is_idle) {
            shared.breach(format!("{:?} was abandoned long ago and is kept", host.key));
        }
    }
}
