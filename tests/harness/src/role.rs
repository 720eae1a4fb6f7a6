//! The methods of both roles on any endpoint, for tests of either role.

use std::sync::Arc;

use mcp_proto::schema::Level;
use mcp_proto::{
    CallId, CallOptions, Change, CommandOutcome, ErrorObject, Filter, IncomingId, Instant, Limits,
    MessageEndpoint, Misuse, NeededInput, OwnedCommand, Peer, Progress, Raw, RoleEndpoint, Side,
};

use crate::witness::Witness;

/// The methods of [`Client`](mcp_proto::client::Client) and [`Server`](mcp_proto::server::Server)
/// on any endpoint. They build an [`OwnedCommand`]; a command that the role lacks is
/// [`Misuse::Unsupported`].
#[expect(missing_docs, reason = "the methods are those of `Client` and `Server`")]
#[allow(clippy::missing_errors_doc, reason = "the methods are those of `Client` and `Server`")]
pub trait Role: RoleEndpoint<Event: Witness> {
    /// The side of the role.
    const SIDE: Side = <Self::Role as MessageEndpoint>::SIDE;

    fn peer(&self) -> Option<&Arc<Peer>> {
        self.role().peer()
    }

    fn limits(&self) -> &Limits {
        self.role().limits()
    }

    fn call_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&Raw>,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        let params = params.cloned();
        called(
            self.apply_owned(now, &OwnedCommand::Call { method: method.into(), params, options }),
        )
    }

    fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
        done(self.apply_owned(now, &OwnedCommand::Cancel { call, reason: reason.into() }))
    }

    fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        done(self.apply_owned(now, &OwnedCommand::NotifyChanged { change: change.into() }))
    }

    fn close(&mut self, now: Instant) {
        let _done = self.apply_owned(now, &OwnedCommand::Close);
    }

    fn listen(
        &mut self,
        now: Instant,
        filter: &Filter,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        called(self.apply_owned(now, &OwnedCommand::Subscribe { filter: filter.clone(), options }))
    }

    fn log(
        &mut self,
        now: Instant,
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw,
    ) -> Result<(), Misuse> {
        let (logger, data) = (logger.map(Into::into), data.clone());
        done(self.apply_owned(now, &OwnedCommand::Log { incoming, level, logger, data }))
    }

    fn notify_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&Raw>,
    ) -> Result<(), Misuse> {
        let params = params.cloned();
        done(self.apply_owned(now, &OwnedCommand::Notify { method: method.into(), params }))
    }

    fn progress(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        progress: &Progress,
    ) -> Result<(), Misuse> {
        done(
            self.apply_owned(now, &OwnedCommand::Progress { incoming, progress: progress.clone() }),
        )
    }

    fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, NeededInput)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        let questions =
            questions.iter().map(|(key, question)| ((*key).into(), question.clone())).collect();
        let state = state.map(Into::into);
        done(self.apply_owned(now, &OwnedCommand::RequestInput { incoming, questions, state }))
    }

    fn respond(&mut self, now: Instant, incoming: IncomingId, result: &Raw) -> Result<(), Misuse> {
        done(
            self.apply_owned(
                now,
                &OwnedCommand::Respond { incoming, result: Some(result.clone()) },
            ),
        )
    }

    fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse> {
        done(self.apply_owned(now, &OwnedCommand::RespondError { incoming, error: error.clone() }))
    }

    fn set_log_level(
        &mut self,
        now: Instant,
        level: Level,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        called(self.apply_owned(now, &OwnedCommand::SetLogLevel { level, options }))
    }
}

impl<E: RoleEndpoint<Event: Witness>> Role for E {}

fn called(applied: Result<CommandOutcome, Misuse>) -> Result<CallId, Misuse> {
    applied.and_then(|applied| applied.call().ok_or(Misuse::Unsupported))
}

fn done(applied: Result<CommandOutcome, Misuse>) -> Result<(), Misuse> {
    applied.map(|_| ())
}
