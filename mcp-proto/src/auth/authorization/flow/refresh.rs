//! Refreshing: one process at a time, and never with a token that another one has replaced.

use core::mem;

use super::Flow;
use super::step::{
    ClientInUse, ClientSource, Env, Granted, Origin, Outcome, Step, TokenCall, Trigger, is_foreign,
    is_usable, policy,
};
use crate::auth::authorization::config::GrantKind;
use crate::auth::authorization::event::StoreFailure;
use crate::auth::authorization::exchange::Outage;
use crate::auth::authorization::ownership::is_own;
use crate::auth::authorization::storage::{Owner, Use};
use crate::auth::authorization::{AuthEvent, Denial, DropReason, Stored};
use crate::auth::{GrantRecord, StoredTokens, TokenError};
use crate::secret::Secret;

impl Flow {
    /// Continues once the authorization server is known: refreshes, or obtains a grant.
    pub(super) fn identify(&mut self, env: &mut Env<'_>) -> Outcome {
        self.proof = self.choose_proof(env)?;
        let held = self.held.as_ref().and_then(|held| held.tokens.as_ref());
        let has_refresh = held.is_some_and(|tokens| tokens.refresh_token.is_some());
        // A refresh never adds scopes.
        if has_refresh && self.trigger != Trigger::Scopes {
            self.lock(env, None)
        } else {
            self.obtain(env)
        }
    }

    /// Locks the record, so that no other process refreshes.
    // AUT-60, A-04.
    pub(super) fn lock(&mut self, env: &mut Env<'_>, refused: Option<Secret>) -> Outcome {
        let key = env.config.grant_key();
        env.storage.begin(env.time.now, env.out, key, Owner::State, Use::Hold);
        let failures = self.failures;
        let progress = self.enter(Step::Locking(refused), None);
        self.failures = failures;
        progress
    }

    pub(super) fn on_locked(
        &mut self,
        env: &mut Env<'_>,
        refused: Option<Secret>,
        read: Result<Option<Secret>, StoreFailure>,
    ) -> Outcome {
        let stored = match read {
            Ok(record) => record.and_then(|record| self.readable(env, &record)),
            Err(StoreFailure::Locked) => {
                self.step = Step::Locking(refused);
                let progress = self.on_temporary(env, Outage::Unreached, None);
                return progress.map_err(|_| Denial::Locked);
            }
            Err(failure) => {
                env.out.report(AuthEvent::Unsaved(failure));
                None
            }
        };
        // A grant that could not be saved is newer than the stored one.
        let is_other = |stored: &GrantRecord| match &self.held {
            Some(held) => stored.tokens != held.tokens && stored.generation >= held.generation,
            None => true,
        };
        if let Some(stored) = stored.filter(is_other) {
            let known = self.tokens().map(|tokens| &tokens.access_token);
            // Another process may only have dropped the refresh token.
            let is_valid = stored.tokens.as_ref().is_some_and(|tokens| {
                is_usable(tokens, env.config, env.time.unix) && Some(&tokens.access_token) != known
            });
            self.generation = self.generation.max(stored.generation);
            self.held = Some(stored);
            if is_valid {
                // Another process has renewed the grant.
                return self.adopt(env);
            }
        }
        let token = self.tokens().and_then(|tokens| tokens.refresh_token.clone());
        match (token, refused) {
            (Some(token), refused) if refused.as_ref() != Some(&token) => {
                let client = self.refreshing_client(env);
                self.client = client;
                let is_repeated = refused.is_some();
                self.request(env, TokenCall::Refresh(token, is_repeated))
            }
            (Some(_), _) => self.drop_refresh_token(env),
            (None, _) => {
                env.storage.release(env.time.now, env.out);
                self.obtain(env)
            }
        }
    }

    fn readable(&self, env: &mut Env<'_>, record: &Secret) -> Option<GrantRecord> {
        let bytes = record.expose().as_bytes();
        let record = GrantRecord::parse(bytes, &policy(env.config), &env.config.limits);
        match record {
            // AUT-06, AUT-23: tokens of another authorization server, or of another user who has
            // this client as well, are not used.
            Ok(record) => {
                let issuer = self.server.as_ref().map(|server| server.issuer.as_str());
                let subject = self.held.as_ref().and_then(|held| held.subject.as_deref());
                let is_foreign = |it: &StoredTokens| is_foreign(it, env.config);
                Some(record).filter(|record| {
                    issuer == Some(record.server.issuer.as_str())
                        && is_own(record, env.config, subject)
                        && !record.tokens.as_ref().is_some_and(is_foreign)
                })
            }
            Err(_) => {
                let (what, why) = (Stored::Record, DropReason::Unreadable);
                env.out.report(AuthEvent::Dropped { what, why });
                None
            }
        }
    }

