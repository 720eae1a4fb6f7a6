//! A machine of either role, with the words that both have; knows nothing of what is right to say.

use std::sync::Arc;

use mcp_proto::client::Client;
use mcp_proto::schema::Level;
use mcp_proto::server::Server;
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallId, CallOptions, Change, Endpoint, ErrorObject, Filter, IncomingId, Instant, Limits, Misuse, Peer,
    Progress, Question, Raw, Session, Side,
};

use crate::witness::Witness;

/// A machine with the application's half of both roles, so that one driver can play either.
///
/// What a role lacks answers [`Misuse::Unsupported`]. The methods are those of
/// [`Client`] and [`Server`]; see there for what they promise.
#[expect(missing_docs, reason = "the words are those of `Client` and `Server`")]
#[allow(clippy::missing_errors_doc, reason = "the words are those of `Client` and `Server`")]
pub trait Role: Endpoint<Event: Witness> {
    /// Which role it is.
    const SIDE: Side;

    fn peer(&self) -> Option<&Arc<Peer>>;
    fn limits(&self) -> &Limits;

    /// Whether it speaks the revision without sessions, as far as is known.
    fn is_modern(&self) -> bool {
        true
    }

    /// Whether its peer can say anything, so that only the form of what it sends can be held against it.
    fn is_hostile(&self) -> bool {
        false
    }

    fn call_raw(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&Raw>,
        options: CallOptions,
    ) -> Result<CallId, Misuse>;
    fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse>;
    fn notify_raw(&mut self, now: Instant, method: &str, params: Option<&Raw>) -> Result<(), Misuse>;
    fn respond(&mut self, now: Instant, incoming: IncomingId, result: &Raw) -> Result<(), Misuse>;
    fn respond_error(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        error: &ErrorObject,
    ) -> Result<(), Misuse>;
    fn progress(&mut self, now: Instant, incoming: IncomingId, progress: &Progress) -> Result<(), Misuse>;
    fn close(&mut self, now: Instant);

    fn log(
        &mut self,
        _now: Instant,
        _incoming: Option<IncomingId>,
        _level: Level,
        _logger: Option<&str>,
        _data: &Raw,
    ) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn changed(&mut self, _now: Instant, _change: Change<'_>) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn listen(&mut self, _now: Instant, _filter: &Filter, _options: CallOptions) -> Result<CallId, Misuse> {
        Err(Misuse::Unsupported)
    }

    fn set_log_level(
        &mut self,
        _now: Instant,
        _level: Level,
        _options: CallOptions,
    ) -> Result<CallId, Misuse> {
        Err(Misuse::Unsupported)
    }

    fn refuse_undeclared(
        &mut self,
        _now: Instant,
        _incoming: IncomingId,
        _questions: &[(&str, Question)],
    ) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }

    fn request_input(
        &mut self,
        _now: Instant,
        _incoming: IncomingId,
        _questions: &[(&str, Question)],
        _state: Option<&str>,
    ) -> Result<(), Misuse> {
        Err(Misuse::Unsupported)
    }
}

macro_rules! common_words {
    ($session:ty) => {
        fn peer(&self) -> Option<&Arc<Peer>> {
            <$session>::peer(self)
        }

        fn limits(&self) -> &Limits {
            Session::limits(&**self)
        }

        fn call_raw(
            &mut self,
            now: Instant,
            method: &str,
            params: Option<&Raw>,
            options: CallOptions,
        ) -> Result<CallId, Misuse> {
            <$session>::call_raw(self, now, method, params.map(|raw| raw as _), options)
        }

        fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
            <$session>::cancel(self, now, call, reason)
        }

        fn notify_raw(&mut self, now: Instant, method: &str, params: Option<&Raw>) -> Result<(), Misuse> {
            <$session>::notify_raw(self, now, method, params.map(|raw| raw as _))
        }

        fn respond(&mut self, now: Instant, incoming: IncomingId, result: &Raw) -> Result<(), Misuse> {
            <$session>::respond(self, now, incoming, result)
        }

        fn respond_error(
            &mut self,
            now: Instant,
            incoming: IncomingId,
            error: &ErrorObject,
        ) -> Result<(), Misuse> {
            <$session>::respond_error(self, now, incoming, error)
        }

        fn progress(
            &mut self,
            now: Instant,
            incoming: IncomingId,
            progress: &Progress,
        ) -> Result<(), Misuse> {
            <$session>::progress(self, now, incoming, progress)
        }

        fn close(&mut self, now: Instant) {
            <$session>::close(self, now);
        }
    };
}

impl Role for Stdio<Client> {
    const SIDE: Side = Side::Client;

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

    common_words!(Server);

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

    fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        Server::changed(self, now, change)
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
