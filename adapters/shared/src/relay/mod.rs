//! [`Cx::relay`]: passes a request on to another server, and the questions of that server back.
//!
//! ```text
//!  host ──▶ Cx ──▶ relay ──▶ Call ──▶ upstream
//!   ▲                │                  │
//!   │ questions      │ modern: the state of the upstream, inside the request state
//!   └── answers ───▶ │ legacy: the open call, kept by the server
//!                    ◀──────── questions
//! ```

mod translation;

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::schema::{Decode, InputRequest, InputRequired};
use mcp_proto::{CallError, ErrorObject, NeededInput, Raw, Revision};

use crate::client::call::{Call, Pending};
use crate::client::call_hooks::is_input_required;
use crate::client::in_flight::CallUpdate;
use crate::client::questions::{Asker, Question};
use crate::error::Error;
use crate::exec::operation::Operation;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::round_state::Relayed;
use crate::server::handler::undeclared::undeclared;
use translation::translated;

/// How long a call to a legacy server is kept for the answers to its questions.
const ANSWER_TIME: Duration = Duration::from_secs(10 * 60);

/// The prefix of the keys of relayed questions, which tells them from those of the handler.
const PREFIX: &str = "relay/";

/// A call to a legacy server that waits for answers, which the client gives in its next request.
struct HeldCall {
    pending: Pending<Raw>,
    /// The questions, by their keys.
    questions: Vec<(String, Question)>,
}

