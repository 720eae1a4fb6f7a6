//! The session that a server of the legacy era opens: its id, and how often servers forget one.
//!
//! ```text
//!        head of the answer to `initialize`     its body
//!   None ─────────────────────────────► Offered ─────────► Open
//!    ▲                                     │                 │
//!    └── 404 to a request of the session, or the goodbye ────┘
//! ```

use alloc::boxed::Box;

/// Sessions in a row that a server may forget before it has answered a call.
const FORGOTTEN_MAX: u32 = 3;

#[derive(Debug, Default)]
pub(super) struct LegacySession {
    state: State,
    mismatch: Mismatch,
    /// Sessions in a row that the server forgot before it answered a call. (T-72)
    forgotten: u32,
}

#[derive(Debug, Default)]
enum State {
    /// There is none, or it has no id.
    #[default]
    None,
    /// The id of the session that a successful answer to `initialize` opens. (HTTP-60)
    Offered(Box<str>),
    Open(Box<str>),
}

/// Whether the server has named another session than this one, which is reported once. (T-79)
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Mismatch {
    #[default]
    Unreported,
    Reported,
}

impl LegacySession {
    /// Returns the id, once it is in force. (HTTP-29)
    pub(super) fn id(&self) -> Option<&str> {
        match &self.state {
            State::Open(id) => Some(id),
            State::None | State::Offered(_) => None,
        }
    }

    /// The head of the answer to `initialize` carried this id, or none that is valid.
    pub(super) fn on_offered(&mut self, id: Option<&str>) {
        if self.id().is_none() {
            self.state = id.map_or(State::None, |id| State::Offered(id.into()));
        }
    }

    /// `initialize` was answered with success.
    pub(super) fn on_initialized(&mut self) {
        self.state = match core::mem::take(&mut self.state) {
            State::Offered(id) | State::Open(id) => State::Open(id),
            State::None => State::None,
        };
    }

    /// Another response named this session. Returns whether to report that it is not ours.
    pub(super) fn on_named(&mut self, named: Option<&str>) -> bool {
        let reports = named != self.id() && self.mismatch == Mismatch::Unreported;
        if reports {
            self.mismatch = Mismatch::Reported;
        }
        reports
    }

    /// A call was answered: the server remembers this session.
    pub(super) fn on_answered(&mut self) {
        self.forgotten = 0;
    }

    /// The server has forgotten the session. Returns whether it has forgotten too many.
    pub(super) fn on_lost(&mut self) -> bool {
        *self = Self { forgotten: self.forgotten + 1, ..Self::default() };
        self.forgotten > FORGOTTEN_MAX
    }

    /// The server is told that the session is over.
    pub(super) fn on_goodbye(&mut self) {
        self.state = State::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_in_force_once_initialize_has_succeeded_http_60() {
        let mut session = LegacySession::default();
        session.on_offered(Some("a"));
        assert_eq!(session.id(), None);
        session.on_offered(None);
        session.on_initialized();
        assert_eq!(session.id(), None, "the answer that counts had none");
        session.on_offered(Some("b"));
        session.on_initialized();
        assert_eq!(session.id(), Some("b"));
        session.on_offered(Some("c"));
        assert_eq!(session.id(), Some("b"), "it is in force");
        session.on_goodbye();
        assert_eq!(session.id(), None);
    }

    #[test]
    fn a_mismatch_is_reported_once_per_session_t_79() {
        let mut session = LegacySession::default();
        assert!(!session.on_named(None));
        assert!(session.on_named(Some("b")) && !session.on_named(Some("c")));
        assert!(!session.on_lost());
        assert!(session.on_named(Some("b")));
    }

    #[test]
    fn a_server_that_answers_nothing_may_forget_three_sessions_t_72() {
        let mut session = LegacySession::default();
        assert!(!session.on_lost() && !session.on_lost() && !session.on_lost());
        assert!(session.on_lost());
        session.on_answered();
        assert!(!session.on_lost());
    }
}