    fn adopt(&mut self, env: &mut Env<'_>) -> Outcome {
        env.storage.release(env.time.now, env.out);
        let Some(record) = self.held.take() else { return Ok(None) };
        let jitter = self.secrets.jitter();
        self.finish(env, Granted { record, origin: Origin::Stored, jitter }.into())
    }

    /// Returns the client that the tokens were issued to, with its configured secret if there is
    /// one.
    fn refreshing_client(&self, env: &Env<'_>) -> Option<ClientInUse> {
        let held = self.held.as_ref()?;
        let (server, client) = (self.server.as_ref()?, held.client.clone());
        let mut known = env.config.clients.iter();
        let known = known
            .find(|known| *known.id == *client.client_id && known.issuer == server.issuer.as_str());
        let known = known.and_then(|known| ClientInUse::known(known, server.auth_methods).ok());
        let is_document = env.config.document.as_deref() == Some(&*client.client_id);
        let source = if is_document { ClientSource::Document } else { ClientSource::New };
        Some(known.unwrap_or(ClientInUse { client, source }))
    }

    /// Handles `invalid_grant`: looks whether another process has replaced the token.
    // AUT-61: only this discards a refresh token, and only the very one that was refused.
    pub(super) fn on_refresh_refused(
        &mut self,
        env: &mut Env<'_>,
        token: Secret,
        is_repeated: bool,
    ) -> Outcome {
        if is_repeated {
            return self.drop_refresh_token(env);
        }
        env.storage.release(env.time.now, env.out);
        self.lock(env, Some(token))
    }

    /// Handles a refusal that says nothing about the token, which is kept.
    ///
    /// The refresh is repeated once without its scopes, if they may be the reason. Otherwise, a
    /// grant is obtained in another way, but a timer asks no user.
    // AUT-61. RFC 6749 §6: without `scope`, the scopes are those that were granted.
    pub(super) fn on_refresh_failed(
        &mut self,
        env: &mut Env<'_>,
        token: Secret,
        is_repeated: bool,
        error: TokenError,
    ) -> Outcome {
        let names_scopes = self.tokens().is_some_and(|tokens| !tokens.granted.is_empty());
        let is_about_scopes = error.is("invalid_scope") || error.is("invalid_request");
        if is_about_scopes && names_scopes && !mem::replace(&mut self.refreshes_without_scope, true)
        {
            return self.request(env, TokenCall::Refresh(token, is_repeated));
        }
        env.storage.release(env.time.now, env.out);
        let asks_user = !matches!(env.config.grant, GrantKind::ClientCredentials);
        let source = self.client.as_ref().map(|client| &client.source);
        // A login would fail likewise: the client or its key is wrong.
        let is_client = matches!(source, Some(ClientSource::Known(_)))
            && error.is("invalid_client")
            || error.is("invalid_dpop_proof")
            || error.is("use_dpop_nonce");
        if is_client || asks_user && self.is_renewal() {
            return Err(self.token_denial(env, None, error));
        }
        self.obtain(env)
    }

    /// Saves the record without its refresh token.
    fn drop_refresh_token(&mut self, env: &mut Env<'_>) -> Outcome {
        self.has_lost_refresh_token = true;
        let (what, why) = (Stored::RefreshToken, DropReason::Refused);
        env.out.report(AuthEvent::Dropped { what, why });
        if let Some(tokens) = self.held.as_mut().and_then(|held| held.tokens.as_mut()) {
            tokens.refresh_token = None;
        }
        let record = self.held.as_ref().map(GrantRecord::to_json);
        if env.storage.is_holding() {
            let progress = self.enter(Step::Dropping, None);
            env.storage.save(env.time.now, env.out, record);
            return progress;
        }
        self.obtain(env)
    }

    pub(super) fn tokens(&self) -> Option<&StoredTokens> {
        self.held.as_ref()?.tokens.as_ref()
    }

    /// Returns whether the refresh token that the flow began with was refused.
    pub(in crate::auth::authorization) const fn has_lost_refresh_token(&self) -> bool {
        self.has_lost_refresh_token
    }
}
