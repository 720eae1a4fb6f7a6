//! [`HeldGrant`]: the grant in use.

use alloc::string::String;

use super::flow::step::{Granted, Origin};
use super::time::Time;
use crate::auth::{GrantRecord, StoredTokens, renewal_time};
use crate::http::client::{Credentials, Generation};
use crate::secret::Secret;
use crate::time::Instant;

/// The shortest time between attempts to renew a grant, in seconds.
const RENEWAL_PAUSE: u64 = 60;

/// The shortest lifetime of a token that is renewed before it expires, in seconds: otherwise, a
/// server could cause requests without a pause.
const RENEWED_LIFETIME_MIN: u64 = 20;

/// A grant in use.
#[derive(Debug)]
pub(super) struct HeldGrant {
    pub(super) record: GrantRecord,
    pub(super) generation: Generation,
    origin: Origin,
    standing: Standing,
    /// When to renew the grant, in seconds of the wall clock.
    renew_at: Option<u64>,
}

/// Whether the MCP server has accepted a request with the grant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Standing {
    Unknown,
    Accepted,
    Rejected,
}

impl HeldGrant {
    /// Takes a new grant. `renews` says whether it can be renewed without its user.
    pub(super) fn new(granted: Granted, generation: Generation, renews: bool) -> Self {
        let Granted { record, origin, jitter } = granted;
        let renew_at = record.tokens.as_ref().filter(|_| renews).and_then(|tokens| {
            let expires_at = tokens.expires_at?;
            let lifetime = expires_at.saturating_sub(tokens.issued_at);
            (lifetime >= RENEWED_LIFETIME_MIN)
                .then(|| renewal_time(tokens.issued_at, expires_at, jitter))
        });
        Self { record, generation, origin, standing: Standing::Unknown, renew_at }
    }

    pub(super) fn tokens(&self) -> Option<&StoredTokens> {
        self.record.tokens.as_ref()
    }

    pub(super) fn credentials(&self) -> Option<Credentials> {
        let tokens = self.tokens().filter(|_| self.is_valid())?;
        let scheme = tokens.token_type.scheme();
        let mut text = String::with_capacity(scheme.len() + 1 + tokens.access_token.len());
        text.push_str(scheme);
        text.push(' ');
        text.push_str(tokens.access_token.expose());
        Some(Credentials::new(self.generation, Secret::new(text)))
    }

    /// Returns whether the server has not rejected the grant.
    pub(super) fn is_valid(&self) -> bool {
        self.standing != Standing::Rejected
    }

    /// Returns whether a rejection may lead to a new grant: not if this one was just made.
    pub(super) fn may_renew(&self) -> bool {
        self.standing == Standing::Accepted || self.origin != Origin::Fresh
    }

    pub(super) fn accept(&mut self) {
        if self.is_valid() {
            self.standing = Standing::Accepted;
        }
    }

    pub(super) fn reject(&mut self) {
        self.standing = Standing::Rejected;
    }

    /// Returns when to renew, by the monotonic clock.
    // AUT-62.
    pub(super) fn renewal(&self, time: Time) -> Option<Instant> {
        self.renew_at.map(|unix| time.at_unix(unix))
    }

    pub(super) fn is_renewal_due(&self, time: Time) -> bool {
        self.renew_at.is_some_and(|unix| unix <= time.unix)
    }

    /// Puts off a renewal that failed; beyond the expiry, a rejected request causes it.
    pub(super) fn on_renewal_failed(&mut self, time: Time) {
        if self.is_renewal_due(time) {
            let next = time.unix.saturating_add(RENEWAL_PAUSE);
            let expires = self.tokens().and_then(|tokens| tokens.expires_at);
            self.renew_at = Some(next).filter(|next| expires.is_some_and(|end| *next < end));
        }
    }

    /// Removes the refresh token, which was refused.
    pub(super) fn drop_refresh_token(&mut self) {
        if let Some(tokens) = &mut self.record.tokens {
            tokens.refresh_token = None;
        }
        self.renew_at = None;
    }
}
