//! The application's half of a machine that is recorded: each method notes what was done, and what came of it; knows
//! nothing of how it is noted.

use alloc::vec::Vec;

use super::act::{Act, Asked, Spy};
use super::machine::Machine;
use super::recorded::{Recorded, Sink};
use crate::client::Client;
use crate::connection::{CallId, CallOptions, Change, Filter, IncomingId, Progress, Question};
use crate::error::{Misuse, Unencodable};
use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{ClientRequest, Encode, Level, ServerRequest};
use crate::server::Server;
use crate::stdio::Stdio;
use crate::time::Instant;

impl<M: Machine, K: Sink> Recorded<M, K> {
    /// Calls a method by name.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn call_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&dyn Encode>,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.enter();
        let spy = Spy::new(params.unwrap_or(&Nothing));
        let done = self.machine.call_raw(now, method, Some(&spy), options.clone());
        self.acted(now, &Act::Call { method: method.into(), params: spy.written(), options }, done)
    }

    /// Cancels a call.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
        self.enter();
        let done = self.machine.cancel(now, call, reason);
        self.acted(now, &Act::Cancel { call, reason: reason.into() }, done)
    }

    /// Sends a notification by name.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn notify_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&dyn Encode>,
    ) -> Result<(), Misuse> {
        self.enter();
        let spy = Spy::new(params.unwrap_or(&Nothing));
        let done = self.machine.notify_raw(now, method, Some(&spy));
        self.acted(now, &Act::Notify { method: method.into(), params: spy.written() }, done)
    }

    /// Answers a request with a result.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn respond(&mut self, now: Instant, incoming: IncomingId, result: &dyn Encode) -> Result<(), Misuse> {
        self.enter();
        let spy = Spy::new(result);
        let done = self.machine.respond(now, incoming, &spy);
        self.acted(now, &Act::Respond { incoming, result: spy.written() }, done)
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse> {
        self.enter();
        let done = self.machine.respond_error(now, incoming, error);
        self.acted(now, &Act::RespondError { incoming, error: error.clone() }, done)
    }

    /// Tells how far a request has come.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn progress(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        self.enter();
        let done = self.machine.progress(now, incoming, progress);
        self.acted(now, &Act::Progress { incoming, progress: progress.clone() }, done)
    }

    /// Ends the connection.
    pub fn close(&mut self, now: Instant) {
        self.enter();
        self.machine.close(now);
        let _ok = self.acted(now, &Act::Close {}, Ok(()));
    }
}

impl<K: Sink> Recorded<Stdio<Client>, K> {
    /// Calls a method of the server.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn call<R: ClientRequest>(
        &mut self,
        now: Instant,
        request: &R,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.call_raw(now, R::METHOD, Some(request), options)
    }

    /// Listens to changes.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn listen(&mut self, now: Instant, filter: &Filter, options: CallOptions) -> Result<CallId, Misuse> {
        self.enter();
        let done = self.machine.listen(now, filter, options.clone());
        self.acted(now, &Act::Listen { filter: filter.clone(), options }, done)
    }

    /// Wants log messages of `level` and above.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn set_log_level(
        &mut self,
        now: Instant,
        level: Level,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.enter();
        let done = self.machine.set_log_level(now, level, options.clone());
        self.acted(now, &Act::SetLogLevel { level, options }, done)
    }
}

impl<K: Sink> Recorded<Stdio<Server>, K> {
    /// Calls a method of the client.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn call<R: ServerRequest>(
        &mut self,
        now: Instant,
        request: &R,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        self.call_raw(now, R::METHOD, Some(request), options)
    }

    /// Answers a request with questions.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        self.enter();
        let asked = Asked::all(questions, self.written_in(incoming));
        let done = self.machine.request_input(now, incoming, questions, state);
        let act = Act::RequestInput { incoming, questions: asked, state: state.map(Into::into) };
        self.acted(now, &act, done)
    }

    /// Refuses a request that would have to ask what its client did not declare.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn refuse_undeclared(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
    ) -> Result<(), Misuse> {
        self.enter();
        let asked = Asked::all(questions, self.written_in(incoming));
        let done = self.machine.refuse_undeclared(now, incoming, questions);
        self.acted(now, &Act::RefuseUndeclared { incoming, questions: asked }, done)
    }

    /// Tells every client that listens that something changed.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        self.enter();
        let done = self.machine.changed(now, change);
        self.acted(now, &Act::Changed { change: change.into() }, done)
    }

    /// Closes what a request's answer would come on, where there is such a thing.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn hang_up(&mut self, now: Instant, incoming: IncomingId) -> Result<(), Misuse> {
        self.enter();
        let done = self.machine.hang_up(now, incoming);
        self.acted(now, &Act::HangUp { incoming }, done)
    }

    /// Sends a log message.
    ///
    /// # Errors
    /// The machine's [`Misuse`].
    pub fn log(
        &mut self,
        now: Instant,
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw,
    ) -> Result<(), Misuse> {
        self.enter();
        let done = self.machine.log(now, incoming, level, logger, data);
        let act = Act::Log { incoming, level, logger: logger.map(Into::into), data: data.clone() };
        self.acted(now, &act, done)
    }

    /// What questions on a request are written in; where it is not open, they are not written.
    fn written_in(&self, incoming: IncomingId) -> Revision {
        self.machine.revision_of(incoming).unwrap_or(Revision::ALL[0])
    }
}

/// No params.
struct Nothing;

impl Encode for Nothing {
    fn encode(&self, _: Revision, _: &mut Vec<u8>) -> Result<(), Unencodable> {
        Ok(())
    }
}
