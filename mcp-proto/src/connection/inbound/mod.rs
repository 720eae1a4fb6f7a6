//! The peer's requests: delivers them to the application and responds at most once to each.

pub(crate) mod batches;
mod request;
mod table;

use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::context::Env;
use super::eras::rules::{self, WrittenQuestion};
use super::input_required::round::Round;
use crate::collections::LazyBox;
use crate::error::{Misuse, Unencodable};
use crate::json::{Frame, Object, Raw, find, unescape};
use crate::limits::{Limits, REQUEST_BYTES};
use crate::method::{Method, MethodId};
use crate::queues::Draft;
use crate::revision::{MethodRule, Revision};
use crate::rpc::{self, ErrorObject, Params, RequestId};
use crate::vocabulary::{
    CallError, CallId, Caller, Context, Event, IncomingId, InputResponses, NeededInput,
    OutgoingKind, Principal, Progress, Request, Route, StreamId, identity_cost,
};

pub(crate) use crate::meta::RequestContext;
use batches::{BatchId, Batches};
pub(crate) use request::{Asking, Destination, InboundRequest, RareRequest, ReplyTo};
use table::RequestTable;

/// The peer's open requests and batches.
#[derive(Debug, Default)]
pub(crate) struct Inbound {
    requests: RequestTable,
    batches: LazyBox<Batches>,
    /// The sender of the messages that arrive now.
    caller: Option<Arc<Caller>>,
    /// Client: the call on whose stream messages arrive now, if the transport knows it.
    pub(crate) stream_call: Option<CallId>,
}

/// The source of a message: the destination of its response, and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) to: Destination,
    pub(crate) frame: Frame<'a>,
}

/// Writes a result in the format of the given revision.
pub(crate) type WriteResult<'a> = &'a dyn Fn(Revision, &mut Vec<u8>) -> Result<(), Unencodable>;

/// The kind of request that a response completed.
#[derive(Debug)]
pub(crate) enum Responded<T> {
    /// A request of the peer.
    Request,
    /// A question of the server about one of our calls.
    Question { call: CallId, index: usize, answer: T },
}

impl Inbound {
    /// Sets the sender of the requests that arrive from now on.
    pub(crate) fn set_caller(&mut self, caller: Option<Arc<Caller>>) {
        self.caller = caller;
    }

    /// Returns the sender of the message that arrives now, if it is authenticated.
    pub(crate) fn principal(&self) -> Option<&Principal> {
        self.caller.as_ref()?.principal()
    }

    /// Returns the table of the open requests, for lookups.
    pub(crate) fn requests(&self) -> &RequestTable {
        &self.requests
    }

