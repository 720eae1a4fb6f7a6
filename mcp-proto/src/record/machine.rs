//! Both roles' machines in one form: what an application can do to either; knows nothing of recordings.

use alloc::string::String;

use super::words;
use crate::client::Client;
use crate::connection::{CallId, CallOptions, Change, Filter, IncomingId, Progress, Question};
use crate::endpoint::Endpoint;
use crate::error::Misuse;
use crate::json::Raw;
use crate::revision::{Revision, Side};
use crate::rpc::ErrorObject;
use crate::schema::{Encode, Level};
use crate::server::Server;
use crate::stdio::Stdio;
use crate::time::Instant;

/// A machine that can be recorded: a [`Client`] or a [`Server`] on a byte stream. Nothing else can implement it.
pub trait Machine: Endpoint + Role {}

impl Machine for Stdio<Client> {}
impl Machine for Stdio<Server> {}

/// The application's half of both roles, in the words of [`Client`] and [`Server`]. What a role lacks is
/// [`Misuse::Unsupported`].
#[expect(unnameable_types, reason = "only this crate has machines")]
pub trait Role: Endpoint {
    const SIDE: Side;

    /// The event in words that hold no payload.
    fn tell(event: &Self::Event) -> String;

    /// What the request's answer is written in, while it is open.
    fn revision_of(&self, _: IncomingId) -> Option<Revision> {
        None
    }

    fn call_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&dyn Encode>,
        options: CallOptions,
    ) -> Result<CallId, Misuse>;
    fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse>;
    fn notify_raw(&mut self, now: Instant, method: &str, params: Option<&dyn Encode>) -> Result<(), Misuse>;
    fn respond(&mut self, now: Instant, incoming: IncomingId, result: &dyn Encode) -> Result<(), Misuse>;
    fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse>;
    fn progress(&mut self, now: Instant, incoming: IncomingId, progress: &Progress) -> Result<(), Misuse>;
    fn close(&mut self, now: Instant);

    fn changed(&mut self, _: Instant, _: Change<'_>) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn hang_up(&mut self, _: Instant, _: IncomingId) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn listen(&mut self, _: Instant, _: &Filter, _: CallOptions) -> Result<CallId, Misuse> {
        Err(Misuse::Unsupported)
    }

    fn log(
        &mut self,
        _: Instant,
        _: Option<IncomingId>,
        _: Level,
        _: Option<&str>,
        _: &Raw,
    ) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn refuse_undeclared(&mut self, _: Instant, _: IncomingId, _: &[(&str, Question)]) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn request_input(
        &mut self,
        _: Instant,
        _: IncomingId,
        _: &[(&str, Question)],
        _: Option<&str>,
    ) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn set_log_level(&mut self, _: Instant, _: Level, _: CallOptions) -> Result<CallId, Misuse> {
        Err(Misuse::Unsupported)
    }
}

macro_rules! common_words {
    ($role:ty) => {
        fn call_raw(
            &mut self,
            now: Instant,
            method: &str,
            params: Option<&dyn Encode>,
            options: CallOptions,
        ) -> Result<CallId, Misuse> {
            <$role>::call_raw(self, now, method, params, options)
        }

        fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
            <$role>::cancel(self, now, call, reason)
        }

        fn notify_raw(
            &mut self,
            now: Instant,
            method: &str,
            params: Option<&dyn Encode>,
        ) -> Result<(), Misuse> {
            <$role>::notify_raw(self, now, method, params)
        }

        fn respond(&mut self, now: Instant, incoming: IncomingId, result: &dyn Encode) -> Result<(), Misuse> {
            <$role>::respond(self, now, incoming, result)
        }

        fn respond_error(
            &mut self,
            now: Instant,
            incoming: IncomingId,
            error: &ErrorObject,
        ) -> Result<(), Misuse> {
            <$role>::respond_error(self, now, incoming, error)
        }

        fn progress(
            &mut self,
            now: Instant,
            incoming: IncomingId,
            progress: &Progress,
        ) -> Result<(), Misuse> {
            <$role>::progress(self, now, incoming, progress)
        }

        fn close(&mut self, now: Instant) {
            <$role>::close(self, now);
        }
    };
}

impl Role for Stdio<Client> {
    const SIDE: Side = Side::Client;

    fn tell(event: &Self::Event) -> String {
        words::of_client(event)
    }

    common_words!(Client);

    fn listen(&mut self, now: Instant, filter: &Filter, options: CallOptions) -> Result<CallId, Misuse> {
        Client::listen(self, now, filter, options)
    }

    fn set_log_level(&mut self, now: Instant, level: Level, options: CallOptions) -> Result<CallId, Misuse> {
        Client::set_log_level(self, now, level, options)
    }
}

impl Role for Stdio<Server> {
    const SIDE: Side = Side::Server;

    fn tell(event: &Self::Event) -> String {
        words::of_server(event)
    }

    fn revision_of(&self, incoming: IncomingId) -> Option<Revision> {
        Server::revision_of(self, incoming)
    }

    common_words!(Server);

    fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        Server::changed(self, now, change)
    }

    fn hang_up(&mut self, now: Instant, incoming: IncomingId) -> Result<(), Misuse> {
        Server::hang_up(self, now, incoming)
    }

    fn log(
        &mut self,
        now: Instant,
        incoming: Option<IncomingId>,
        level: Level,
        logger: Option<&str>,
        data: &Raw,
    ) -> Result<(), Misuse> {
        Server::log(self, now, incoming, level, logger, data)
    }

    fn refuse_undeclared(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
    ) -> Result<(), Misuse> {
        Server::refuse_undeclared(self, now, incoming, questions)
    }

    fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        Server::request_input(self, now, incoming, questions, state)
    }
}
