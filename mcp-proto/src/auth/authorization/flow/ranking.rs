//! The choice of an authorization server: one that knows this client comes first.

use alloc::collections::VecDeque;
use alloc::string::ToString;

use super::Flow;
use super::step::{Env, Outcome, RegistrationSearch, Step, client_key};
use crate::auth::authorization::config::GrantKind;
use crate::auth::authorization::event::StoreFailure;
use crate::auth::authorization::storage::{Owner, Use};
use crate::auth::authorization::{AuthEvent, DropReason, Stored};
use crate::auth::{AuthLimits, ClientRecord, ProtectedResourceMetadata, Uri};
use crate::secret::Secret;

impl Flow {
    /// Returns the authorization servers to try: first that of the grant, then those of configured
    /// clients.
    // AUT-39: each is independent of the others.
    pub(super) fn candidates(
        &mut self,
        env: &mut Env<'_>,
        metadata: &ProtectedResourceMetadata,
    ) -> VecDeque<Uri> {
        let held = self.held.as_ref().map(|held| held.server.issuer.clone());
        let mut issuers: VecDeque<Uri> = metadata.authorization_servers.clone().into();
        let rank = |issuer: &Uri| {
            if held.as_ref().is_some_and(|held| held.as_str() == issuer.as_str()) {
                0
            } else {
                2 - u8::from(is_configured(env, issuer))
            }
        };
        issuers.make_contiguous().sort_by_key(rank);
        // AUT-23: credentials of an authorization server that is no longer named stay unused.
        let slash = env.config.quirks.issuer_slash;
        let is_named = |held: &Uri| issuers.iter().any(|issuer| is_issuer(issuer, held, slash));
        if held.as_ref().is_some_and(|held| !is_named(held)) {
            self.held = None;
            let (what, why) = (Stored::RefreshToken, DropReason::IssuerChanged);
            env.out.report(AuthEvent::Dropped { what, why });
        }
        issuers
    }

    /// Continues with the best of the candidates.
    ///
    /// Stored registrations are looked for only if several servers are named, and neither a grant
    /// nor the configuration decides between them.
    pub(super) fn rank(&mut self, env: &mut Env<'_>, issuers: VecDeque<Uri>) -> Outcome {
        let registers = matches!(env.config.grant, GrantKind::User);
        let is_decided =
            self.held.is_some() || issuers.front().is_none_or(|issuer| is_configured(env, issuer));
        if issuers.len() < 2 || is_decided || !registers {
            return self.find_issuer(env, issuers);
        }
        self.recall(env, RegistrationSearch { issuers, at: 0 })
    }

    /// Reads the registration at the current issuer.
    fn recall(&mut self, env: &mut Env<'_>, search: RegistrationSearch) -> Outcome {
        let Some(issuer) = search.issuers.get(search.at) else {
            return self.find_issuer(env, search.issuers);
        };
        let key = client_key(env.config, issuer.as_str());
        env.storage.begin(env.time.now, env.out, key, Owner::State, Use::Read);
        self.enter(Step::Ranking(search), None)
    }

    pub(super) fn on_ranked(
        &mut self,
        env: &mut Env<'_>,
        mut search: RegistrationSearch,
        read: Result<Option<Secret>, StoreFailure>,
    ) -> Outcome {
        // A store that fails decides nothing; the next use of it reports the failure.
        let Ok(record) = read else { return self.find_issuer(env, search.issuers) };
        let issuer = search.issuers.get(search.at);
        let (limits, unix) = (&env.config.limits, env.time.unix);
        if issuer.is_some_and(|issuer| is_registered(record.as_ref(), issuer, limits, unix)) {
            if let Some(issuer) = search.issuers.remove(search.at) {
                search.issuers.push_front(issuer);
            }
            return self.find_issuer(env, search.issuers);
        }
        search.at += 1;
        self.recall(env, search)
    }
}

fn is_configured(env: &Env<'_>, issuer: &Uri) -> bool {
    env.config.clients.iter().any(|client| client.issuer == issuer.as_str())
}

/// Returns whether a stored registration can be used at an issuer.
fn is_registered(record: Option<&Secret>, issuer: &Uri, limits: &AuthLimits, unix: u64) -> bool {
    let record = record.and_then(|it| ClientRecord::parse(it.expose().as_bytes(), limits).ok());
    record.is_some_and(|record| {
        let is_usable = !record.is_doubtful && !record.client.is_expired(unix);
        is_usable && *record.issuer == *issuer.as_str()
    })
}

fn is_issuer(one: &Uri, other: &Uri, ignores_slash: bool) -> bool {
    let strip = |uri: &Uri| {
        let text = uri.as_str();
        text.strip_suffix('/').filter(|_| ignores_slash).unwrap_or(text).to_string()
    };
    strip(one) == strip(other)
}
