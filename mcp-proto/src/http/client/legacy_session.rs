//! The legacy session of a client: its id, and how often the server lost it.
//!
//! ```text
//!        head of the response to `initialize`   its body
//!   None ─────────────────────────────► Offered ─────────► Open
//!    ▲                                     │                 │
//!    └── 404 to a request of the session, or DELETE sent ────┘
//! ```

use alloc::boxed::Box;

use crate::http::redact::Redacted;

/// The maximum number of consecutive sessions that a server may lose before it answers a call.
const LOST_MAX: u32 = 3;

#[derive(Debug, Default)]
pub(super) struct LegacySession {
    state: SessionState,
    mismatch: MismatchReport,
    /// Consecutive sessions lost before the server answered a call.
    // T-72: a server that loses every session is given up.
    lost: u32,
}

#[derive(Debug, Default)]
enum SessionState {
    /// No session, or one without an id.
    #[default]
    None,
    /// The id in the head of the response to `initialize`, which takes effect if that is a success.
    // HTTP-60: an error response opens no session.
    Offered(Redacted<Box<str>>),
    Open(Redacted<Box<str>>),
}

/// Whether a response with another session id was reported.
// T-79: reported once per session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum MismatchReport {
    #[default]
    Unreported,
    Reported,
}

impl LegacySession {
    /// Returns the id, once the session is open.
    // HTTP-29: the server assigns the id.
    pub(super) fn id(&self) -> Option<&str> {
        match &self.state {
            SessionState::Open(id) => Some(&id.0),
            SessionState::None | SessionState::Offered(_) => None,
        }
    }

    /// Handles the session id in the head of the response to `initialize`; `None` if it is invalid.
    pub(super) fn on_offered(&mut self, id: Option<&str>) {
        if self.id().is_none() {
            self.state =
                id.map_or(SessionState::None, |id| SessionState::Offered(Redacted(id.into())));
        }
    }

    /// Handles a successful response to `initialize`.
    pub(super) fn on_initialized(&mut self) {
        self.state = match core::mem::take(&mut self.state) {
            SessionState::Offered(id) | SessionState::Open(id) => SessionState::Open(id),
            SessionState::None => SessionState::None,
        };
    }

    /// Handles the session id in another response. Returns whether to report a mismatch.
    pub(super) fn on_named(&mut self, named: Option<&str>) -> bool {
        let reports = named != self.id() && self.mismatch == MismatchReport::Unreported;
        if reports {
            self.mismatch = MismatchReport::Reported;
        }
        reports
    }

    /// Handles an answered call: the server has kept the session.
    pub(super) fn on_answered(&mut self) {
        self.lost = 0;
    }

    /// Handles the loss of the session. Returns whether the server has lost too many.
    pub(super) fn on_lost(&mut self) -> bool {
        *self = Self { lost: self.lost + 1, ..Self::default() };
        self.lost > LOST_MAX
    }

    /// Handles the end of the session: DELETE is being sent.
    pub(super) fn on_terminated(&mut self) {
        self.state = SessionState::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_takes_effect_once_initialize_has_succeeded_http_60() {
        let mut session = LegacySession::default();
        session.on_offered(Some("a"));
        assert_eq!(session.id(), None);
        session.on_offered(None);
        session.on_initialized();
        assert_eq!(session.id(), None, "the last response had no id");
        session.on_offered(Some("b"));
        session.on_initialized();
        assert_eq!(session.id(), Some("b"));
        session.on_offered(Some("c"));
        assert_eq!(session.id(), Some("b"), "an open session keeps its id");
        session.on_terminated();
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
    fn a_server_may_lose_three_sessions_before_it_answers_t_72() {
        let mut session = LegacySession::default();
        assert!(!session.on_lost() && !session.on_lost() && !session.on_lost());
        assert!(session.on_lost());
        session.on_answered();
        assert!(!session.on_lost());
    }
}
