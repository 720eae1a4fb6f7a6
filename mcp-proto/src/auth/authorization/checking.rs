//! The comparison of a stored grant with the identity in use.

use super::challenge::ScopeChallenge;
use super::event::AuthInput;
use super::flow::step::{HUMAN_TIMEOUT, is_usable};
use super::ownership::{has_subject, is_own, subject_of};
use super::state::{Checking, State};
use super::{AuthEvent, Authorization, Denial, DropReason, Stored};
use crate::auth::GrantRecord;

impl Authorization {
    /// Returns whether a stored grant is of use if it belongs to the subject in use, which is not
    /// known yet.
    pub(super) fn needs_check(&self, stored: &GrantRecord) -> bool {
        let is_of_use = stored.tokens.as_ref().is_some_and(|tokens| {
            tokens.refresh_token.is_some() || is_usable(tokens, &self.config, self.time.unix)
        });
        is_of_use && has_subject(&self.config) && self.grant.is_none()
    }

    /// Asks the application for the identity in use.
    pub(super) fn check(&mut self, challenge: ScopeChallenge, stored: GrantRecord) {
        self.out.report(AuthEvent::NeedsIdentity);
        let until = self.time.now + HUMAN_TIMEOUT;
        self.state = State::Checking(Checking { challenge, stored, until }.into());
    }

    /// Uses the stored grant if it belongs to the subject of an assertion. The assertion is kept
    /// for the flow that follows otherwise.
    pub(super) fn on_identity(&mut self, checking: Checking, input: AuthInput) {
        let Checking { challenge, stored, until } = checking;
        match input {
            AuthInput::Identity(token) => {
                let subject = subject_of(&token, &self.config.limits);
                let stored = Some(stored).filter(|it| is_own(it, &self.config, Some(&subject)));
                if stored.is_none() {
                    let (what, why) = (Stored::Record, DropReason::SubjectChanged);
                    self.out.report(AuthEvent::Dropped { what, why });
                }
                self.use_stored(challenge, stored, Some(token));
            }
            AuthInput::Cancel => self.end_check(Denial::Cancelled),
            AuthInput::Unable => self.end_check(Denial::NoIdentity),
            AuthInput::Client { .. } => {
                self.state = State::Checking(Checking { challenge, stored, until }.into());
            }
        }
    }

    pub(super) fn on_check_timeout(&mut self) {
        if matches!(&self.state, State::Checking(it) if it.until <= self.time.now) {
            self.state = State::Idle;
            self.end_check(Denial::TimedOut);
        }
    }

    /// Ends the comparison without a result. If no request waits for it, nothing was denied.
    fn end_check(&mut self, denial: Denial) {
        if self.owed {
            self.deny(denial);
        }
    }
}
