//! What the application asks a session to send; knows nothing of what comes back.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::batch::BatchId;
use super::calls::{Asker, CallId, CallOptions, wait};
use super::core::Core;
use super::gate;
use super::incoming::{IncomingId, Open, ReplyTo};
use super::outcome::{CallError, Progress};
use super::phase::Phase;
use super::requests::Back;
use super::rounds::Retry;
use super::stamp::asks_for_logs;
use crate::error::{Misuse, Unencodable, code};
use crate::json::{Object, Raw, find_rare, with_meta, write_f64, write_u64};
use crate::revision::{Capability, Era, MethodRule, Patience, Revision, Side};
use crate::rpc::{self, ErrorObject};
use crate::schema::{Level, key};
use crate::time::Instant;
use crate::wire::{StreamId, To};

/// Writes one JSON value for a peer of the given revision.
type Write<'a> = &'a dyn Fn(Revision, &mut Vec<u8>) -> Result<(), Unencodable>;

impl Core {
    pub(crate) fn call(
        &mut self,
        now: Instant,
        method: &str,
        params: Write<'_>,
        options: &CallOptions,
    ) -> Result<CallId, Misuse> {
        self.advance(now);
        let allowed = self.phase.allows();
        if method == "ping" {
            // Whoever made requests so far may take none. (STL-13)
            let is_unheard = self.side == Side::Server && self.is_sessionless();
            self.require(allowed.pings && !is_unheard)?;
        } else {
            self.require(allowed.traffic)?;
            self.has_room(self.stream_of(options.parent))?;
        }
        if let Some(parent) = options.parent {
            let parent = self.incoming.get(parent).ok_or(Misuse::Stale)?;
            // Whoever made it takes no requests. (FRM-17, STL-13)
            if !parent.peer.revision.rules().servers_ask {
                return Err(Misuse::Unsupported);
            }
        }
        self.place_call(method, params, options, Asker::Application).map(CallId)
    }

    /// Client: has the server send log messages of `level` and above: by a call, or with every request from now on.
    pub(crate) fn set_log_level(
        &mut self,
        now: Instant,
        level: Level,
        options: &CallOptions,
    ) -> Result<CallId, Misuse> {
        if self.rules().servers_ask {
            return self.call(
                now,
                "logging/setLevel",
                &|_, out| {
                    let mut params = Object::begin(out);
                    params.str("level", level.name());
                    params.end();
                    Ok(())
                },
                options,
            );
        }
        self.advance(now);
        self.require(self.phase.allows().traffic)?;
        let declared = self.peer.as_ref().is_some_and(|peer| peer.has(Capability::Logging));
        if !declared {
            return Err(Misuse::Undeclared);
        }
        self.log_level = Some(level);
        let wire = self.calls.insert_unsent(Asker::Application);
        self.calls.remove(wire);
        self.complete(CallId(wire), Asker::Application, Ok(Raw::empty_object()));
        Ok(CallId(wire))
    }

    /// Sends a request that may be sent now, if there is room for it among the open calls.
    pub(super) fn place_call(
        &mut self,
        method: &str,
        params: Write<'_>,
        options: &CallOptions,
        asker: Asker,
    ) -> Result<u64, Misuse> {
        if self.calls.len() >= self.limits().calls_max {
            return Err(Misuse::Blocked);
        }
        self.place_beyond(method, params, options, asker)
    }

    /// Sends a request that may be sent now, whether there is room for it or not.
    pub(super) fn place_beyond(
        &mut self,
        method: &str,
        params: Write<'_>,
        options: &CallOptions,
        asker: Asker,
    ) -> Result<u64, Misuse> {
        let mut scratch = core::mem::take(&mut self.scratch);
        scratch.clear();
        let placed = self.place_written(method, params, &mut scratch, options, asker);
        scratch.shrink_to(SCRATCH_KEPT_BYTES_MAX);
        self.scratch = scratch;
        placed
    }

