//! The methods of [`Auth`] for extensions.

use std::sync::Arc;

use mcp_proto::Secret;
use mcp_proto::auth::{IdentityProvider, KnownClient};

use super::{DpopKey, ExtensionGrant, SigningKey};
use crate::auth::builder::{Auth, Grant};

impl Auth {
    /// Authorizes the application itself, without a user (client credentials).
    ///
    /// `client` has a secret, or signs with the [key](Self::signing_key).
    /// See <https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials>.
    pub fn client_credentials(client: KnownClient) -> Self {
        Self::new(Grant::Extension(ExtensionGrant::ClientCredentials(client)))
    }

    /// Authorizes a user of a company by the company's identity provider.
    ///
    /// `id_token` returns an ID token of the user from that provider, or `None` to give up. It runs
    /// on a separate thread and may block. It is called to obtain tokens, and before stored tokens
    /// are used, which must be those of this user. Its signature is not verified for that: the
    /// token must come from the provider itself. `client` is this application at the authorization
    /// server of the MCP server.
    ///
    /// Tokens are renewed without a call. Before `id_token` returns tokens of another user,
    /// [log out](crate::auth::log_out), or use another `Auth`.
    /// See <https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization>.
    pub fn enterprise(
        provider: IdentityProvider,
        client: KnownClient,
        id_token: impl Fn() -> Option<Secret> + Send + Sync + 'static,
    ) -> Self {
        Self::asserting(ExtensionGrant::Enterprise(provider, client), id_token)
    }

    /// Authorizes a workload by a token of the platform it runs on, such as Kubernetes.
    ///
    /// `token` returns that token, or `None` to give up. It runs on a separate thread and may
    /// block. It is called to obtain tokens, and before stored tokens are used, which must be those
    /// of this workload: a JWT with equal issuer and subject, or else an equal token.
    pub fn workload(
        client: KnownClient,
        token: impl Fn() -> Option<Secret> + Send + Sync + 'static,
    ) -> Self {
        Self::asserting(ExtensionGrant::Workload(client), token)
    }

    fn asserting(
        grant: ExtensionGrant,
        identity: impl Fn() -> Option<Secret> + Send + Sync + 'static,
    ) -> Self {
        let mut auth = Self::new(Grant::Extension(grant));
        auth.extensions.identity = Some(Arc::new(identity));
        auth
    }

    /// Sets the key of clients that authenticate by signatures. See [`KnownClient::signed`].
    pub fn signing_key(mut self, key: SigningKey) -> Self {
        self.extensions.signing_key = Some(key);
        self
    }

    /// Asks for access tokens that are bound to `key` (DPoP, RFC 9449), so that a stolen token is
    /// of no use. Default: tokens are not bound.
    ///
    /// Bound tokens are used if the authorization server and the MCP server announce that they
    /// support them. The key must not be an [external](SigningKey::external) one, and should serve
    /// no other purpose. Stored tokens work with that key only, so keep the key as well
    /// as the tokens. Each request then takes about 50 µs more, for a signature.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::auth::{Auth, SigningKey};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let auth = Auth::user("My app").dpop(SigningKey::generate()?);
    /// # drop(auth);
    /// # Ok(())
    /// # }
    /// ```
    pub fn dpop(mut self, key: SigningKey) -> Self {
        self.extensions.dpop = Some(DpopKey { key, is_required: false });
        self
    }

    /// Like [`dpop`](Self::dpop), and uses no tokens that are not bound.
    pub fn require_dpop(mut self, key: SigningKey) -> Self {
        self.extensions.dpop = Some(DpopKey { key, is_required: true });
        self
    }
}
