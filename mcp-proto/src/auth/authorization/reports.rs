//! Handles the reports of the driver: random bytes, stored records, redirects and responses.

use alloc::boxed::Box;
use core::mem;

use super::action::{FetchFailure, FetchId, SignId, StoreId};
use super::challenge::ScopeChallenge;
use super::config::GrantKind;
use super::event::{AuthEvent, AuthInput, Forget, RedirectPage, StoreFailure};
use super::exchange::{Fetched, Outage};
use super::flow::Flow;
use super::flow::step::{
    Env, Granted, Origin, Outcome, Trigger, client_key, is_foreign, is_usable, policy,
};
use super::grant::HeldGrant;
use super::ownership::is_own;
use super::state::State;
use super::storage::{Change, Owner, StoreOutcome, Use};
use super::time::Time;
use super::{Authorization, Denial, DropReason, Stored};
use crate::auth::GrantRecord;
use crate::http::Headers;
use crate::http::client::Generation;
use crate::secret::Secret;

impl Authorization {
    /// Handles the random bytes that [`AuthAction::Draw`](super::AuthAction::Draw) demands.
    pub fn handle_random(&mut self, time: Time, bytes: [u8; 32]) {
        self.advance(time);
        self.drive(|flow, env| flow.on_random(env, bytes));
    }

    /// Handles the outcome of [`AuthAction::Acquire`](super::AuthAction::Acquire) (the record) or
    /// of [`AuthAction::Save`](super::AuthAction::Save) (`None`).
    pub fn handle_store(
        &mut self,
        time: Time,
        id: StoreId,
        outcome: Result<Option<&[u8]>, StoreFailure>,
    ) {
        self.advance(time);
        let reported = self.storage.on_outcome(self.time.now, &mut self.out, id, outcome);
        if let Some((owner, outcome)) = reported {
            self.on_store(owner, outcome);
        }
    }

    /// Handles the port of the redirect listener; `None` if there is none.
    pub fn handle_listening(&mut self, time: Time, port: Option<u16>) {
        self.advance(time);
        self.drive(|flow, env| flow.on_listening(env, port));
    }

    /// Handles the status and headers of a response.
    pub fn handle_head(&mut self, time: Time, id: FetchId, status: u16, fields: &dyn Headers) {
        self.advance(time);
        self.drive(|flow, _| {
            if let Some(exchange) = flow.exchange(id) {
                exchange.on_head(status, fields);
            }
            Ok(None)
        });
    }

    /// Handles bytes of a response body, which may be split anywhere.
    pub fn handle_body(&mut self, time: Time, id: FetchId, bytes: &[u8]) {
        self.advance(time);
        self.drive(|flow, _| {
            if let Some(exchange) = flow.exchange(id) {
                exchange.on_body(bytes);
            }
            Ok(None)
        });
    }

    /// Handles the end of a complete response.
    pub fn handle_end(&mut self, time: Time, id: FetchId) {
        self.advance(time);
        self.drive(|flow, env| match flow.take_exchange(id) {
            Some(exchange) => flow.on_fetched(env, exchange.on_end()),
            None => Ok(None),
        });
    }

    /// Handles the failure of a request: it was not sent, or the response is incomplete.
    pub fn handle_failure(&mut self, time: Time, id: FetchId, failure: FetchFailure) {
        self.advance(time);
        let outage = |outage| Fetched::Temporary { outage, after: None };
        self.drive(|flow, env| match (flow.take_exchange(id), failure) {
            (None, _) => Ok(None),
            (Some(_), FetchFailure::Blocked) => flow.on_fetched(env, Fetched::Blocked),
            (Some(_), FetchFailure::Unreached) => flow.on_fetched(env, outage(Outage::Unreached)),
            (Some(_), FetchFailure::Cut) => flow.on_fetched(env, outage(Outage::Lost)),
        });
    }

    /// Handles a signature, 64 bytes; `None` if the key could not sign.
    pub fn handle_signature(&mut self, time: Time, id: SignId, signature: Option<&[u8]>) {
        self.advance(time);
        self.drive(|flow, env| flow.on_signature(env, id, signature));
    }

    /// Handles the query of a redirect, without its `?`; returns the page to show.
    ///
    /// For an address that a user pasted, see
    /// [`query_of_redirect`](crate::auth::query_of_redirect).
    pub fn handle_redirect(&mut self, time: Time, query: &str) -> RedirectPage {
        self.advance(time);
        let mut page = RedirectPage::NotFound;
        self.drive(|flow, env| {
            let (shown, progress) = flow.on_redirect(env, query);
            page = shown;
            progress
        });
        page
    }

