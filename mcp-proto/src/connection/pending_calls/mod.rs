//! Our pending requests: sends, times and retries them, and completes each exactly once.

pub(super) mod call;
mod table;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::context::{Effect, Env};
use super::eras::rules;
use super::input_required::round::{Input, InputWait, Reader, Retry, Round};
use crate::cache::CacheSlot;
use crate::collections::LazyBox;
use crate::json::{Raw, TextWithMeta, unescape, write_f64};
use crate::method::{Method, MethodId};
use crate::queues::Draft;
use crate::revision::MethodRule;
use crate::rpc::{self, ErrorObject, Params, RequestId};
use crate::schema::key;
use crate::vocabulary::{
    CallError, CallId, CallTimeouts, Event, IncomingId, OutgoingKind, Progress, Route, StreamId,
    ViolationKind,
};

#[cfg(test)]
pub(crate) use call::RareCall;
pub(crate) use call::{Call, Owner};
use table::CallTable;

/// The first pause before retrying a call when the server repeatedly requires input but asks no
/// question; doubles each time, up to `PAUSE_MAX`.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// The pending calls of one connection.
#[derive(Debug, Default)]
pub(crate) struct PendingCalls {
    table: LazyBox<CallTable>,
}

/// A validated request to send, with encoded params.
#[derive(Debug)]
pub(crate) struct NewCall<'a> {
    pub(crate) method: &'a str,
    /// The method, if any revision defines it.
    pub(crate) known: Option<MethodId>,
    pub(crate) rule: Option<&'static MethodRule>,
    /// A JSON object, or empty.
    pub(crate) params: &'a [u8],
    pub(crate) owner: Owner,
    pub(crate) wait: CallTimeouts,
    /// Whether to request progress; params with a progress token request it as well.
    pub(crate) wants_progress: bool,
    /// Whether a result that requires input ends the call.
    pub(crate) takes_input_required: bool,
    /// The stream of the parent request, if any.
    pub(crate) stream: Option<StreamId>,
    pub(crate) cache_as: Option<CacheSlot>,
}

impl<'a> NewCall<'a> {
    /// Returns a call made by the connection itself.
    pub(crate) fn own(
        method: MethodId,
        rule: Option<&'static MethodRule>,
        params: &'a [u8],
        owner: Owner,
        wait: CallTimeouts,
    ) -> Self {
        Self {
            method: method.name(),
            known: Some(method),
            rule,
            params,
            owner,
            wait,
            wants_progress: false,
            takes_input_required: false,
            stream: None,
            cache_as: None,
        }
    }
}

/// A call that has ended with the connection or session, its owner, and its error.
type LostCall = (CallId, Owner, CallError);

/// The effect of a response on its call.
#[derive(Debug)]
pub(crate) enum Answered {
    /// The call has ended.
    Done,
    /// The server requires input.
    InputRequired { id: u64, call: CallId, round: Round },
}

impl PendingCalls {
    /// Returns the table of the pending calls, for lookups.
    pub(crate) fn table(&self) -> &CallTable {
        &self.table
    }

    /// Returns the owner of the request `id` if it awaits a response.
    #[inline]
    pub(crate) fn owner_in_flight(&self, id: u64) -> Option<Owner> {
        self.table.get(id).filter(|call| call.is_in_flight()).map(|call| call.owner)
    }