impl Cx {
    /// Makes a call to another server for this request, and passes on what belongs to it: progress,
    /// cancellation, and the questions that the other server asks the user, in both eras.
    ///
    /// Use this in a gateway. The params of the call may be those of this request: what they say
    /// about the connection is left out, and other entries of `_meta`, such as `traceparent`, are
    /// passed on. The call fails with the error of the other server. Its
    /// [handlers](Call::on_elicitation) and those of its client are not used, but the client must
    /// have declared the capabilities. A question that this server's own client cannot answer fails
    /// with an error that names the client.
    ///
    /// Like [`ask`](Self::ask), the operation fails with an error that the handler must return with
    /// `?` if the other server asks, and the handler runs again with the answers. It must then
    /// relay an equal call. Between the runs,
    /// - the request state of a modern server (from revision 2026-07-28) becomes part of the
    ///   request state of this server: nothing is kept here;
    /// - the call to a legacy server stays open, for at most 10 minutes. It ends if the client
    ///   cancels the request, which a client of the modern era cannot. A server keeps at most 1,024
    ///   such calls, and 64 for each [principal](Self::principal), and refuses questions beyond
    ///   that. Each takes about 4 KiB, and with `mcp-blocking` a thread. Only this process can
    ///   continue them: several that share the requests of a client need affinity.
    ///
    /// A legacy server over a byte stream does not say which call asks. Its question then belongs
    /// to the latest call that is not kept, if all open calls of the connection are relayed for one
    /// principal, or for one connection to a client that is not authenticated. Otherwise, it is
    /// refused: use a connection for each user.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::Capability;
    /// use mcp_tokio::proto::schema::{CallTool, CallToolResult};
    /// use mcp_tokio::{Client, Connection, Cx, HandlerError, Server, State, Unregistered};
    ///
    /// async fn pass_on(
    ///     State(upstream): State<Connection>,
    ///     call: CallTool,
    ///     cx: Cx,
    /// ) -> Result<CallToolResult, HandlerError> {
    ///     cx.relay(upstream.call(call)).await
    /// }
    ///
    /// let client = Client::new("gateway", "1.0.0")
    ///     .configure(|config| config.capability(Capability::ElicitationForm));
    /// let tools = Unregistered::new().tool_fallback(pass_on);
    /// let server = Server::new("gateway", "1.0.0").add(tools);
    /// # drop((client, server));
    /// ```
    ///
    /// # Errors
    /// Fails if the other server has asked; propagate this error with `?`. Fails with the error of
    /// the other server, and with [`HandlerError::failed`] if the call fails otherwise. Fails with
    /// `-32602` if the call that asked is over, and with `-32603` if this run has already relayed a
    /// call.
    pub fn relay<'a, T: Decode + 'a>(
        &'a self,
        call: Call<'a, T>,
    ) -> Operation<'a, T, HandlerError> {
        Operation::new(async move {
            let relayed = self.request.cancelled.run_until_set(self.relay_raw(call));
            let result =
                relayed.await.unwrap_or_else(|| Err("the request was cancelled".into()))?;
            T::decode(&result).map_err(|error| {
                HandlerError::failed(format!("invalid result of the other server: {error}"))
            })
        })
    }

    async fn relay_raw<T: Decode>(&self, call: Call<'_, T>) -> Result<Raw, HandlerError> {
        let pending = match self.begin_relay()? {
            Some((Some(id), ..)) => self.resume(&id)?,
            earlier => {
                let (_, state, keys) = earlier.unwrap_or_default();
                let answers = self.take_answers(keys);
                let with_progress = self.context().wants_progress;
                let sent = call.send_held(self.asker(), with_progress, answers, state);
                sent.await.map_err(relayed_error)?
            }
        };
        self.attend(pending).await
    }

    /// Returns what an earlier run has left of its call.
    fn begin_relay(&self) -> Result<Option<Relayed>, HandlerError> {
        let mut rounds = self.rounds();
        if std::mem::replace(&mut rounds.has_relayed, true) {
            return Err(HandlerError::internal("a run of a handler can relay one call only"));
        }
        Ok(rounds.relayed.take().map(|relayed| *relayed))
    }

    fn asker(&self) -> Asker {
        let connection = self.request.link.shared.workers.id();
        Asker { principal: self.principal().cloned(), connection }
    }

    /// Takes the answers to relayed questions, with the keys of the other server.
    fn take_answers(&self, keys: Vec<String>) -> Vec<(String, Raw)> {
        let mut rounds = self.rounds();
        let answer = |key: String| {
            let answer = rounds.take_answer(&key)?;
            Some((key.strip_prefix(PREFIX)?.to_owned(), answer))
        };
        keys.into_iter().filter_map(answer).collect()
    }

    /// Takes a kept call and answers its questions.
    fn resume(&self, id: &str) -> Result<Pending<Raw>, HandlerError> {
        let kept = &self.request.link.shared.kept;
        let Some(held) = kept.take::<HeldCall>(id, self.principal()) else {
            let why = "the call that asked is over: its server has ended it, or the answer came \
                       more than 10 minutes later. Repeat the request";
            return Err(HandlerError::refused(ErrorObject::invalid_params(why)));
        };
        held.pending.in_flight.slot().set_waiting(false);
        for (key, question) in held.questions {
            let answer = self.rounds().take_answer(&key);
            let missing = || ErrorObject::internal("the client did not answer");
            question.answer(answer.ok_or_else(missing));
        }
        Ok(held.pending)
    }

    /// Waits for the result of a call, or for questions, which are asked with the error.
    async fn attend(&self, mut pending: Pending<Raw>) -> Result<Raw, HandlerError> {
        let link = pending.in_flight.link();
        let revision = link.inspect(|state| state.role.peer.as_ref().map(|peer| peer.revision));
        let revision = revision.unwrap_or_else(|| self.peer().revision);
        loop {
            match pending.in_flight.next().await {
                CallUpdate::Progress(progress) => {
                    let _not_wanted = self.progress(progress);
                }
                CallUpdate::Question(first) => {
                    let questions = self.askable(first, &pending, revision);
                    if questions.is_empty() {
                        continue;
                    }
                    match self.hold(pending, questions) {
                        Ok(asks) => return Err(asks),
                        Err(refused) => pending = refused,
                    }
                }
                CallUpdate::Completed(outcome) => {
                    let result = outcome.map_err(|error| relayed_error(error.into()))?;
                    if is_input_required(&result) {
                        return Err(self.hand_on(&result, revision));
                    }
                    return pending.finish(result).await.map_err(relayed_error);
                }
            }
        }
    }

    /// Returns the questions that have arrived and that the client can answer. Refuses others.
    fn askable(
        &self,
        first: Question,
        pending: &Pending<Raw>,
        revision: Revision,
    ) -> Vec<(NeededInput, Question)> {
        let mut askable = Vec::new();
        let mut next = Some(first);
        while let Some(question) = next {
            match self.needed(&question, revision) {
                Ok(needed) => askable.push((needed, question)),
                Err(error) => question.answer(Err(error)),
            }
            next = pending.in_flight.take_question();
        }
        askable
    }

    /// Returns a question as the client receives it.
    fn needed(&self, question: &Question, from: Revision) -> Result<NeededInput, ErrorObject> {
        let client = self.peer();
        let mut request = InputRequest::new(&*question.request.method);
        request.params = question.request.params.clone().map(Into::into);
        if let Some(what) = undeclared(&request, client) {
            let name = mcp_proto::printable(client.info.name.as_bytes(), 64);
            let why = format!("the client `{name}` does not support {what}");
            return Err(ErrorObject::internal(why));
        }
        let needed = translated(request, from, client.revision)?;
        needed.to_request(client.revision).map_err(|_| {
            let why = format!("revision {} has no such question", client.revision);
            ErrorObject::internal(why)
        })?;
        Ok(needed)
    }

    /// Keeps a call until its questions are answered. Returns the error that asks them, or the call
    /// if there is no room; its questions are then refused.
    fn hold(
        &self,
        pending: Pending<Raw>,
        questions: Vec<(NeededInput, Question)>,
    ) -> Result<HandlerError, Pending<Raw>> {
        let upstream = Arc::clone(pending.in_flight.link());
        let numbers = 0..questions.len();
        let keys: Vec<String> = numbers.map(|number| format!("{PREFIX}{number}")).collect();
        let (needed, open): (Vec<_>, Vec<_>) = questions.into_iter().unzip();
        let held = HeldCall { pending, questions: keys.iter().cloned().zip(open).collect() };
        held.pending.in_flight.slot().set_waiting(true);
        let kept = &self.request.link.shared.kept;
        let (id, gone) = match kept.keep(self.principal(), held) {
            Ok(kept) => kept,
            Err(held) => {
                held.pending.in_flight.slot().set_waiting(false);
                for (_, question) in held.questions {
                    let error = ErrorObject::internal("too many calls wait for answers");
                    question.answer(Err(error));
                }
                return Err(held.pending);
            }
        };
        let cancelled = Arc::clone(&self.request.cancelled);
        // Dropped also if the runtime rejects the task: no call stays without its timer.
        let (timer, held) = (Arc::clone(&upstream), kept.remove_on_drop(id.clone()));
        let until = upstream.clock.now() + ANSWER_TIME;
        upstream.shared.workers.spawn_on_runtime(Box::pin(async move {
            // The timer also ends with the connection, and so has the call.
            or(or(cancelled.wait(), gone.wait()), timer.sleep_until(until)).await;
            drop(held);
        }));
        Ok(self.ask_relayed((Some(id), None, keys), needed))
    }

    /// Returns the error that asks the questions of a modern server.
    fn hand_on(&self, result: &Raw, from: Revision) -> HandlerError {
        let required = match InputRequired::decode(result) {
            Ok(required) => required,
            Err(error) => return HandlerError::failed(format!("invalid questions: {error}")),
        };
        let requests = required.input_requests.map_or_else(Vec::new, |requests| requests.items);
        let (mut keys, mut questions) = (Vec::new(), Vec::new());
        for (key, request) in requests {
            match translated(request, from, self.peer().revision) {
                Ok(question) => questions.push(question),
                Err(error) => return HandlerError::refused(error),
            }
            keys.push(format!("{PREFIX}{key}"));
        }
        self.ask_relayed((None, required.request_state, keys), questions)
    }

    /// Returns the error that asks questions, which have the keys of `relayed`.
    fn ask_relayed(&self, relayed: Relayed, questions: Vec<NeededInput>) -> HandlerError {
        let keys = relayed.2.clone();
        self.rounds().relayed = Some(Box::new(relayed));
        let asked = self.ask_all(keys.iter().map(String::as_str).zip(questions));
        // Without questions, the other server wants the request again.
        asked.err().unwrap_or_else(|| self.repeat())
    }
}

/// Returns the error of a handler whose call has failed.
fn relayed_error(error: Error) -> HandlerError {
    match error {
        Error::Call(CallError::Refused(error) | CallError::InputRefused(error)) => {
            HandlerError::refused(error)
        }
        error => error.into(),
    }
}
