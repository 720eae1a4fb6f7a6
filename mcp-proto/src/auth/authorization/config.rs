//! [`AuthConfig`]: what an authorization is for, and as whom.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;

use super::quirks::Quirks;
use crate::auth::{AuthLimits, LoopbackHost, PublicKey, Reach, Scopes, Uri};
use crate::http::header::Host;
use crate::secret::Secret;

/// The configuration of an [`Authorization`](super::Authorization).
///
/// ```
/// use mcp_proto::auth::{AuthConfig, AuthLimits, KnownClient, LoopbackHost, Redirect, Uri};
///
/// let server = Uri::parse("https://mcp.example.com/mcp", &AuthLimits::default()).unwrap();
/// let config = AuthConfig::user(server, "My app")
///     .metadata_document("https://app.example.com/client.json")
///     .client(KnownClient::new("https://login.example.com", "my-id").secret("s3cret"))
///     .redirect(Redirect::Loopback {
///         host: LoopbackHost::Localhost,
///         port: Some(3118),
///         path: "/callback".into(),
///     });
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct AuthConfig {
    pub(super) server: Uri,
    pub(super) name: String,
    pub(super) profile: String,
    pub(super) grant: GrantKind,
    pub(super) clients: Vec<KnownClient>,
    pub(super) document: Option<String>,
    pub(super) redirect: Redirect,
    pub(super) scopes: Scopes,
    pub(super) refreshes: bool,
    pub(super) legacy: bool,
    pub(super) reach: Reach,
    pub(super) quirks: Quirks,
    pub(super) dpop: Option<DpopConfig>,
    pub(super) signing_key: Option<PublicKey>,
    pub(super) certificate: Option<String>,
    pub(super) limits: AuthLimits,
}

/// The use of tokens that are bound to a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct DpopConfig {
    pub(super) key: PublicKey,
    pub(super) is_required: bool,
}

impl AuthConfig {
    /// Creates the configuration for a user who authorizes the application `name` in a browser.
    ///
    /// `server` is the URL of the MCP endpoint. The client identifies itself by the first of: a
    /// [known client](Self::client), its [metadata document](Self::metadata_document), dynamic
    /// registration, and what the application enters on request.
    // AUT-21: the order of registration methods.
    pub fn user(server: Uri, name: &str) -> Self {
        Self::new(server, name, GrantKind::User)
    }

    /// Creates the configuration for an application that acts for itself, without a user.
    ///
    /// See <https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials>.
    pub fn client_credentials(server: Uri, client: KnownClient) -> Self {
        Self::new(server, &client.id.clone(), GrantKind::ClientCredentials).client(client)
    }

    /// Creates the configuration for a user whose company's identity provider authorizes the
    /// application.
    ///
    /// See <https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization>.
    pub fn enterprise(server: Uri, provider: IdentityProvider, client: KnownClient) -> Self {
        let name = client.id.clone();
        Self::new(server, &name, GrantKind::Enterprise(provider)).client(client)
    }

    /// Creates the configuration for a workload that authenticates with a token from its platform.
    pub fn workload(server: Uri, client: KnownClient) -> Self {
        Self::new(server, &client.id.clone(), GrantKind::Workload).client(client)
    }

    fn new(server: Uri, name: &str, grant: GrantKind) -> Self {
        let reach = match server.host() {
            _ if server.is_loopback() => Some(Reach::Loopback),
            Host::Name(_) => None,
            Host::V4(address) => Reach::of(IpAddr::V4(address)),
            Host::V6(address) => Reach::of(IpAddr::V6(address)),
        };
        let reach = reach.unwrap_or(Reach::Public);
        Self {
            server,
            name: name.to_string(),
            profile: "default".to_string(),
            grant,
            clients: Vec::new(),
            document: None,
            redirect: Redirect::default(),
            scopes: Scopes::new(),
            refreshes: true,
            legacy: true,
            reach,
            quirks: Quirks::default(),
            dpop: None,
            signing_key: None,
            certificate: None,
            limits: AuthLimits::default(),
        }
    }

    /// Sets the profile: grants of different profiles are stored apart. Default: `default`.
    pub fn profile(mut self, profile: &str) -> Self {
        self.profile = profile.to_string();
        self
    }

    /// Adds a client that was registered in advance; it is used at its own issuer only.
    // AUT-23.
    pub fn client(mut self, client: KnownClient) -> Self {
        self.clients.push(client);
        self
    }

    /// Sets the URL of the client id metadata document, which identifies the client at
    /// authorization servers that support it.
    // AUT-20.
    pub fn metadata_document(mut self, url: &str) -> Self {
        self.document = Some(url.to_string());
        self
    }

    /// Sets where the browser returns to. Default: any free port of `127.0.0.1`, with the path
    /// `/callback`.
    pub fn redirect(mut self, redirect: Redirect) -> Self {
        self.redirect = redirect;
        self
    }