    /// Returns whether the call with the wire id `id` is pending.
    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.table.get(id).is_some()
    }

    /// Returns the wire id of the only pending call, if it belongs to `owner`.
    pub(crate) fn only_call(&self, owner: Owner) -> Option<u64> {
        let (id, call) = self.table.iter().next()?;
        (self.table.len() == 1 && call.owner == owner).then_some(id)
    }

    pub(crate) fn record_ended(&mut self) {
        self.table.record_ended();
    }

    pub(crate) fn drain_ended(&mut self, ended: &mut Vec<u64>) {
        if let Some(table) = self.table.allocated_mut() {
            table.drain_ended(ended);
        }
    }

    pub(crate) fn shrink(&mut self) {
        if let Some(table) = self.table.allocated_mut() {
            table.shrink();
        }
    }

    /// Sends a request. Returns its wire id.
    pub(crate) fn send(&mut self, env: &mut Env, call: NewCall<'_>) -> u64 {
        let id = self.table.next_id();
        // PRG-02: tokens must be unique, so the application's token is replaced by the wire id.
        let params = TextWithMeta::of((!call.params.is_empty()).then_some(call.params));
        let wants_progress =
            call.wants_progress || params.meta_member(key::PROGRESS_TOKEN).is_some();
        let token = wants_progress.then_some(id);
        let method = call.known.map_or_else(|| Method::other(call.method), Method::from);
        let extended = env.identity.extensions.has_result_types(&method).then(|| method.clone());
        let kind = OutgoingKind::Request { id, call: CallId(id), method };
        let wants_logs =
            rules::send_request(env, Route::of(call.stream), kind, id, call.method, params, token);
        let asks_for_task = rules::asks_for_task(env, call.known, call.params);
        let is_read = call.rule.is_some_and(|rule| rule.is_read);
        let is_kept = |rule: &&MethodRule| {
            is_read && self.table.has_exchanges() || rule.may_ask && rules::repeats_calls(env)
        };
        let kept = call.rule.filter(is_kept);
        let is_rare = asks_for_task
            || call.takes_input_required
            || extended.is_some()
            || call.stream.is_some();
        let open = self.table.insert(env.now, call.owner, wants_progress, call.wait);
        if let Some(open) = open {
            (open.wants_logs, open.is_read) = (wants_logs, is_read);
            if is_rare || call.cache_as.is_some() {
                let rare = open.rare();
                (rare.extended, rare.asks_for_task) = (extended, asks_for_task);
                (rare.stream, rare.cache_as) = (call.stream, call.cache_as);
                rare.takes_input_required = call.takes_input_required;
            }
        }
        if let Some(rule) = kept {
            self.table.keep_retry(id, rule.id, call.params);
        }
        id
    }

    /// Sends a request of the connection itself without checking it against the revision's rules.
    pub(crate) fn send_raw(
        &mut self,
        env: &mut Env,
        owner: Owner,
        method: MethodId,
        timeout: Duration,
        params: impl FnOnce(&Env, &mut Vec<u8>) -> Result<(), crate::error::Unencodable>,
    ) {
        let id = self.table.next_id();
        self.table.insert(env.now, owner, false, CallTimeouts::exactly(timeout));
        let kind = OutgoingKind::Request { id, call: CallId(id), method: method.into() };
        let mut written = Vec::new();
        let _infallible = params(env, &mut written);
        let _infallible = env.send(Draft::new(Route::Any, kind), |out| {
            rpc::request(out, id, method.name(), |out| {
                out.extend_from_slice(&written);
                Ok::<(), crate::error::Unencodable>(())
            })
        });
    }

    /// Adds a call that is not represented by a message.
    pub(crate) fn insert_local(&mut self, owner: Owner) -> CallId {
        CallId(self.table.insert_local(owner))
    }

    /// Returns a call that completes immediately with `result`.
    pub(crate) fn complete_now(&mut self, env: &mut Env, result: Raw) -> CallId {
        let call = self.insert_local(Owner::Application);
        self.table.remove(call.0);
        env.emit(Event::Completed { call, outcome: Ok(result) });
        call
    }

    // TMO-11: an acknowledged subscription does not time out.
    pub(crate) fn remove_deadline(&mut self, call: CallId) {
        self.table.wait_until(call.0, None);
    }

    /// Handles the response to the in-flight request `id` of `owner`; `kind` is its `resultType`.
    #[inline]
    pub(crate) fn on_response(
        &mut self,
        env: &mut Env,
        (id, owner): (u64, Owner),
        kind: Option<&str>,
        outcome: Result<Raw, CallError>,
        remember: impl FnOnce(&mut Call, &Result<Raw, CallError>),
    ) -> Answered {
        let outcome = match outcome {
            Ok(result) if owner.is_application() => match rules::result_kind(env, kind) {
                rules::ResultKind::Complete => Ok(result),
                rules::ResultKind::InputRequired => {
                    return self.on_input_required(env, id, &result);
                }
                rules::ResultKind::Unknown if self.is_extended(env, id, kind) => Ok(result),
                rules::ResultKind::Unknown => {
                    let kind: String = kind.unwrap_or_default().chars().take(64).collect();
                    Err(CallError::Invalid(format!("unknown result type {kind:?}").into()))
                }
            },
            outcome => outcome,
        };
        let Some(mut call) = self.table.remove(id) else { return Answered::Done };
        if call.owner == Owner::Listen {
            // Notifications of the subscription may still arrive.
            self.table.expect_late(id, true, &env.identity.limits);
        }
        remember(&mut call, &outcome);
        end(env, call.id, call.owner, Vec::new(), outcome);
        if let Some(rare) = call.rare {
            self.table.recycle(rare, env.limits());
        }
        Answered::Done
    }

    /// Returns whether an extension allows a result of the call `id` to have this `resultType`.
    fn is_extended(&self, env: &Env, id: u64, kind: Option<&str>) -> bool {
        let method = self.table.get(id).and_then(Call::extended_method);
        method
            .zip(kind)
            .is_some_and(|(method, kind)| rules::is_result_of_extension(env, method, kind))
    }

    /// Returns whether a late response to the request `id` was expected, and expects no other.
    pub(crate) fn forget_retired(&mut self, id: u64) -> bool {
        self.table.allocated_mut().is_some_and(|table| table.forget_retired(id))
    }

    fn on_input_required(&mut self, env: &mut Env, id: u64, result: &Raw) -> Answered {
        let Some(call) = self.table.get(id) else { return Answered::Done };
        let (is_subscription, handle) = (call.owner == Owner::Listen, call.id);
        let may_ask =
            |retry: &&Retry| retry.method.rule(env.revision()).is_some_and(|rule| rule.may_ask);
        let read = match call.retry().filter(may_ask) {
            None => {
                Err(CallError::Invalid("`input_required` is not allowed for this method".into()))
            }
            Some(retry) => {
                let reader = Reader {
                    limits: &env.identity.limits,
                    capabilities: &env.identity.capabilities,
                    revision: env.revision(),
                    retained_bytes: self.table.bytes(),
                };
                reader.read(result, retry.rounds)
            }
        };
        let takes_result = call.rare.as_ref().is_some_and(|rare| rare.takes_input_required);
        let answered = match read {
            Ok(_) if takes_result => {
                // Not cached: the call may be sent again with answers.
                if let Some(call) = self.table.remove(id) {
                    end(env, call.id, call.owner, Vec::new(), Ok(result.clone()));
                }
                Answered::Done
            }
            Ok(round) => Answered::InputRequired { id, call: handle, round },
            Err(error) => {
                self.fail(env, id, error);
                Answered::Done
            }
        };
        if is_subscription {
            // The response ends the subscription; its notifications may still arrive.
            self.table.expect_late(id, true, &env.identity.limits);
        }
        answered
    }

    /// Starts a round of input whose questions were delivered to the application as `asked`.
    pub(crate) fn gather(&mut self, env: &mut Env, id: u64, round: Round, asked: &[IncomingId]) {
        let input = Input::new(round, asked);
        match self.table.gather(env.now, id, input, asked.is_empty()) {
            None | Some(0) => {}
            Some(1) => self.repeat(env, id),
            Some(rounds) => {
                let pause = PAUSE.saturating_mul(1 << (rounds - 2).min(16)).min(PAUSE_MAX);
                self.table.wait_until(id, Some(env.now + pause));
            }
        }
    }

    /// Handles the application's answer to a question, or its refusal.
    pub(crate) fn on_input(
        &mut self,
        env: &mut Env,
        call: CallId,
        index: usize,
        answer: Result<Raw, ErrorObject>,
    ) {
        let repeated = self.table.wire_id(call).filter(|_| rules::repeats_calls(env));
        let Some(id) = repeated else { return };
        let Some(input) = self.table.get_mut(id).and_then(Call::input_mut) else { return };
        match answer {
            Ok(answer) => {
                if input.answer(index, answer) {
                    self.repeat(env, id);
                }
            }
            Err(error) => self.fail(env, id, CallError::InputRefused(error)),
        }
    }

    // STL-20, STL-21, ID-11, T-97, T-98: retries with the original params and the input.
    fn repeat(&mut self, env: &mut Env, id: u64) {
        let Some(input) = self.table.take_input(id) else { return };
        let Some(renewed) = self.table.renew(env.now, id) else { return };
        let Some(retry) = self.table.get(renewed).and_then(Call::retry) else { return };
        let mut params = Vec::with_capacity(retry.params.len() + 64);
        input.write_params(&mut params, &retry.params);
        self.send_renewed(env, renewed, &params);
    }

    /// Sends a call again with its original params, unless input was added to them. Returns its new
    /// wire id.
    // HTTP-51: a call whose headers were rejected is sent again.
    pub(crate) fn send_again(&mut self, env: &mut Env, id: u64) -> Option<u64> {
        let call = self.table.get(id).filter(|call| call.is_in_flight())?;
        let params = call.retry().filter(|retry| retry.rounds == 0)?.params.clone();
        let renewed = self.table.renew(env.now, id)?;
        self.send_renewed(env, renewed, &params);
        Some(renewed)
    }

    /// Sends a request that only reads again, once, because its response was lost; `is_open`: now.
    /// Returns whether its call continues.
    pub(crate) fn recover(&mut self, env: &mut Env, id: u64, is_open: bool) -> bool {
        let recovers = self.table.recover(id);
        if recovers && is_open {
            self.repeat(env, id);
        }
        recovers
    }

    /// Prepares all requests that only read for the next session.
    pub(crate) fn recover_all(&mut self) {
        let ids: Vec<u64> = self.table.iter().map(|(id, _)| id).collect();
        for id in ids {
            self.table.recover(id);
        }
    }

    /// Sends the requests again that wait for the connection to be open.
    pub(crate) fn repeat_recovered(&mut self, env: &mut Env) {
        let waiting = self.table.iter().filter(|(_, call)| call.waits_for_session());
        let waiting: Vec<u64> = waiting.map(|(id, _)| id).collect();
        for id in waiting {
            self.repeat(env, id);
        }
    }

    fn send_renewed(&self, env: &mut Env, id: u64, params: &[u8]) {
        let Some(call) = self.table.get(id) else { return };
        let Some(retry) = call.retry() else { return };
        let token = call.wants_progress.then_some(id);
        let kind = OutgoingKind::Request { id, call: call.id, method: retry.method.into() };
        let params = TextWithMeta::of((!params.is_empty()).then_some(params));
        rules::send_request(env, Route::Any, kind, id, retry.method.name(), params, token);
    }

    /// Ends a call with an error, together with its open questions.
    pub(crate) fn fail(&mut self, env: &mut Env, id: u64, error: CallError) {
        let questions = self.take_questions(id);
        let Some(call) = self.table.remove(id) else { return };
        end(env, call.id, call.owner, questions, Err(error));
    }

    /// Ends a call whose response may still arrive.
    pub(crate) fn retire(&mut self, env: &mut Env, id: u64, error: CallError) {
        let questions = self.take_questions(id);
        let Some(call) = self.table.retire(id, &env.identity.limits) else { return };
        end(env, call.id, call.owner, questions, Err(error));
    }

    fn take_questions(&mut self, id: u64) -> Vec<IncomingId> {
        self.table.take_input(id).map(Input::into_questions).unwrap_or_default()
    }

    /// Cancels a call of the application. Returns whether it was pending.
    // CAN-01, CAN-02, CAN-10, T-44: only the application's pending calls; ignores a late response.
    pub(crate) fn cancel(&mut self, env: &mut Env, call: CallId, reason: &str) -> bool {
        let Some(id) = self.table.wire_id(call) else { return false };
        let Some(open) = self.table.get(id).filter(|open| open.owner.is_application()) else {
            return false;
        };
        self.withdraw(
            env,
            id,
            open.is_in_flight().then(|| open.route()),
            reason,
            CallError::Cancelled,
        );
        true
    }

    /// Retires a call; sends a cancellation on `route`, if given and if its method allows it.
    // CAN-10: only `tasks/cancel` stops a task; the late result names it.
    fn withdraw(
        &mut self,
        env: &mut Env,
        id: u64,
        route: Option<Route>,
        reason: &str,
        error: CallError,
    ) {
        let asks_for_task = self.table.get(id).is_some_and(Call::asks_for_task);
        if let Some(route) = route.filter(|_| !asks_for_task) {
            env.send_cancel(route, id, reason);
        }
        self.retire(env, id, error);
    }

    /// Stops the timeout of the request `id`, which waits for credentials.
    ///
    /// A call then waits as long as for a human, unless its timeout is strict. The requests that
    /// open the connection wait without limit.
    pub(crate) fn park(&mut self, env: &Env, id: u64) {
        let Some(call) = self.table.get(id) else { return };
        let patience = match call.owner {
            Owner::Handshake | Owner::Probe => None,
            owner if owner.is_application() && call.is_strict => return,
            _ => Some(env.identity.limits.human_timeout),
        };
        self.table.park(env.now, id, patience);
    }

    /// Restarts the timeout of the request `id`, which is sent again with credentials.
    pub(crate) fn unpark(&mut self, env: &Env, id: u64) {
        self.table.unpark(env.now, id);
    }

    /// Handles an expired deadline, which is suspended while the peer waits, unless it is strict.
    // TMO-02, TMO-06: a timeout cancels the request, but never `initialize`.
    pub(crate) fn expire(&mut self, env: &mut Env, id: u64, peer_waits: bool) {
        let may_wait = self.table.may_extend(env.now, id);
        let Some(call) = self.table.get(id) else { return };
        let may_suspend = may_wait && !call.is_strict && !call.is_parked();
        match call.input().map(Input::waits_for) {
            Some(InputWait::Pause) if may_wait => return self.repeat(env, id),
            // The application has to answer first.
            Some(InputWait::Answers) if may_suspend => return self.table.suspend(id),
            _ => {}
        }
        if may_suspend && peer_waits && call.owner.is_application() {
            return self.table.suspend(id);
        }
        let sends_cancel =
            !matches!(call.owner, Owner::Handshake | Owner::Probe | Owner::KeepAlive);
        let route = (call.is_in_flight() && sends_cancel).then(|| call.route());
        self.withdraw(env, id, route, "timed out", CallError::TimedOut);
    }

    /// Resumes suspended deadlines after the last inbound request has ended.
    pub(crate) fn resume_deadlines(&mut self, env: &Env) {
        if let Some(table) = self.table.allocated_mut() {
            table.resume_all(env.now);
        }
    }

    /// Cancels our questions about the inbound request `incoming`, which has ended.
    // CAN-20: cancelling the parent does not cancel them at the peer.
    pub(crate) fn withdraw_questions(&mut self, env: &mut Env, incoming: IncomingId) {
        let is_question =
            |call: &Call| matches!(call.owner, Owner::Question(parent, _) if parent == incoming);
        let asked: Vec<(u64, Route)> = self
            .table
            .iter()
            .filter(|(_, call)| is_question(call))
            .map(|(id, call)| (id, call.route()))
            .collect();
        for (id, route) in asked {
            self.table.retire(id, &env.identity.limits);
            env.send_cancel(route, id, "its request is over");
        }
    }

    /// Sends a cancellation of each call in flight, so that the peer need not finish it.
    pub(crate) fn send_cancels(&self, env: &mut Env, reason: &str) {
        for (id, call) in self.table.iter() {
            if call.is_in_flight() && call.owner.is_application() {
                env.send_cancel(call.route(), id, reason);
            }
        }
    }

    /// Removes all calls, except those that wait for the next session if `is_reopening`. Returns
    /// them with their owners and errors, oldest first, and their open questions.
    pub(crate) fn lose_all(&mut self, is_reopening: bool) -> (Vec<LostCall>, Vec<IncomingId>) {
        let Some(table) = self.table.allocated_mut() else { return (Vec::new(), Vec::new()) };
        let is_lost = |(_, call): &(u64, &Call)| !(is_reopening && call.waits_for_session());
        let error = |call: &Call| if call.is_read { CallError::LostRead } else { CallError::Lost };
        let lost: Vec<(u64, LostCall)> = table
            .iter()
            .filter(is_lost)
            .map(|(id, call)| (id, (call.id, call.owner, error(call))))
            .collect();
        let mut questions = Vec::new();
        for (id, ..) in &lost {
            questions.extend(table.take_input(*id).map(Input::into_questions).unwrap_or_default());
            table.remove(*id);
        }
        (lost.into_iter().map(|(_, lost)| lost).collect(), questions)
    }

    // T-92: returns the only call that asked for log messages, because they name no request.
    pub(crate) fn only_logged(&self) -> Option<CallId> {
        let mut calls =
            self.table.iter().filter(|(_, call)| call.wants_logs).map(|(_, call)| call.id);
        let only = calls.next();
        only.filter(|_| calls.next().is_none())
    }

    /// Handles a progress notification for one of our calls.
    // PRG-03…10, PRG-16: a value that does not increase is dropped and reported.
    pub(crate) fn on_progress(&mut self, env: &mut Env, params: &Params<'_>) {
        let number = |name: &str| -> Option<f64> {
            let text = core::str::from_utf8(params.member(name)?).ok()?;
            text.parse().ok().filter(|number: &f64| number.is_finite())
        };
        let token = params.member("progressToken").and_then(RequestId::from_json);
        let (Some(token), Some(progress)) = (token, number("progress")) else {
            let why = "`progressToken` must be an id and `progress` a number";
            return env.bad_notification(MethodId::Progress.name(), why);
        };
        let total = number("total");
        let message = || params.member("message").and_then(unescape).map(Into::into);
        // PRG-09: an unknown token is ignored; progress may cross a response or a cancellation.
        let Some(id) = token.as_u64() else { return };
        let is_wanted = |call: &&mut Call| call.wants_progress && call.is_in_flight();
        let Some(call) =
            self.table.allocated_mut().and_then(|table| table.get_mut(id)).filter(is_wanted)
        else {
            // PRG-11: the token of a call that has created a task stays in use.
            if self.table.has_ended(id) && rules::has_task_progress(env) {
                let progress = Progress { progress, total, message: message() };
                env.emit(Event::TaskProgress { call: CallId(id), progress });
            }
            return;
        };
        let handle = call.id;
        // The progress of a lost request that was sent again starts over.
        let (is_stale, is_recovered) = (progress <= call.progress, call.is_recovered());
        if is_stale && is_recovered {
            return self.table.extend(env.now, id);
        }
        if is_stale {
            let mut why = format!("{handle}: ").into_bytes();
            write_f64(&mut why, progress);
            let why = String::from_utf8_lossy(&why).into_owned();
            return env.violation(ViolationKind::StaleProgress, why);
        }
        call.progress = progress;
        self.table.extend(env.now, id);
        let progress = Progress { progress, total, message: message() };
        env.emit(Event::Progress { call: handle, progress });
    }
}

/// Reports the outcome of a call: to the application if it is its own, otherwise to the router.
#[inline]
fn end(
    env: &mut Env,
    call: CallId,
    owner: Owner,
    questions: Vec<IncomingId>,
    outcome: Result<Raw, CallError>,
) {
    if owner == Owner::Application && questions.is_empty() {
        env.emit(Event::Completed { call, outcome });
    } else {
        env.effects.push(Effect::Ended { call, owner, questions, outcome });
    }
}

#[cfg(test)]
mod tests;