    /// Returns whether no request and no batch is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.requests.is_empty() && self.batches.is_empty()
    }

    /// Returns the memory of all requests and batches, in bytes.
    pub(crate) fn cost(&self) -> usize {
        self.requests.bytes() + self.requests.len() * REQUEST_BYTES + self.batches.bytes()
    }

    /// Returns the stream of an open request.
    pub(crate) fn stream_of(&self, incoming: Option<IncomingId>) -> Option<StreamId> {
        incoming.and_then(|incoming| self.requests.get(incoming)).and_then(InboundRequest::stream)
    }

    /// Returns whether the wire id `id` is in use.
    pub(crate) fn has_id(&self, id: &RequestId) -> bool {
        self.requests.find(id).is_some() || self.batches.has_id(id)
    }

    pub(crate) fn shrink(&mut self) {
        self.requests.shrink();
    }

    /// Fails if another request would exceed the limits.
    pub(crate) fn require_room(
        &self,
        params: &Params<'_>,
        limits: &Limits,
    ) -> Result<(), ErrorObject> {
        let bytes = params.object.map_or(0, |object| object.text.len())
            + params
                .meta
                .map_or(0, |meta| meta.len() + identity_cost(meta, limits.identity_bytes_max()));
        if self.requests.len() >= limits.requests_max
            || self.requests.bytes() + bytes > limits.requests_bytes_max
        {
            return Err(ErrorObject::internal("too many requests are open"));
        }
        Ok(())
    }

    /// Delivers a request to the application.
    #[expect(clippy::too_many_arguments, reason = "all arguments describe one request")]
    pub(crate) fn deliver(
        &mut self,
        env: &mut Env,
        origin: Origin<'_>,
        id: RequestId,
        method: Method,
        rule: Option<&'static MethodRule>,
        params: &Params<'_>,
        sender: RequestContext,
    ) {
        let request =
            Request { method, params: params.object.map(|object| object.keep(origin.frame)) };
        let context = Context {
            peer: Arc::clone(&sender.peer),
            log_level: sender.log_level,
            wants_progress: sender.progress_token.is_some(),
            input_responses: sender.answers,
            state: sender.state,
            meta: sender.meta,
            caller: self.caller.clone(),
        };
        let kept = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.as_bytes().len());
        let identity_max = env.limits().identity_bytes_max();
        let identity = |meta: &Raw| identity_cost(meta.as_bytes(), identity_max);
        let identity = context.meta.as_ref().map_or(0, identity);
        let bytes = kept(&request.params) + kept(&context.meta) + identity;
        let delivers_again =
            rule.is_some_and(|rule| rule.may_ask) && rules::takes_requests(&sender.peer);
        // A subscription is opened from its params once the application has accepted it.
        let is_subscription =
            rule.is_some_and(|rule| matches!(rule.id, MethodId::Listen | MethodId::Subscribe));
        let again = request.params.clone().filter(|_| delivers_again || is_subscription);
        if let Some(batch) = origin.to.batch {
            self.batches.expect(batch);
        }
        let mut rare = RareRequest::new(sender.progress_token);
        let extensions = &env.identity.extensions;
        if rule.is_none() && extensions.method(&request.method, sender.peer.revision).is_some() {
            rare.get_or_insert_default().extension_method = Some(request.method.clone());
        }
        let incoming = self.requests.insert(InboundRequest {
            reply: ReplyTo::Peer { wire: id, to: origin.to },
            peer: sender.peer,
            rule,
            log_level: sender.log_level,
            caller: self.caller.clone(),
            again,
            bytes,
            rare,
        });
        env.emit(Event::Request { incoming, call: self.stream_call, request, context });
    }

    /// Delivers the questions of a round to the application. Returns their handles, in order.
    pub(crate) fn deliver_questions(
        &mut self,
        env: &mut Env,
        call: CallId,
        round: &Round,
    ) -> Result<Vec<IncomingId>, CallError> {
        let Some(peer) = env.terms.peer.clone() else { return Ok(Vec::new()) };
        let questions = round.questions.as_deref().unwrap_or_default();
        let total: usize = questions.iter().map(|question| question.bytes()).sum();
        if self.requests.len() + questions.len() > env.limits().requests_max
            || self.requests.bytes() + total > env.limits().requests_bytes_max
        {
            return Err(CallError::Invalid(
                "too many input requests (`Limits::requests_max`, `Limits::requests_bytes_max`)"
                    .into(),
            ));
        }
        let mut asked = Vec::with_capacity(questions.len());
        for (index, question) in questions.iter().enumerate() {
            let incoming = self.requests.insert(InboundRequest {
                reply: ReplyTo::Call { call, index },
                peer: Arc::clone(&peer),
                rule: Some(question.rule),
                log_level: None,
                caller: None,
                again: None,
                bytes: question.bytes(),
                rare: None,
            });
            let request =
                Request { method: question.rule.id.into(), params: question.params.clone() };
            let context = Context::new(Arc::clone(&peer));
            env.emit(Event::Request { incoming, call: Some(call), request, context });
            asked.push(incoming);
        }
        Ok(asked)
    }

    /// Withdraws the open questions about an ended call.
    pub(crate) fn withdraw_questions(&mut self, env: &mut Env, questions: &[IncomingId]) {
        for incoming in questions {
            if self.requests.remove(*incoming).is_some() {
                env.emit(Event::RequestCancelled { incoming: *incoming, reason: None });
            }
        }
    }

    /// Responds with a result.
    pub(crate) fn respond(
        &mut self,
        env: &mut Env,
        incoming: IncomingId,
        result: WriteResult<'_>,
    ) -> Result<Responded<Raw>, Misuse> {
        let mut other_type: Option<Box<str>> = None;
        let responded = self.respond_or(env, incoming, result, &mut |result| {
            other_type = find(result, "resultType").and_then(unescape).map(Into::into);
            Err(Unencodable)
        });
        let Some(other_type) = other_type else { return responded };
        self.require_result_type(env, incoming, &other_type)?;
        self.respond_or(env, incoming, result, &mut |_| Ok(()))
    }

    /// Responds with a result, unless it has a type that the protocol does not define and `check`
    /// fails for it.
    fn respond_or(
        &mut self,
        env: &mut Env,
        incoming: IncomingId,
        result: WriteResult<'_>,
        check: &mut dyn FnMut(&[u8]) -> Result<(), Unencodable>,
    ) -> Result<Responded<Raw>, Misuse> {
        let open = self.requests.get(incoming).ok_or(Misuse::Stale)?;
        let (revision, rule, to_answer) = (open.peer.revision, open.rule, open.to_answer());
        if let ReplyTo::Call { call, index } = open.reply {
            let mut answer = Vec::new();
            result(revision, &mut answer)?;
            if !answer.starts_with(b"{") {
                return Err(Misuse::Unencodable);
            }
            self.requests.remove(incoming);
            return Ok(Responded::Question { call, index, answer: Raw::from_written(answer) });
        }
        let meta = rules::result_meta(env, revision);
        self.answer(env, incoming, to_answer, None, |out, wire| {
            rpc::response(out, wire, |out| {
                let start = out.len();
                result(revision, out)?;
                match meta {
                    Some(meta) if !meta.finish_result(out, start, rule) => {
                        check(out.get(start..).unwrap_or_default())
                    }
                    Some(_) | None => Ok(()),
                }
            })
        })
    }

    /// Fails unless an extension of both sides adds this result type to the method of a request.
    // LIF-34: a client without the extension does not receive its results.
    #[cold]
    fn require_result_type(
        &self,
        env: &Env,
        incoming: IncomingId,
        result_type: &str,
    ) -> Result<(), Misuse> {
        let open = self.requests.get(incoming).ok_or(Misuse::Stale)?;
        let Some(method) = open.defined_method() else { return Ok(()) };
        let (revision, theirs) = (open.peer.revision, &open.peer.capabilities);
        let extensions = &env.identity.extensions;
        if extensions.shares_result_type(method, result_type, revision, theirs) {
            Ok(())
        } else {
            Err(Misuse::Undeclared)
        }
    }

    /// Responds with an error.
    pub(crate) fn respond_error(
        &mut self,
        env: &mut Env,
        incoming: IncomingId,
        error: ErrorObject,
    ) -> Result<Responded<ErrorObject>, Misuse> {
        let open = self.requests.get(incoming).ok_or(Misuse::Stale)?;
        let to_answer = open.to_answer();
        if let ReplyTo::Call { call, index } = open.reply {
            self.requests.remove(incoming);
            return Ok(Responded::Question { call, index, answer: error });
        }
        self.answer(env, incoming, to_answer, Some(error.code), |out, wire| {
            rpc::error_line(out, Some(wire), false, &error);
            Ok(())
        })
    }

    /// Responds to the open request `incoming` at `to_answer`, after its deferred progress.
    // JSON-06: the id is echoed exactly. PRG-04: no progress may follow the response.
    pub(crate) fn answer<T>(
        &mut self,
        env: &mut Env,
        incoming: IncomingId,
        to_answer: Option<(RequestId, Destination)>,
        error: Option<i64>,
        write: impl FnOnce(&mut Vec<u8>, &RequestId) -> Result<(), Unencodable>,
    ) -> Result<Responded<T>, Misuse> {
        let (wire, to) = to_answer.ok_or(Misuse::Stale)?;
        let deferred = self.requests.take_deferred(incoming);
        let mark = env.out.mark();
        if let Some(params) = &deferred {
            env.send_progress(to.stream, params);
        }
        let kind = OutgoingKind::Response { incoming: Some(incoming), error };
        if let Err(error) = self.write_answer(env, to, kind, |out| write(out, &wire)) {
            if let Some(params) = deferred {
                env.out.truncate(mark);
                self.requests.defer(incoming, params);
            }
            return Err(error.into());
        }
        self.requests.remove(incoming);
        self.settle(env, to.batch);
        Ok(Responded::Request)
    }

    /// Responds to an undelivered request with an empty result.
    pub(crate) fn accept(&mut self, env: &mut Env, to: Destination, id: &RequestId) {
        self.accept_with(env, to, id, |out| {
            out.extend_from_slice(b"{}");
            Ok(())
        });
    }

    /// Responds to an undelivered request with the result that `result` writes.
    pub(crate) fn accept_with(
        &mut self,
        env: &mut Env,
        to: Destination,
        id: &RequestId,
        result: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
    ) {
        let kind = OutgoingKind::Response { incoming: None, error: None };
        let _infallible = self.write_answer(env, to, kind, |out| rpc::response(out, id, result));
    }

    /// Responds to an undelivered message with an error; `id` is `None` if it could not be read.
    pub(crate) fn refuse(
        &mut self,
        env: &mut Env,
        to: Destination,
        id: Option<&RequestId>,
        error: &ErrorObject,
    ) {
        // FRM-16: a modern client sends no responses.
        if !rules::receives_requests(env) {
            return;
        }
        let null_id = env.rules().unknown_id_is_null;
        let kind = OutgoingKind::Response { incoming: None, error: Some(error.code) };
        let _infallible = self.write_answer(env, to, kind, |out| {
            rpc::error_line(out, id, null_id, error);
            Ok(())
        });
    }

    /// Queues a response, or adds it to its batch.
    fn write_answer(
        &mut self,
        env: &mut Env,
        to: Destination,
        kind: OutgoingKind,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unencodable>,
    ) -> Result<(), Unencodable> {
        env.out.count_reply(&env.identity.limits);
        match to.batch {
            Some(batch) => self.batches.add(batch, write),
            None => {
                let draft = Draft::new(Route::Stream(to.stream), kind).last();
                env.send(draft, |out| write(out).map(|()| None))
            }
        }
    }

    /// Begins a batch; call [`settle`](Self::settle) after reading its members.
    pub(crate) fn begin_batch(&mut self, stream: StreamId) -> BatchId {
        self.batches.begin(stream)
    }

    /// Returns the bytes held by incomplete batches.
    pub(crate) fn batch_bytes(&self) -> usize {
        self.batches.bytes()
    }

    /// Reserves the id of a batched request until the batch completes.
    pub(crate) fn reserve_id(&mut self, batch: Option<BatchId>, id: &RequestId) {
        if let Some(batch) = batch {
            self.batches.reserve_id(batch, id);
        }
    }

    /// Counts one member of the batch as done; sends the responses after the last.
    pub(crate) fn settle(&mut self, env: &mut Env, batch: Option<BatchId>) {
        let Some((stream, answers)) = batch.and_then(|batch| self.batches.settle(batch)) else {
            return;
        };
        if answers.is_empty() {
            return env.end_stream(stream, true);
        }
        let draft = Draft::new(Route::Stream(stream), OutgoingKind::Responses).last();
        env.send_infallible(draft, |out| {
            out.push(b'[');
            out.extend_from_slice(&answers);
            out.push(b']');
            None
        });
    }

    /// Drops all batches.
    pub(crate) fn forget_batches(&mut self) {
        self.batches = LazyBox::default();
    }

    /// Removes a request that gets no response; call [`close`](Self::close) next.
    pub(crate) fn remove(&mut self, incoming: IncomingId) -> Option<InboundRequest> {
        self.requests.remove(incoming)
    }

    /// Ends the stream or batch slot of a removed request without a response.
    pub(crate) fn close(&mut self, env: &mut Env, open: &InboundRequest) {
        match &open.reply {
            ReplyTo::Peer { to: Destination { stream, batch: None }, .. } => {
                env.end_stream(*stream, true);
            }
            ReplyTo::Peer { to, .. } => self.settle(env, to.batch),
            ReplyTo::Call { .. } => {}
        }
    }

    /// Sends or defers progress of an open request, if the peer requested progress.
    ///
    /// A request that was delivered again starts its progress again; values that the peer has
    /// already received are not sent.
    // PRG-03…05: only while the request is open, and only increasing values.
    pub(crate) fn progress(
        &mut self,
        env: &mut Env,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        let open = self.requests.get_mut(incoming).filter(|open| open.asking().is_none());
        let Some(open) = open else { return Err(Misuse::Stale) };
        let with_message = open.peer.revision.rules().progress_message;
        let value = progress.progress;
        let last = open.rare.as_ref().map_or(f64::NEG_INFINITY, |rare| rare.round_progress);
        if !value.is_finite() || value <= last {
            return Err(Misuse::Unencodable);
        }
        if open.progress_token().is_none() {
            return Ok(());
        }
        let rare = open.rare();
        rare.round_progress = value;
        if value <= rare.progress {
            return Ok(());
        }
        rare.progress = value;
        let Some(token) = open.progress_token() else { return Ok(()) };
        let mut params = Vec::new();
        let mut object = Object::begin(&mut params);
        token.write(object.key("progressToken"));
        progress.write_members(&mut object, with_message);
        object.end();
        let Some(stream) = open.stream() else { return Ok(()) };
        if env.require_room(Route::Stream(stream)).is_ok() {
            // The new value supersedes the deferred one.
            self.requests.take_deferred(incoming);
            env.send_progress(stream, &params);
        } else {
            self.requests.defer(incoming, params);
        }
        Ok(())
    }

    /// Sends deferred progress while there is room.
    #[inline]
    pub(crate) fn send_deferred(&mut self, env: &mut Env) {
        if self.requests.has_deferred() {
            self.send_all_deferred(env);
        }
    }

    #[cold]
    fn send_all_deferred(&mut self, env: &mut Env) {
        while self.requests.has_deferred() {
            let has_room = |stream| env.require_room(Route::Stream(stream)).is_ok();
            let Some((stream, params)) = self.requests.next_deferred(has_room) else { break };
            env.send_progress(stream, &params);
        }
    }

    /// Records the questions of a request; responses to it are rejected until they are answered.
    pub(crate) fn begin_asking(
        &mut self,
        env: &mut Env,
        incoming: IncomingId,
        questions: &[(&str, NeededInput)],
        state: Option<&str>,
    ) {
        let deferred = self.requests.take_deferred(incoming);
        if let Some((params, stream)) = deferred.zip(self.stream_of(Some(incoming))) {
            env.send_progress(stream, &params);
        }
        if let Some(open) = self.requests.get_mut(incoming) {
            open.rare().asking = Some(Box::new(Asking {
                keys: questions.iter().map(|(key, _)| (*key).into()).collect(),
                answers: questions.iter().map(|_| None).collect(),
                state: state.map(Into::into),
            }));
        }
    }

    /// Holds the questions of a request until [`next_held`](Self::next_held) takes them.
    pub(crate) fn hold(&mut self, incoming: IncomingId, questions: Vec<WrittenQuestion>) {
        self.requests.hold(incoming, questions);
    }

    /// Takes the held questions of the oldest request that has any.
    pub(crate) fn next_held(&mut self) -> Option<(IncomingId, Vec<WrittenQuestion>)> {
        self.requests.next_held()
    }

    /// Handles the outcome of a question. Returns the error for the request if the question failed.
    pub(crate) fn on_answer(
        &mut self,
        env: &mut Env,
        incoming: IncomingId,
        index: u32,
        outcome: Result<Raw, CallError>,
    ) -> Option<ErrorObject> {
        let (held, bytes_max) = (self.requests.bytes(), env.limits().requests_bytes_max);
        let asking = self.requests.get_mut(incoming)?.asking_mut()?;
        let index = index as usize;
        // Answers are held until all have arrived, and count towards the request limit.
        let outcome = match outcome {
            Ok(answer) if held + answer.as_bytes().len() > bytes_max => {
                Err(CallError::Invalid("larger than the server accepts".into()))
            }
            outcome => outcome,
        };
        match outcome {
            Ok(answer) => {
                let bytes = answer.as_bytes().len();
                if let Some(slot) = asking.answers.get_mut(index) {
                    *slot = Some(answer);
                }
                self.requests.add_bytes(incoming, bytes);
                self.deliver_answered(env, incoming);
                None
            }
            Err(error) => {
                // T-99: a declined question fails the request.
                let key = asking.keys.get(index).cloned().unwrap_or_default();
                if let Some(open) = self.requests.get_mut(incoming) {
                    open.rare().asking = None;
                }
                Some(ErrorObject::internal(format!("no answer to `{key}`: {error}")))
            }
        }
    }

    /// Delivers the request again if all of its questions are answered.
    pub(crate) fn deliver_answered(&mut self, env: &mut Env, incoming: IncomingId) {
        let asking = self.requests.get(incoming).and_then(InboundRequest::asking);
        if !asking.is_some_and(|asking| asking.answers.iter().all(Option::is_some)) {
            return;
        }
        let Some(mut open) = self.requests.remove(incoming) else { return };
        let (Some(asking), Some(rule)) = (open.rare().asking.take(), open.rule) else { return };
        let request = Request { method: rule.id.into(), params: open.again.clone() };
        let is_idle = asking.keys.is_empty();
        let answers = asking.keys.into_iter().zip(asking.answers.into_iter().flatten()).collect();
        let context = Context {
            peer: Arc::clone(&open.peer),
            log_level: env.terms.log_level,
            wants_progress: open.progress_token().is_some(),
            // Without questions there are no answers, as in the modern era.
            input_responses: (!is_idle).then(|| InputResponses::new(answers)),
            state: asking.state,
            meta: request.params.as_ref().and_then(|params| params.member("_meta")),
            caller: open.caller.clone(),
        };
        open.rare().rounds += 1;
        open.rare().round_progress = f64::NEG_INFINITY;
        let incoming = self.requests.insert(open);
        env.emit(Event::Request { incoming, call: None, request, context });
    }
}

#[cfg(test)]
mod tests;