    /// Requests these scopes in addition to those that the server names. Default: none.
    ///
    /// A user has to agree to each scope: prefer what the server asks for.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = scopes;
        self
    }

    /// Requests no refresh tokens: the user authorizes again when the access token expires.
    pub fn without_refresh(mut self) -> Self {
        self.refreshes = false;
        self
    }

    /// Disables the rules of revision 2025-03-26 for servers without resource metadata.
    // AUT-37.
    pub fn without_legacy(mut self) -> Self {
        self.legacy = false;
        self
    }

    /// Sets how private the address of the MCP server is.
    ///
    /// Default: what the host of its URL says, if it is an address or `localhost`; otherwise
    /// [`Reach::Public`].
    ///
    /// URLs that the server names may lead to no more private addresses.
    pub fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// Sets the deviations from the specification that are allowed. Default: none.
    pub fn quirks(mut self, quirks: Quirks) -> Self {
        self.quirks = quirks;
        self
    }

    /// Asks for access tokens that are bound to a key (DPoP, RFC 9449), so that a stolen token is
    /// of no use. Default: tokens are not bound.
    ///
    /// The private key stays with the driver: see [`AuthAction::Sign`](super::AuthAction::Sign) for
    /// token requests and [`DpopProver`](crate::auth::DpopProver) for requests to the MCP server.
    /// It should serve no other purpose. Stored tokens that are bound to another key are discarded.
    ///
    /// Bound tokens are used if the authorization server and the MCP server announce that they
    /// support them, by metadata or challenges; see also [`require_dpop`](Self::require_dpop).
    // AUT-82.
    pub fn dpop(mut self, key: PublicKey) -> Self {
        self.dpop = Some(DpopConfig { key, is_required: false });
        self
    }

    /// Like [`dpop`](Self::dpop), and uses no other tokens: a token that is not bound is refused
    /// with [`Denial::NotBound`](super::Denial::NotBound).
    // AUT-83.
    pub fn require_dpop(mut self, key: PublicKey) -> Self {
        self.dpop = Some(DpopConfig { key, is_required: true });
        self
    }

    /// Sets the public key of clients that [sign](KnownClient::signed). Default: it is unknown.
    ///
    /// A client that acts for itself finds only the stored tokens of its own key, and none if its
    /// key is unknown.
    // AUT-06: another holder of the store may know the client's id.
    pub fn signing_key(mut self, key: PublicKey) -> Self {
        self.signing_key = Some(key);
        self
    }

    /// Sets the fingerprint of the TLS certificate that the client presents to the MCP server.
    /// Default: it presents none.
    ///
    /// Grants of clients with different certificates are stored apart.
    // AUT-06.
    pub fn certificate(mut self, fingerprint: &str) -> Self {
        self.certificate = Some(fingerprint.to_string());
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: AuthLimits) -> Self {
        self.limits = limits;
        self
    }
}

/// How access tokens are obtained.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum GrantKind {
    User,
    ClientCredentials,
    Enterprise(IdentityProvider),
    Workload,
}

/// A client registered with an authorization server in advance.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct KnownClient {
    pub(super) issuer: String,
    pub(super) id: String,
    pub(super) secret: Option<Secret>,
    /// The private key: its id, if it has one.
    pub(super) key: Option<Option<String>>,
}

impl KnownClient {
    /// Creates a public client with the identifier `id` at the authorization server `issuer`.
    pub fn new(issuer: &str, id: &str) -> Self {
        Self { issuer: issuer.to_string(), id: id.to_string(), secret: None, key: None }
    }

    /// Sets the client secret.
    pub fn secret(mut self, secret: impl Into<Secret>) -> Self {
        self.secret = Some(secret.into());
        self
    }

    /// Authenticates with signed assertions (`private_key_jwt`, ES256) in place of a secret.
    ///
    /// `key_id` names the key to the authorization server, if it knows several. The key itself is
    /// the driver's: see [`AuthAction::Sign`](super::AuthAction::Sign).
    // AUT-78.
    pub fn signed(mut self, key_id: Option<&str>) -> Self {
        self.key = Some(key_id.map(ToString::to_string));
        self
    }
}

/// The identity provider of a company, for [`AuthConfig::enterprise`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct IdentityProvider {
    pub(super) token_endpoint: Uri,
    pub(super) client: KnownClient,
}

impl IdentityProvider {
    /// Creates an identity provider from its token endpoint and this application's client there.
    pub fn new(token_endpoint: Uri, client: KnownClient) -> Self {
        Self { token_endpoint, client }
    }
}

/// Where the browser returns to after the user has decided.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Redirect {
    /// To a listener on this machine, which the driver opens for each flow.
    ///
    /// A client that was registered in advance with `http://localhost:3118/callback` has the host
    /// [`LoopbackHost::Localhost`], the port 3118 and the path `/callback`.
    Loopback {
        /// The host in the redirect URI.
        host: LoopbackHost,
        /// The port; `None` for any free one. If another program uses this port, the flow fails
        /// with [`Denial::PortTaken`](super::Denial::PortTaken).
        port: Option<u16>,
        /// The path. With dynamic registration, a segment for the issuer is added.
        path: String,
    },
    /// To a URI that the application serves itself: `https`, or `http` to a loopback host.
    ///
    /// The application passes the query to
    /// [`handle_redirect`](super::Authorization::handle_redirect).
    Fixed(String),
    /// To a private-use URI scheme, such as `com.example.app:/callback`; MCP itself does not
    /// provide for it.
    // D-A12.
    Scheme(String),
}

impl Default for Redirect {
    /// Returns the redirect to any free port of `127.0.0.1`, with the path `/callback`.
    fn default() -> Self {
        Self::Loopback { host: LoopbackHost::V4, port: None, path: "/callback".to_string() }
    }
}
