//! Scenarios played on machines that are recorded: the recording changes nothing, and what is done again comes out the
//! same; knows nothing of what a recording looks like.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mcp_proto::client::Client;
use mcp_proto::record::{Machine, Recorded, Recording, Sink};
use mcp_proto::schema::Level;
use mcp_proto::server::Server;
use mcp_proto::stdio::Stdio;
use mcp_proto::testing::Seed;
use mcp_proto::{
    CallId, CallOptions, Change, ErrorObject, Filter, IncomingId, Instant, Limits, Misuse, Peer, Progress,
    Question, Raw, Session, Side,
};

use crate::role::Role;
use crate::script::{Cut, Play, Polls, Script, play};

/// A recording that can be read while it goes on.
#[derive(Clone, Debug, Default)]
pub struct Tape(Rc<RefCell<Vec<u8>>>);

impl Tape {
    /// What is on it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }
}

impl Sink for Tape {
    fn write(&mut self, piece: &[u8]) {
        self.0.borrow_mut().extend_from_slice(piece);
    }
}

/// Plays the scenario on a machine that is recorded, in some ways: it must show what it shows without, and the recording
/// must replay on a new machine.
///
/// # Panics
/// When it does not.
pub fn assert_replays<R>(machine: impl Fn() -> R, script: &Script)
where
    R: Role + Machine,
    Recorded<R, Tape>: Role<Event = R::Event>,
{
    let ways = [
        (Cut::Steps, Polls::OutboxFirst),
        (Cut::Whole, Polls::Late),
        (Cut::Bytes(7), Polls::Nervous),
        (Cut::Seeded(Seed(5)), Polls::Seeded(Seed(5))),
    ];
    for (cut, polls) in ways {
        let way = Play { cut, polls };
        let tape = Tape::default();
        let recorded = Recorded::new(machine(), Instant::ZERO, tape.clone());
        let trace = play(recorded, script, way);
        assert!(
            trace == play(machine(), script, way),
            "{way:?}: it shows something else when it is recorded"
        );
        let bytes = tape.bytes();
        let recording = Recording::read(&bytes).unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert!(recording.is_whole(), "{way:?}: the recording cannot be read:\n{}", recording.show(true));
        let replayed = recording
            .replay(&mut machine())
            .unwrap_or_else(|divergence| panic!("{way:?}: {divergence}\n{}", recording.show(true)));
        assert_eq!(replayed.events, trace.events.len() as u64, "{way:?}");
    }
}

macro_rules! common_words {
    ($session:ty) => {
        fn peer(&self) -> Option<&Arc<Peer>> {
            <$session>::peer(self)
        }

        fn limits(&self) -> &Limits {
            Session::limits(&***self)
        }

        fn call_raw(
            &mut self,
            now: Instant,
            method: &str,
            params: Option<&Raw>,
            options: CallOptions,
        ) -> Result<CallId, Misuse> {
            Recorded::call_raw(self, now, method, params.map(|raw| raw as _), options)
        }

        fn cancel(&mut self, now: Instant, call: CallId, reason: &str) -> Result<(), Misuse> {
            Recorded::cancel(self, now, call, reason)
        }

        fn notify_raw(&mut self, now: Instant, method: &str, params: Option<&Raw>) -> Result<(), Misuse> {
            Recorded::notify_raw(self, now, method, params.map(|raw| raw as _))
        }

        fn respond(&mut self, now: Instant, incoming: IncomingId, result: &Raw) -> Result<(), Misuse> {
            Recorded::respond(self, now, incoming, result)
        }

        fn respond_error(
            &mut self,
            now: Instant,
            incoming: IncomingId,
            error: &ErrorObject,
        ) -> Result<(), Misuse> {
            Recorded::respond_error(self, now, incoming, error)
        }

        fn progress(
            &mut self,
            now: Instant,
            incoming: IncomingId,
            progress: &Progress,
        ) -> Result<(), Misuse> {
            Recorded::progress(self, now, incoming, progress)
        }

        fn close(&mut self, now: Instant) {
            Recorded::close(self, now);
        }
    };
}

impl<K: Sink> Role for Recorded<Stdio<Client>, K> {
    const SIDE: Side = Side::Client;

    common_words!(Client);

    fn listen(&mut self, now: Instant, filter: &Filter, options: CallOptions) -> Result<CallId, Misuse> {
        Self::listen(self, now, filter, options)
    }

    fn set_log_level(&mut self, now: Instant, level: Level, options: CallOptions) -> Result<CallId, Misuse> {
        Self::set_log_level(self, now, level, options)
    }
}

impl<K: Sink> Role for Recorded<Stdio<Server>, K> {
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
        Self::log(self, now, incoming, level, logger, data)
    }

    fn changed(&mut self, now: Instant, change: Change<'_>) -> Result<(), Misuse> {
        Self::changed(self, now, change)
    }

    fn refuse_undeclared(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
    ) -> Result<(), Misuse> {
        Self::refuse_undeclared(self, now, incoming, questions)
    }

    fn request_input(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        questions: &[(&str, Question)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        Self::request_input(self, now, incoming, questions, state)
    }
}
