//! Rejected requests: which are sent again, which wait, and which fail.

use alloc::boxed::Box;
use core::mem;
use core::time::Duration;

use super::challenge::ScopeChallenge;
use super::event::RejectedRequest;
use super::flow::Flow;
use super::flow::step::Trigger;
use super::grant::HeldGrant;
use super::state::State;
use super::step_ups::Admission;
use super::{AuthEvent, Authorization, Denial, Verdict};
use crate::auth::{GrantRecord, TokenType};
use crate::secret::Secret;

/// How long a failure answers further challenges.
pub(super) const DENIED_FOR: Duration = Duration::from_secs(60);

impl Authorization {
    pub(super) fn on_challenge(
        &mut self,
        request: &RejectedRequest<'_>,
        challenge: ScopeChallenge,
    ) -> Verdict {
        match request.status {
            _ if matches!(self.state, State::Closing(_) | State::Closed) => {
                Verdict::Denied(Denial::Closed)
            }
            // AUT-64: only a lack of scopes is a matter of authorization.
            403 if !challenge.is_about_scopes => Verdict::Denied(Denial::Forbidden),
            403 => self.on_insufficient_scope(request, challenge),
            _ => self.on_unauthorized(request, challenge),
        }
    }

    /// Handles a 401.
    fn on_unauthorized(
        &mut self,
        request: &RejectedRequest<'_>,
        challenge: ScopeChallenge,
    ) -> Verdict {
        if let Some(grant) = self.grant.as_mut().filter(|grant| grant.is_valid()) {
            // many requests with one token cause one renewal.
            if request.generation != Some(grant.generation) {
                return Verdict::Retry;
            }
            let is_bound = grant.tokens().is_some_and(|it| it.token_type == TokenType::Dpop);
            if let Some(error) = challenge.proof_error.clone().filter(|_| is_bound) {
                // Another token would be rejected likewise.
                return Verdict::Denied(Denial::Proof(error));
            }
            let may_renew = grant.may_renew();
            grant.reject();
            if matches!(self.state, State::Ready) {
                return if may_renew {
                    self.start(Trigger::Rejected, challenge)
                } else {
                    self.deny(Denial::Rejected)
                };
            }
        }
        self.join(challenge)
    }

    /// Handles a 403 for lack of scopes.
    // AUT-26, AUT-63: asks for the union, once for each operation.
    fn on_insufficient_scope(
        &mut self,
        request: &RejectedRequest<'_>,
        challenge: ScopeChallenge,
    ) -> Verdict {
        let State::Ready = self.state else { return self.join(challenge) };
        let Some(grant) = &self.grant else { return self.join(challenge) };
        let granted = grant.tokens().map(|tokens| tokens.granted.clone()).unwrap_or_default();
        if request.generation != Some(grant.generation) && granted.covers(&challenge.scopes) {
            return Verdict::Retry;
        }
        let missing = challenge.scopes.without(&granted);
        let (now, limits) = (self.time.now, &self.config.limits);
        match self.step_ups.admit(now, request.operation, &challenge.scopes, limits) {
            Admission::Admitted => self.start(Trigger::Scopes, challenge),
            Admission::Repeated if missing.is_empty() => {
                Verdict::Denied(Denial::Scopes { missing: challenge.scopes })
            }
            Admission::Repeated => Verdict::Denied(Denial::Scopes { missing }),
            Admission::TooMany => Verdict::Denied(Denial::Loop),
        }
    }

    /// Joins what runs, or opens the stored grant.
    fn join(&mut self, challenge: ScopeChallenge) -> Verdict {
        match &mut self.state {
            State::Opening(wanted) => wanted.join(challenge, &self.config.limits),
            State::Checking(it) => it.challenge.join(challenge, &self.config.limits),
            State::Running(flow) => flow.join(challenge, &self.config.limits),
            State::Denied { denial, until } if self.time.now < *until => {
                return Verdict::Denied(denial.clone());
            }
            State::Idle | State::Denied { .. } | State::Ready => self.open(challenge),
            State::Closing(_) | State::Closed => return Verdict::Denied(Denial::Closed),
        }
        Verdict::Wait
    }

    /// Starts a flow that requests wait for.
    pub(super) fn start(&mut self, trigger: Trigger, challenge: ScopeChallenge) -> Verdict {
        if self.is_loop() {
            return self.deny(Denial::Loop);
        }
        self.run(trigger, challenge);
        Verdict::Wait
    }

    /// Returns whether too many flows in a row led to no accepted request; then counts afresh.
    pub(super) fn is_loop(&mut self) -> bool {
        let is_loop = self.unaccepted >= self.config.limits.flows_max;
        if is_loop {
            self.unaccepted = 0;
        }
        is_loop
    }

    pub(super) fn run(&mut self, trigger: Trigger, challenge: ScopeChallenge) {
        let held = self.grant.as_ref().map(|grant| grant.record.clone());
        self.run_with(trigger, challenge, held, None);
    }

    /// Starts a flow that may use a grant from before, and an identity assertion.
    pub(super) fn run_with(
        &mut self,
        trigger: Trigger,
        challenge: ScopeChallenge,
        held: Option<GrantRecord>,
        identity: Option<Secret>,
    ) {
        let mut flow = Flow::new(trigger, challenge, held, identity);
        let progress = flow.start(&mut self.env());
        self.state = State::Running(Box::new(flow));
        self.on_progress(progress);
    }

    /// Ends in a failure; a grant that is still valid remains.
    pub(super) fn deny(&mut self, denial: Denial) -> Verdict {
        self.deny_waiting(&denial);
        let is_valid = self.grant.as_ref().is_some_and(HeldGrant::is_valid);
        self.state = if is_valid {
            State::Ready
        } else {
            State::Denied { denial: denial.clone(), until: self.time.now + DENIED_FOR }
        };
        Verdict::Denied(denial)
    }

    pub(super) fn deny_waiting(&mut self, denial: &Denial) {
        if mem::take(&mut self.owed) {
            self.out.report(AuthEvent::Denied(denial.clone()));
        }
    }
}
