//! Our requests that are not answered yet: sent, timed, repeated with input, and completed exactly
//! once.

mod call;
mod table;

use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;

use super::context::{Effect, Env};
use super::eras::rules;
use super::input_required::round::{Input, InputWait, Reader, Retry, Round};
use crate::cache::CacheSlot;
use crate::collections::LazyBox;
use crate::json::{Raw, unescape};
use crate::method::{Method, MethodId};
use crate::queues::Draft;
use crate::revision::MethodRule;
use crate::rpc::{self, ErrorObject, Params, RequestId};
use crate::time::Instant;
use crate::vocabulary::{
    CallError, CallId, CallTimeouts, Event, IncomingId, OutgoingKind, Progress, Route, StreamId,
    ViolationKind,
};

#[cfg(test)]
pub(crate) use call::RareCall;
pub(crate) use call::{Call, Owner};
use table::CallTable;

/// How long a client pauses before it repeats a call for the second time in a row without having
/// been asked anything; the pause doubles each time, up to the maximum.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// The calls of one connection.
#[derive(Debug, Default)]
pub(crate) struct PendingCalls {
    table: LazyBox<CallTable>,
}

/// A request to send: checked, and written but for its envelope.
#[derive(Debug)]
pub(crate) struct NewCall<'a> {
    pub(crate) method: &'a str,
    /// The method, if a revision has it.
    pub(crate) known: Option<MethodId>,
    pub(crate) rule: Option<&'static MethodRule>,
    /// An object, or nothing.
    pub(crate) params: &'a [u8],
    pub(crate) owner: Owner,
    pub(crate) wait: CallTimeouts,
    pub(crate) wants_progress: bool,
    /// The stream of the request that the call is made for.
    pub(crate) stream: Option<StreamId>,
    pub(crate) cache_as: Option<CacheSlot>,
}

impl<'a> NewCall<'a> {
    /// A call of the connection's own.
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
            stream: None,
            cache_as: None,
        }
    }
}

/// What became of a response.
#[derive(Debug)]
pub(crate) enum Answered {
    /// The call completed, or nothing is left to do.
    Done,
    /// The server asks for input.
    InputRequired { id: u64, call: CallId, round: Round },
}

