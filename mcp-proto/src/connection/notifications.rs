//! Notifications of the peer: cancels, progress, changes and all others; knows nothing of requests and their answers.

use alloc::format;

use super::calls::CallId;
use super::core::Core;
use super::event::Event;
use super::gate;
use super::guard::ViolationKind;
use super::incoming::IncomingId;
use super::listen::is_of_subscriptions;
use super::outcome::Progress;
use super::peer::Method;
use super::phase::{Phase, Trigger};
use super::requests::Origin;
use crate::json::{Raw, unescape};
use crate::revision::{Era, MethodRule, Side};
use crate::rpc::{Params, RequestId};
use crate::wire::To;

impl Core {
    pub(super) fn notification(&mut self, origin: Origin<'_>, method: &str, params: &Params<'_>) {
        if params.malformed {
            return self.bad_notification(method, "params must be an object");
        }
        match method {
            "notifications/cancelled" => return self.cancelled(origin, params),
            "notifications/initialized" if self.side == Side::Server => {
                if self.phase == Phase::Opening {
                    self.violation(ViolationKind::Early, "initialized before initialize");
                }
                return self.step(Trigger::Settled);
            }
            "notifications/progress" => return self.progressed(params),
            _ => {}
        }
        let rule = MethodRule::find(method, false, self.revision());
        // A server may say things before the client knows who it is; a client has nothing to say yet, unless it is one
        // that opens no session. (T-27, T-29)
        let needs_session = MethodRule::is_known(method) || self.me.newest(Era::Modern).is_none();
        if self.phase == Phase::Opening && self.side == Side::Server && needs_session {
            return self.violation(ViolationKind::Early, "a notification before initialize");
        }
        if let Some(Err(error)) = rule.map(|rule| gate::check_text_params(rule, params)) {
            return self.bad_notification(method, &error.message);
        }
        let kept = params.object.map(|object| object.keep(origin.frame));
        if rule.is_some() && self.side == Side::Client && is_of_subscriptions(method) {
            return self.changed_there(method, params, kept);
        }
        let call = if method == "notifications/message" { self.logged_call() } else { None };
        self.events.push(Event::Notification { call, method: Method::new(method, rule), params: kept });
    }

    pub(super) fn bad_notification(&mut self, method: &str, why: &str) {
        // The name is the peer's: enough of it to recognise.
        let name: alloc::string::String = method.chars().take(64).collect();
        self.violation(ViolationKind::BadNotification, format!("{name}: {why}"));
    }

    /// The peer no longer wants an answer. What it cannot mean is ignored. (CAN-03…07, CAN-19)
    fn cancelled(&mut self, origin: Origin<'_>, params: &Params<'_>) {
        let id = params.member("requestId").and_then(RequestId::from_json);
        let Some(id) = id else {
            return self.bad_notification("notifications/cancelled", "`requestId` must be an id");
        };
        if self.side == Side::Client && !self.rules().servers_ask {
            return self.withdrawn(&id);
        }
        if self.unsubscribe(&id) {
            return;
        }
        if let Some(incoming) = self.incoming.find(&id) {
            let reason = params.member("reason").map(|reason| origin.frame.keep(reason, true));
            self.withdraw(incoming, reason);
            self.check_drained();
        }
    }

    /// Forgets a request that will not be answered, and tells the application if it has a say in it.
    pub(super) fn withdraw(&mut self, incoming: IncomingId, reason: Option<Raw>) {
        let Some(open) = self.incoming.remove(incoming) else { return };
        if open.asking().is_some() {
            self.withdraw_questions(incoming);
        } else {
            self.events.push(Event::RequestCancelled { incoming, reason });
        }
        match (open.batch(), open.stream()) {
            (None, Some(stream)) => self.end_path(To::back(stream)),
            (batch, _) => self.settle(batch),
        }
        self.check_asked();
    }

    /// The call that a log message belongs to, if there is only one that it can belong to. (T-92)
    fn logged_call(&self) -> Option<CallId> {
        if self.rules().servers_ask {
            return None;
        }
        let mut calls = self.calls.iter().filter(|(_, call)| call.wants_logs).map(|(_, call)| call.id);
        let only = calls.next();
        only.filter(|_| calls.next().is_none())
    }

    /// The peer tells how far one of our calls has come. (PRG-03…10, PRG-16)
    fn progressed(&mut self, params: &Params<'_>) {
        let number = |name: &str| -> Option<f64> {
            core::str::from_utf8(params.member(name)?).ok()?.parse().ok().filter(|n: &f64| n.is_finite())
        };
        let token = params.member("progressToken").and_then(RequestId::from_json);
        let (Some(token), Some(progress)) = (token, number("progress")) else {
            let why = "`progressToken` must be an id and `progress` a number";
            return self.bad_notification("notifications/progress", why);
        };
        let total = number("total");
        // A token of no open call is not an error: progress may cross an answer or a cancel. (PRG-09)
        let Some(wire) = token.as_u64() else { return };
        let Some(call) = self.calls.get_mut(wire).filter(|call| call.wants_progress && call.is_sent) else {
            return;
        };
        let id = call.id;
        if progress <= call.progress {
            return self.violation(ViolationKind::StaleProgress, format!("{id}: {progress}"));
        }
        call.progress = progress;
        self.calls.extend(self.now, wire);
        let message = params.member("message").and_then(unescape).map(Into::into);
        let progress = Progress { progress, total, message };
        self.events.push(Event::Progress { call: id, progress });
    }
}