    fn place_written(
        &mut self,
        method: &str,
        params: Write<'_>,
        scratch: &mut Vec<u8>,
        options: &CallOptions,
        asker: Asker,
    ) -> Result<u64, Misuse> {
        let rule = self.check_call(method, params, scratch, asker)?;
        let params = (!scratch.is_empty()).then_some(scratch.as_slice());
        let cache_as = self.cache_key(rule, params);
        if let Some(result) = self.cached(cache_as.as_ref(), options) {
            let wire = self.calls.insert_unsent(asker);
            self.calls.remove(wire);
            self.complete(CallId(wire), asker, Ok(result));
            return Ok(wire);
        }
        let is_stateless = self.side == Side::Client && !self.rules().servers_ask;
        let retry = rule.filter(|rule| is_stateless && rule.may_ask);
        if retry.is_some() && self.calls.bytes() + scratch.len() > self.limits().calls_bytes_max {
            return Err(Misuse::Blocked);
        }
        let wire = self.calls.next_wire();
        let stream = self.stream_of(options.parent);
        let to = stream.map_or(To::ANY, To::along);
        // A token of the application's own could be another call's: it only says that progress is wanted. (PRG-02)
        let wants_progress = options.progress || params.is_some_and(has_progress_token);
        let token = wants_progress.then_some(wire);
        if is_stateless {
            let (stamp, log_level) = (Arc::clone(&self.stamp), self.log_level);
            self.write(to, |out| {
                rpc::open_request(out, wire, method);
                out.extend_from_slice(b",\"params\":");
                stamp.write_params(out, params, token, log_level);
                out.push(b'}');
            });
        } else {
            self.write(to, |out| write_request(out, wire, method, params, token));
        }
        let wants_logs = is_stateless && (self.log_level.is_some() || asks_for_logs(params));
        let patience = rule.map_or(Patience::Call, |rule| rule.patience);
        self.calls.insert(self.now, asker, wants_progress, wait(options, patience, &self.me.limits));
        let is_special = wants_logs || stream.is_some() || cache_as.is_some();
        let call = if is_special { self.calls.get_mut(wire) } else { None };
        if let Some(call) = call {
            call.wants_logs = wants_logs;
            if let Some(stream) = stream {
                call.set_stream(stream);
            }
            if let Some(key) = cache_as {
                call.set_cache_as(self.cache.place(key));
            }
        }
        if let Some(rule) = retry {
            self.calls.keep_retry(wire, Retry::new(rule.name, scratch));
        }
        Ok(wire)
    }