impl PendingCalls {
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.table.next_deadline()
    }

    pub(crate) fn overdue(&self, now: Instant) -> Option<u64> {
        self.table.overdue(now)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Call> {
        self.table.get(id)
    }

    /// The owner of the request `id`, if the peer owes an answer to it.
    #[inline]
    pub(crate) fn owner_in_flight(&self, id: u64) -> Option<Owner> {
        self.table.get(id).filter(|call| call.is_in_flight()).map(|call| call.owner)
    }

    /// Whether something more may come for a call that is over.
    pub(crate) fn is_retired(&self, id: u64) -> bool {
        self.table.is_retired(id)
    }

    /// Whether `id` is the id of an open call.
    pub(crate) fn is_open(&self, id: u64) -> bool {
        self.table.get(id).is_some()
    }

    /// The one call that is open, if it is `owner`'s.
    pub(crate) fn only_call(&self, owner: Owner) -> Option<u64> {
        let (id, call) = self.table.iter().next()?;
        (self.table.len() == 1 && call.owner == owner).then_some(id)
    }

    /// Bytes that are kept for repeating calls.
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
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

    /// Sends a request. Returns its id on the wire.
    pub(crate) fn send(&mut self, env: &mut Env, call: NewCall<'_>) -> u64 {
        let id = self.table.next_id();
        // A token of the application's own could be another call's: it only shows that progress is
        // wanted. (PRG-02)
        let token = call.wants_progress.then_some(id);
        let method = call.known.map_or_else(|| Method::other(call.method), Method::from);
        let kind = OutgoingKind::Request { id, call: CallId(id), method };
        let params = (!call.params.is_empty()).then_some(call.params);
        let wants_logs =
            rules::send_request(env, Route::of(call.stream), kind, id, call.method, params, token);
        self.table.insert(env.now, call.owner, call.wants_progress, call.wait);
        if let Some(open) = wants_logs.then(|| self.table.get_mut(id)).flatten() {
            open.wants_logs = true;
        }
        if let Some(stream) = call.stream {
            self.table.set_stream(id, stream);
        }
        if let Some(place) = call.cache_as {
            self.table.set_cache_as(id, place);
        }
        if let Some(rule) = call.rule.filter(|rule| rule.may_ask && rules::repeats_calls(env)) {
            self.table.keep_retry(id, Retry::new(rule.id, call.params));
        }
        id
    }

    /// Sends a request of the connection's own that fits no row: before anything is agreed on.
    pub(crate) fn send_raw(
        &mut self,
        env: &mut Env,
        owner: Owner,
        method: MethodId,
        timeout: Duration,
        params: impl FnOnce(&Env, &mut Vec<u8>) -> Result<(), crate::error::Unencodable>,
    ) {
        let id = self.table.insert(env.now, owner, false, CallTimeouts::exactly(timeout));
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

    /// Adds a call that no message stands for.
    pub(crate) fn insert_local(&mut self, owner: Owner) -> CallId {
        CallId(self.table.insert_local(owner))
    }

    /// Makes a call that is complete at once.
    pub(crate) fn complete_now(&mut self, env: &mut Env, result: Raw) -> CallId {
        let call = self.insert_local(Owner::Application);
        self.table.remove(call.0);
        env.emit(Event::Completed { call, outcome: Ok(result) });
        call
    }

    /// A subscription was acknowledged: it is open for as long as both sides want it. (TMO-11)
    pub(crate) fn wait_for_ever(&mut self, call: CallId) {
        self.table.wait_until(call.0, None);
    }

    /// Handles the response to the request `id` of `owner`, which is in flight. `kind` is its
    /// `resultType`.
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
                rules::ResultKind::Unknown => {
                    let kind: alloc::string::String =
                        kind.unwrap_or_default().chars().take(64).collect();
                    Err(CallError::Invalid(
                        format!("the result is of the unknown type {kind:?}").into(),
                    ))
                }
            },
            outcome => outcome,
        };
        let Some(mut call) = self.table.remove(id) else { return Answered::Done };
        if call.owner == Owner::Listen {
            // What was sent to it may still be on its way.
            self.table.expect_late(id, true, &env.identity.limits);
        }
        remember(&mut call, &outcome);
        end(env, call.id, call.owner, Vec::new(), outcome);
        Answered::Done
    }

    /// Whether a late response to the request `id` was expected; it is expected once.
    pub(crate) fn forget_retired(&mut self, id: u64) -> bool {
        self.table.allocated_mut().is_some_and(|table| table.forget_retired(id))
    }

    fn on_input_required(&mut self, env: &mut Env, id: u64, result: &Raw) -> Answered {
        let Some(call) = self.table.get(id) else { return Answered::Done };
        let (listens, handle) = (call.owner == Owner::Listen, call.id);
        let read = match call.retry() {
            None => Err(CallError::Invalid(
                "input is required for a method that cannot ask for any".into(),
            )),
            Some(retry) => {
                let reader = Reader {
                    limits: &env.identity.limits,
                    capabilities: &env.identity.capabilities,
                    revision: env.revision(),
                    kept: self.table.bytes(),
                };
                reader.read(result, retry.rounds)
            }
        };
        let answered = match read {
            Ok(round) => Answered::InputRequired { id, call: handle, round },
            Err(error) => {
                self.fail(env, id, error);
                Answered::Done
            }
        };
        if listens {
            // It was its end all the same, and what was sent to it may still be on its way.
            self.table.expect_late(id, true, &env.identity.limits);
        }
        answered
    }

    /// The questions of a round were handed to the application, as `asked`.
    pub(crate) fn gather(&mut self, env: &mut Env, id: u64, round: Round, asked: &[IncomingId]) {
        let input = Input::new(round, asked);
        match self.table.gather(id, input, asked.is_empty()) {
            None => {}
            Some(0) => self.table.extend(env.now, id),
            Some(1) => self.repeat(env, id),
            Some(rounds) => {
                let pause = PAUSE.saturating_mul(1 << (rounds - 2).min(16)).min(PAUSE_MAX);
                self.table.wait_until(id, Some(env.now + pause));
            }
        }
    }

    /// The application answered a question, or refused to.
    pub(crate) fn on_input(
        &mut self,
        env: &mut Env,
        call: CallId,
        index: usize,
        answer: Result<Raw, ErrorObject>,
    ) {
        let Some(id) = self.table.wire_id(call) else { return };
        let Some(input) = self.table.get_mut(id).and_then(Call::input_mut) else { return };
        match answer {
            Ok(answer) => {
                if input.answer(index, answer) {
                    self.repeat(env, id);
                }
            }
            Err(error) => self.fail(env, id, CallError::Unanswered(error)),
        }
    }

    /// Repeats a call with its input, under a new id. (STL-20, STL-21, ID-11, T-97, T-98)
    fn repeat(&mut self, env: &mut Env, id: u64) {
        let Some(input) = self.table.take_input(id) else { return };
        let Some(renewed) = self.table.renew(env.now, id) else { return };
        let Some(call) = self.table.get(renewed) else { return };
        let Some(retry) = call.retry() else { return };
        let mut params = Vec::with_capacity(retry.params.len() + 64);
        input.write_params(&mut params, &retry.params);
        let token = call.wants_progress.then_some(renewed);
        let kind =
            OutgoingKind::Request { id: renewed, call: call.id, method: retry.method.into() };
        rules::send_request(
            env,
            Route::Any,
            kind,
            renewed,
            retry.method.name(),
            Some(&params),
            token,
        );
    }

    /// Ends a call, and the questions it still asked.
    pub(crate) fn fail(&mut self, env: &mut Env, id: u64, error: CallError) {
        let questions = self.take_questions(id);
        let Some(call) = self.table.remove(id) else { return };
        end(env, call.id, call.owner, questions, Err(error));
    }

    /// Ends a call whose answer may still come.
    pub(crate) fn retire(&mut self, env: &mut Env, id: u64, error: CallError) {
        let questions = self.take_questions(id);
        let Some(call) = self.table.retire(id, &env.identity.limits) else { return };
        end(env, call.id, call.owner, questions, Err(error));
    }

    fn take_questions(&mut self, id: u64) -> Vec<IncomingId> {
        self.table.take_input(id).map(Input::into_questions).unwrap_or_default()
    }

    /// Cancels a call of the application. Returns whether there was one. (CAN-01, T-44)
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

    /// Retires a call, and cancels it at the peer where that owes an answer.
    fn withdraw(
        &mut self,
        env: &mut Env,
        id: u64,
        route: Option<Route>,
        reason: &str,
        error: CallError,
    ) {
        if let Some(route) = route {
            env.send_cancel(route, id, reason);
        }
        self.retire(env, id, error);
    }

    /// The time of a call is up. `is_asked` says whether the peer waits for answers of this side.
    /// (TMO-02, TMO-06)
    pub(crate) fn expire(&mut self, env: &mut Env, id: u64, is_asked: bool) {
        let may_wait = self.table.may_extend(env.now, id);
        let Some(call) = self.table.get(id) else { return };
        match call.input().map(Input::waits_for) {
            Some(InputWait::Pause) if may_wait => return self.repeat(env, id),
            // This side has to answer first.
            Some(InputWait::Answers) if may_wait => return self.table.hold(id),
            _ => {}
        }
        if may_wait && is_asked && call.owner.is_application() {
            return self.table.hold(id);
        }
        let is_told = !matches!(call.owner, Owner::Handshake | Owner::Probe | Owner::KeepAlive);
        let route = (call.is_in_flight() && is_told).then(|| call.route());
        self.withdraw(env, id, route, "timed out", CallError::TimedOut);
    }

    /// This side has nothing to answer any more: the time of its calls runs again.
    pub(crate) fn on_nothing_asked(&mut self, env: &Env) {
        if self.table.holds_any() {
            self.table.release(env.now);
        }
    }

    /// Cancels the questions of a request that needs no answers any more. (CAN-20)
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

    /// Ends all calls: no answer can come any more. Returns who owned them, oldest first, and the
    /// questions that they still asked.
    pub(crate) fn lose_all(&mut self) -> (Vec<(CallId, Owner)>, Vec<IncomingId>) {
        let Some(table) = self.table.allocated_mut() else { return (Vec::new(), Vec::new()) };
        let lost: Vec<(u64, CallId, Owner)> =
            table.iter().map(|(id, call)| (id, call.id, call.owner)).collect();
        let mut questions = Vec::new();
        for (id, ..) in &lost {
            questions.extend(table.take_input(*id).map(Input::into_questions).unwrap_or_default());
            table.remove(*id);
        }
        (lost.into_iter().map(|(_, call, owner)| (call, owner)).collect(), questions)
    }

    /// The call that a log message belongs to, if it can belong to one only. (T-92)
    pub(crate) fn only_logged(&self) -> Option<CallId> {
        let mut calls =
            self.table.iter().filter(|(_, call)| call.wants_logs).map(|(_, call)| call.id);
        let only = calls.next();
        only.filter(|_| calls.next().is_none())
    }

    /// The peer reports progress of one of our calls. (PRG-03…10, PRG-16)
    pub(crate) fn on_progress(&mut self, env: &mut Env, params: &Params<'_>) {
        let number = |name: &str| -> Option<f64> {
            core::str::from_utf8(params.member(name)?)
                .ok()?
                .parse()
                .ok()
                .filter(|n: &f64| n.is_finite())
        };
        let token = params.member("progressToken").and_then(RequestId::from_json);
        let (Some(token), Some(progress)) = (token, number("progress")) else {
            let why = "`progressToken` must be an id and `progress` a number";
            return env.bad_notification(MethodId::Progress.name(), why);
        };
        let total = number("total");
        // A token of no open call is not an error: progress may cross an answer or a cancel.
        // (PRG-09)
        let Some(id) = token.as_u64() else { return };
        let is_wanted = |call: &&mut Call| call.wants_progress && call.is_in_flight();
        let Some(call) =
            self.table.allocated_mut().and_then(|table| table.get_mut(id)).filter(is_wanted)
        else {
            return;
        };
        let handle = call.id;
        if progress <= call.progress {
            return env.violation(ViolationKind::StaleProgress, format!("{handle}: {progress}"));
        }
        call.progress = progress;
        self.table.extend(env.now, id);
        let message = params.member("message").and_then(unescape).map(Into::into);
        env.emit(Event::Progress { call: handle, progress: Progress { progress, total, message } });
    }
}

/// A call is over: the application receives the outcome of its own calls at once, the router all
/// others.
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
