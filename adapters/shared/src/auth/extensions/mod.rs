//! Extensions of authorization, which few clients use: applications without a user, identities that
//! a company or a platform asserts, clients that sign, and tokens that are bound to a key (DPoP).

mod dpop;
mod methods;
mod signing_key;

use std::io;
use std::sync::Arc;

use mcp_proto::Secret;
use mcp_proto::auth::{AuthConfig, AuthLimits, IdentityProvider, KeyUse, KnownClient, Uri};

use self::dpop::DpopKey;
pub(super) use self::dpop::DpopSigner;
pub use self::signing_key::{SIGNATURE_BYTES, SigningKey};

/// Returns a token that asserts who is authorized, or `None` to give up.
type Identity = dyn Fn() -> Option<Secret> + Send + Sync;

/// A grant without a login in a browser.
#[derive(Clone)]
pub(super) enum ExtensionGrant {
    ClientCredentials(KnownClient),
    Enterprise(IdentityProvider, KnownClient),
    Workload(KnownClient),
}

impl ExtensionGrant {
    /// Returns the configuration for a server.
    pub(super) fn config(&self, server: Uri) -> AuthConfig {
        match self.clone() {
            Self::ClientCredentials(client) => AuthConfig::client_credentials(server, client),
            Self::Enterprise(provider, client) => AuthConfig::enterprise(server, provider, client),
            Self::Workload(client) => AuthConfig::workload(server, client),
        }
    }

    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::ClientCredentials(_) => "ClientCredentials",
            Self::Enterprise(..) => "Enterprise",
            Self::Workload(_) => "Workload",
        }
    }
}

/// The identity and the keys that extensions need. Default: none.
#[derive(Clone, Default)]
pub(super) struct Extensions {
    identity: Option<Arc<Identity>>,
    signing_key: Option<SigningKey>,
    dpop: Option<DpopKey>,
}

impl Extensions {
    /// Returns whether both have one identity function and one signing key.
    pub(super) fn has_identity_of(&self, other: &Self) -> bool {
        let is_same_function = match (&self.identity, &other.identity) {
            (None, None) => true,
            (Some(one), Some(two)) => Arc::ptr_eq(one, two),
            _ => false,
        };
        let is_same_key = match (&self.signing_key, &other.signing_key) {
            (None, None) => true,
            (Some(one), Some(two)) => one.is_same(two),
            _ => false,
        };
        is_same_function && is_same_key
    }

    /// Returns the function that asserts who is authorized.
    pub(super) fn identity(&self) -> Option<Arc<Identity>> {
        self.identity.clone()
    }

    /// Returns the key for a signature.
    pub(super) fn key(&self, used_for: KeyUse) -> Option<&SigningKey> {
        match used_for {
            KeyUse::Dpop => self.dpop.as_ref().map(|dpop| &dpop.key),
            _ => self.signing_key.as_ref(),
        }
    }

    /// Adds the public key of a client that signs.
    pub(super) fn apply_signing_key(&self, config: AuthConfig) -> AuthConfig {
        match self.signing_key.as_ref().and_then(SigningKey::coordinates) {
            Some(key) => config.signing_key(key),
            None => config,
        }
    }

    /// Adds the key that tokens are bound to, and returns the signer of its proofs.
    ///
    /// # Errors
    /// Fails if the public key is unknown, or if the operating system returns no random bytes.
    pub(super) fn bind_tokens(
        &self,
        config: AuthConfig,
        limits: &AuthLimits,
    ) -> io::Result<(AuthConfig, Option<DpopSigner>)> {
        let Some(key) = &self.dpop else { return Ok((config, None)) };
        Ok((key.apply(config)?, Some(DpopSigner::new(key, limits.clone())?)))
    }
}