    /// Writes the params to `scratch`, and checks that the call may be made: its row, if it has one. (JSON-17, CAP-03)
    pub(super) fn check_call(
        &self,
        method: &str,
        params: Write<'_>,
        scratch: &mut Vec<u8>,
        asker: Asker,
    ) -> Result<Option<&'static MethodRule>, Misuse> {
        let revision = self.revision();
        params(revision, scratch)?;
        if scratch.first().is_some_and(|first| *first != b'{') {
            return Err(Misuse::Unencodable);
        }
        let none = crate::schema::Capabilities::none();
        let theirs = self.peer.as_ref().map_or(&none, |peer| &peer.capabilities);
        let by_itself = asker != Asker::Application;
        gate::outgoing_request(self.side, revision, method, scratch, theirs, by_itself)
    }

    pub(crate) fn notify(&mut self, now: Instant, method: &str, params: Write<'_>) -> Result<(), Misuse> {
        self.notify_on(now, None, method, params)
    }

    /// Sends a notification, along with the answer to come if it belongs to a request.
    fn notify_on(
        &mut self,
        now: Instant,
        stream: Option<StreamId>,
        method: &str,
        params: Write<'_>,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let revision = self.revision();
        let allowed = self.phase.allows();
        // A log message may go out before the client is all set (D-24), but not without a session (LOG-05).
        let logs = allowed.logs && self.peer.is_some();
        self.require(if method == "notifications/message" { logs } else { allowed.traffic })?;
        gate::outgoing_notification(self.side, revision, method, &self.me.capabilities)?;
        self.has_room(stream)?;
        let to = stream.map_or(To::ANY, To::along);
        Ok(self.try_write(to, |out| rpc::notification(out, method, |out| params(revision, out)))?)
    }

    /// Cancels a call of the application. (CAN-01, T-44)
    pub(crate) fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
        self.advance(now);
        let wire = self.calls.wire_of(call).ok_or(Misuse::Stale)?;
        let open = self.calls.get(wire).filter(|open| open.is_application()).ok_or(Misuse::Stale)?;
        let (is_sent, asker, to) = (open.is_sent, open.asker, open.to());
        let input = self.calls.take_input(wire);
        let limits = &self.me.limits;
        self.calls.retire(wire, limits);
        self.withdraw_input(input);
        if is_sent {
            self.write_cancelled(to, wire, reason);
        }
        self.complete(call, asker, Err(CallError::Cancelled));
        Ok(())
    }

    pub(super) fn write_cancelled(&mut self, to: To, wire: u64, reason: &str) {
        // Before the session is open there is nothing but pings, which are over soon enough.
        if self.phase == Phase::Opening {
            return;
        }
        let _infallible = self.try_write(to, |out| {
            rpc::notification(out, "notifications/cancelled", |out| {
                let mut params = Object::begin(out);
                write_u64(params.key("requestId"), wire);
                if !reason.is_empty() {
                    params.str("reason", reason);
                }
                params.end();
                Ok(())
            })
        });
    }

    pub(crate) fn respond(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        result: Write<'_>,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let open = self.incoming.get(incoming).ok_or(Misuse::Stale)?;
        let (revision, rule) = (open.peer.revision, open.rule);
        if let ReplyTo::Call { call, index } = open.reply {
            let mut answer = Vec::new();
            result(revision, &mut answer)?;
            if !answer.starts_with(b"{") {
                return Err(Misuse::Unencodable);
            }
            self.incoming.remove(incoming);
            self.input_given(call, index, Ok(Raw::from_written(answer)));
            return Ok(());
        }
        let to = open.to_answer().ok_or(Misuse::Stale)?;
        let stamp = (!revision.rules().servers_ask).then(|| Arc::clone(&self.stamp));
        self.answer_to(to, incoming, |out, wire, _| {
            rpc::response(out, wire, |out| {
                let start = out.len();
                result(revision, out)?;
                if let Some(stamp) = stamp {
                    stamp.finish_result(out, start, rule);
                }
                Ok(())
            })
        })
    }

    /// Answers with an error; a code that stands for something other revisions write otherwise is translated.
    /// (STL-46, CAP-15)
    pub(crate) fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let open = self.incoming.get(incoming).ok_or(Misuse::Stale)?;
        let rules = open.peer.revision.rules();
        let mut error = error.clone();
        error.code = match error.code {
            code::RESOURCE_NOT_FOUND => rules.resource_not_found,
            code::MISSING_CLIENT_CAPABILITY => rules.missing_capability,
            code => code,
        };
        if let ReplyTo::Call { call, index } = open.reply {
            self.incoming.remove(incoming);
            self.input_given(call, index, Err(error));
            return Ok(());
        }
        self.answer(incoming, |out, wire, null_id| {
            rpc::error_line(out, Some(wire), null_id, &error);
            Ok(())
        })
    }

    /// Answers an open request, after the progress that still waits for room. (JSON-06, PRG-04)
    pub(super) fn answer(
        &mut self,
        incoming: IncomingId,
        write: impl FnOnce(&mut Vec<u8>, &rpc::RequestId, bool) -> Result<(), Unencodable>,
    ) -> Result<(), Misuse> {
        let to = self.incoming.get(incoming).and_then(Open::to_answer).ok_or(Misuse::Stale)?;
        self.answer_to(to, incoming, write)
    }

    fn answer_to(
        &mut self,
        (wire, stream, batch): (rpc::RequestId, StreamId, Option<BatchId>),
        incoming: IncomingId,
        write: impl FnOnce(&mut Vec<u8>, &rpc::RequestId, bool) -> Result<(), Unencodable>,
    ) -> Result<(), Misuse> {
        let back = Back { stream, batch };
        let deferred = self.incoming.take_deferred(incoming);
        let mark = self.outbox_mark();
        if let Some(params) = &deferred {
            self.write_progress(stream, params);
        }
        let null_id = self.rules().unknown_id_is_null;
        if let Err(error) = self.write_answer(back, |out| write(out, &wire, null_id)) {
            self.take_back(mark);
            if let Some(params) = deferred {
                self.incoming.defer(incoming, params);
            }
            return Err(error.into());
        }
        self.incoming.remove(incoming);
        self.settle(batch);
        self.check_asked();
        self.check_drained();
        Ok(())
    }

    /// Client, in a session: nothing is asked of us any more, so that our calls' time runs again.
    pub(super) fn check_asked(&mut self) {
        if self.calls.holds_any() && self.incoming.is_empty() {
            self.calls.release(self.now);
        }
    }

    /// Writes an answer where it belongs: out, or into the reply to its batch.
    pub(super) fn write_answer(
        &mut self,
        back: Back,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
    ) -> Result<(), Unencodable> {
        match back.batch {
            Some(batch) => self.batches.add(batch, write),
            None => self.try_write(To::back(back.stream), write),
        }
    }

    /// One answer less to wait for; sends the reply to the batch when it was the last.
    pub(super) fn settle(&mut self, batch: Option<BatchId>) {
        let Some((stream, answers)) = batch.and_then(|batch| self.batches.settle(batch)) else { return };
        if answers.is_empty() {
            return self.end_path(To::back(stream));
        }
        self.write(To::back(stream), |out| {
            out.push(b'[');
            out.extend_from_slice(&answers);
            out.push(b']');
        });
    }

    /// Tells how far an open request has come, if the peer wants to hear of it. (PRG-03…05)
    pub(crate) fn progress(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let open = self.incoming.get_mut(incoming).filter(|open| open.asking().is_none());
        let Some(open) = open else { return Err(Misuse::Stale) };
        let with_message = open.peer.revision.rules().progress_message;
        let last = open.rare.as_ref().map_or(f64::NEG_INFINITY, |rare| rare.progress);
        if !progress.progress.is_finite() || progress.progress <= last {
            return Err(Misuse::Unencodable);
        }
        let Some(token) = open.progress_token() else { return Ok(()) };
        let mut params = Vec::new();
        let mut object = Object::begin(&mut params);
        token.write(object.key("progressToken"));
        write_f64(object.key("progress"), progress.progress);
        if let Some(total) = progress.total.filter(|total| total.is_finite()) {
            write_f64(object.key("total"), total);
        }
        object.opt_str("message", progress.message.as_deref().filter(|_| with_message));
        object.end();
        open.rare().progress = progress.progress;
        let Some(stream) = open.stream() else { return Ok(()) };
        if self.has_room(Some(stream)).is_ok() {
            // What waited for room is out of date now.
            self.incoming.take_deferred(incoming);
            self.write_progress(stream, &params);
        } else {
            self.incoming.defer(incoming, params);
        }
        Ok(())
    }

    /// Sends a log message, unless the client does not want it. (LOG-01…03)
    pub(crate) fn log(
        &mut self,
        now: Instant,
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw,
    ) -> Result<(), Misuse> {
        self.advance(now);
        let open = match incoming {
            Some(incoming) => Some(self.incoming.get(incoming).ok_or(Misuse::Stale)?),
            None => None,
        };
        let stream = open.and_then(Open::stream);
        let stateless = open.filter(|open| !open.peer.revision.rules().servers_ask);
        let write = |out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.str("level", level.name());
            params.opt_str("logger", logger);
            params.raw("data", data.as_bytes());
            params.end();
            Ok(())
        };
        if let Some(open) = stateless {
            // Each request says whether it wants any. (LOG-05…07)
            let is_wanted = open.log_level.is_some_and(|least| level >= least);
            if !self.me.capabilities.has(Capability::Logging) {
                return Err(Misuse::Undeclared);
            }
            if !is_wanted {
                return Ok(());
            }
            self.has_room(stream)?;
            let to = stream.map_or(To::ANY, To::along);
            return Ok(self.try_write(to, |out| rpc::notification(out, "notifications/message", write))?);
        }
        // Where there is no session, nobody hears what belongs to no request. (LOG-06)
        let was_sessionless = self.phase == Phase::Draining && self.peer.is_none();
        let is_unheard = self.is_sessionless() || was_sessionless;
        if is_unheard || self.log_level.is_some_and(|least| level < least) {
            return Ok(());
        }
        self.notify_on(now, stream, "notifications/message", &|_, out| write(out))
    }

    /// The path of an open request.
    fn stream_of(&self, incoming: Option<IncomingId>) -> Option<StreamId> {
        incoming.and_then(|incoming| self.incoming.get(incoming)).and_then(Open::stream)
    }

    /// Whether nobody opened a session, and requests can come that need none.
    fn is_sessionless(&self) -> bool {
        self.peer.is_none() && self.me.newest(Era::Modern).is_some()
    }

    /// Why something is not allowed now.
    pub(super) fn require(&self, allowed: bool) -> Result<(), Misuse> {
        match self.phase {
            _ if allowed => Ok(()),
            Phase::Closed | Phase::Draining => Err(Misuse::Closed),
            Phase::Opening | Phase::Greeted | Phase::Ready => Err(Misuse::NotReady),
        }
    }
}

/// Writes a request of a session.
fn write_request(out: &mut Vec<u8>, wire: u64, method: &str, params: Option<&[u8]>, token: Option<u64>) {
    rpc::open_request(out, wire, method);
    if let Some(token) = token {
        out.extend_from_slice(b",\"params\":");
        with_meta(out, params, &[key::PROGRESS_TOKEN], |meta| {
            write_u64(meta.key(key::PROGRESS_TOKEN), token);
        });
    } else if let Some(params) = params {
        out.extend_from_slice(b",\"params\":");
        out.extend_from_slice(params);
    }
    out.push(b'}');
}

fn has_progress_token(params: &[u8]) -> bool {
    find_rare(params, "_meta").is_some_and(|meta| find_rare(meta, "progressToken").is_some())
}

/// What the scratch buffer keeps between calls.
const SCRATCH_KEPT_BYTES_MAX: usize = 16 * 1024;