    /// Handles the application's answer to an event. An answer that no event or action asks for is
    /// ignored.
    pub fn handle_input(&mut self, time: Time, input: AuthInput) {
        self.advance(time);
        match mem::take(&mut self.state) {
            State::Checking(checking) => self.on_identity(*checking, input),
            state => {
                self.state = state;
                self.drive(|flow, env| flow.on_input(env, input));
            }
        }
    }

    /// Advances the time and handles expired timeouts. Early, late and repeated calls are harmless.
    pub fn handle_timeout(&mut self, time: Time) {
        self.advance(time);
        if let Some((owner, outcome)) = self.storage.on_timeout(self.time.now, &mut self.out) {
            self.on_store(owner, outcome);
        }
        self.drive(Flow::on_timeout);
        self.on_check_timeout();
        let is_due = |grant: &HeldGrant| grant.is_valid() && grant.is_renewal_due(self.time);
        if matches!(self.state, State::Ready) && self.grant.as_ref().is_some_and(is_due) {
            self.run(Trigger::Renewal, ScopeChallenge::default());
        }
    }

    pub(super) fn env(&mut self) -> Env<'_> {
        Env {
            time: self.time,
            config: &self.config,
            redirected_to: self.redirected_to.as_ref(),
            out: &mut self.out,
            storage: &mut self.storage,
        }
    }

    /// Passes an input to the flow, and applies what follows.
    fn drive(&mut self, input: impl FnOnce(&mut Flow, &mut Env<'_>) -> Outcome) {
        match mem::take(&mut self.state) {
            State::Running(mut flow) => {
                let progress = input(&mut flow, &mut self.env());
                self.state = State::Running(flow);
                self.on_progress(progress);
            }
            State::Closing(mut flow) => {
                let progress = input(&mut flow, &mut self.env());
                if matches!(progress, Ok(None)) && flow.must_finish() {
                    self.state = State::Closing(flow);
                } else {
                    flow.stop(&mut self.env());
                    self.state = State::Closed;
                }
            }
            state => self.state = state,
        }
    }

    pub(super) fn on_progress(&mut self, progress: Outcome) {
        match progress {
            Ok(None) => {}
            Ok(Some(granted)) => self.grant(*granted),
            Err(denial) => {
                if let Some(grant) = self.grant.as_mut() {
                    grant.on_renewal_failed(self.time);
                }
                self.stop_flow();
                self.deny(denial);
            }
        }
    }

    /// Uses a new grant.
    fn grant(&mut self, granted: Granted) {
        self.generation += 1;
        self.unaccepted += u32::from(granted.origin == Origin::Fresh);
        let tokens = granted.record.tokens.as_ref();
        let has_refresh = tokens.is_some_and(|tokens| tokens.refresh_token.is_some());
        let renews = has_refresh || matches!(self.config.grant, GrantKind::ClientCredentials);
        let generation = Generation::new(self.generation);
        self.out.report(AuthEvent::Granted {
            generation,
            scopes: tokens.map(|tokens| tokens.granted.clone()).unwrap_or_default(),
            expires: tokens.and_then(|tokens| tokens.expires_at),
        });
        self.grant = Some(HeldGrant::new(granted, generation, renews));
        self.owed = false;
        self.state = State::Ready;
    }

    /// Stops the running flow, if any, and keeps what it learned about the refresh token.
    pub(super) fn stop_flow(&mut self) {
        match mem::take(&mut self.state) {
            State::Running(mut flow) => {
                flow.stop(&mut self.env());
                if let Some(grant) = &mut self.grant
                    && flow.has_lost_refresh_token()
                {
                    grant.drop_refresh_token();
                }
            }
            _ => self.storage.abandon(self.time.now, &mut self.out),
        }
    }

    fn on_store(&mut self, owner: Owner, outcome: StoreOutcome) {
        match (owner, outcome) {
            (Owner::State, StoreOutcome::Read(read)) if matches!(self.state, State::Opening(_)) => {
                self.on_opened(read);
            }
            (Owner::State, outcome) => self.drive(|flow, env| flow.on_store(env, outcome)),
            (_, StoreOutcome::Saved(Err(failure))) => {
                self.out.report(AuthEvent::Unsaved(failure));
            }
            (Owner::Forget(what), StoreOutcome::Read(Ok(stored))) => {
                self.forget_held(what, stored.as_ref());
            }
            (Owner::Forget(what), StoreOutcome::Read(Err(_))) => self.delete(what, None),
            (Owner::Background | Owner::Forget(_), _) => {}
        }
    }

    /// Takes the stored grant, unless it belongs to others.
    fn on_opened(&mut self, read: Result<Option<Secret>, StoreFailure>) {
        let State::Opening(challenge) = mem::take(&mut self.state) else { return };
        let stored = match read {
            Ok(record) => record.and_then(|record| {
                let parsed = self.parse(&record);
                if parsed.is_none() {
                    let (what, why) = (Stored::Record, DropReason::Unreadable);
                    self.out.report(AuthEvent::Dropped { what, why });
                }
                parsed.map(|record| self.without_foreign_tokens(record))
            }),
            Err(failure) => {
                self.out.report(AuthEvent::Unsaved(failure));
                None
            }
        };
        match stored {
            // AUT-06: whose the tokens are is known once the identity in use is.
            Some(stored) if self.needs_check(&stored) => self.check(challenge, stored),
            stored => {
                let subject = self.grant.as_ref().and_then(|held| held.record.subject.clone());
                let is_own =
                    |stored: &GrantRecord| is_own(stored, &self.config, subject.as_deref());
                let stored = stored.filter(is_own);
                self.use_stored(challenge, stored, None);
            }
        }
    }

    /// Uses the newest grant, or starts a flow if requests wait for one.
    pub(super) fn use_stored(
        &mut self,
        challenge: ScopeChallenge,
        stored: Option<GrantRecord>,
        identity: Option<Secret>,
    ) {
        let rejected = self.grant.as_ref().and_then(HeldGrant::tokens);
        let rejected = rejected.map(|tokens| tokens.access_token.clone());
        let is_usable = |record: &GrantRecord| {
            record.tokens.as_ref().is_some_and(|tokens| {
                is_usable(tokens, &self.config, self.time.unix)
                    && Some(&tokens.access_token) != rejected.as_ref()
            })
        };
        // A grant that could not be saved is newer than the stored one.
        let ours = self.grant.as_ref().map(|grant| grant.record.clone());
        let ours = ours.filter(|ours| {
            stored.as_ref().is_none_or(|stored| stored.generation < ours.generation)
        });
        match ours.or(stored) {
            Some(record) if is_usable(&record) => {
                self.grant(Granted { record, origin: Origin::Stored, jitter: 0 });
            }
            stored if self.owed && !self.is_loop() => {
                self.run_with(Trigger::Rejected, challenge, stored, identity);
            }
            _ if self.owed => {
                self.deny(Denial::Loop);
            }
            _ => {}
        }
    }

    /// Removes tokens that are bound to a key that is not in use.
    fn without_foreign_tokens(&mut self, mut record: GrantRecord) -> GrantRecord {
        if record.tokens.take_if(|tokens| is_foreign(tokens, &self.config)).is_some() {
            let (what, why) = (Stored::RefreshToken, DropReason::KeyChanged);
            self.out.report(AuthEvent::Dropped { what, why });
        }
        record
    }

    fn parse(&self, record: &Secret) -> Option<GrantRecord> {
        let (policy, limits) = (policy(&self.config), &self.config.limits);
        GrantRecord::parse(record.expose().as_bytes(), &policy, limits).ok()
    }

    /// Deletes stored data; without an `issuer`, the stored grant names it.
    pub(super) fn forget_stored(&mut self, what: Forget, issuer: Option<Box<str>>) {
        if issuer.is_some() || what == Forget::Tokens {
            return self.delete(what, issuer.as_deref());
        }
        let key = self.config.grant_key();
        self.use_storage(key, Owner::Forget(what), Use::Hold);
    }

    /// Deletes the grant that the store holds locked, and the registration that it names, before
    /// anything else is read.
    fn forget_held(&mut self, what: Forget, stored: Option<&Secret>) {
        let record = stored.and_then(|record| self.parse(record));
        if let Some(issuer) = record.as_ref().map(|record| record.server.issuer.as_str()) {
            let key = client_key(&self.config, issuer);
            self.storage.begin_next(key, Owner::Background, Use::Change(Change::Delete));
        }
        let (now, out) = (self.time.now, &mut self.out);
        if stored.is_some() && what != Forget::Registration {
            self.storage.save(now, out, None);
        } else {
            self.storage.release(now, out);
        }
    }

    fn delete(&mut self, what: Forget, issuer: Option<&str>) {
        if what != Forget::Registration {
            let key = self.config.grant_key();
            self.use_storage(key, Owner::Background, Use::Change(Change::Delete));
        }
        if let Some(issuer) = issuer.filter(|_| what != Forget::Tokens) {
            let key = client_key(&self.config, issuer);
            self.use_storage(key, Owner::Background, Use::Change(Change::Delete));
        }
    }
}
