//! [`Step`]: the steps of a flow, with what each needs.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

use crate::auth::authorization::action::SignId;
use crate::auth::authorization::challenge::DpopSupport;
use crate::auth::authorization::config::{AuthConfig, KnownClient, Redirect};
use crate::auth::authorization::denial::Denial;
use crate::auth::authorization::output::Output;
use crate::auth::authorization::record_key::RecordKey;
use crate::auth::authorization::storage::Storage;
use crate::auth::authorization::time::Time;
use crate::auth::{
    ClientAuthMethod, ClientAuthMethods, ClientRecord, CredentialKind, GrantRecord, LoopbackHost,
    PendingAuthorization, RegisteredClient, Scopes, StoredTokens, TokenType, UnsignedJwt, Uri,
    UriPolicy,
};
use crate::secret::Secret;

/// How long the application and its user may take.
pub(in crate::auth::authorization) const HUMAN_TIMEOUT: Duration = Duration::from_secs(600);

/// The surroundings of a flow.
pub(in crate::auth::authorization) struct Env<'a> {
    pub(in crate::auth::authorization) time: Time,
    pub(in crate::auth::authorization) config: &'a AuthConfig,
    /// The URL that rejected the latest request, if redirects led to it.
    pub(in crate::auth::authorization) redirected_to: Option<&'a Uri>,
    pub(in crate::auth::authorization) out: &'a mut Output,
    pub(in crate::auth::authorization) storage: &'a mut Storage,
}

impl Env<'_> {
    /// Returns the URLs that the resource metadata may describe.
    pub(in crate::auth::authorization) fn servers(&self) -> impl Iterator<Item = &Uri> {
        self.redirected_to.into_iter().chain([&self.config.server])
    }
}

/// Why a flow runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::auth::authorization) enum Trigger {
    /// The access token expires soon. No request waits.
    Renewal,
    /// The server rejected a request, or the application asked for credentials.
    Rejected,
    /// The server demands more scopes.
    Scopes,
}

/// Where a grant came from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::auth::authorization) enum Origin {
    /// Read from the store.
    Stored,
    /// Renewed ahead of its expiry.
    Renewed,
    /// Made to replace one that the server rejected.
    Fresh,
}

/// A grant at the end of a flow.
#[derive(Debug)]
pub(in crate::auth::authorization) struct Granted {
    pub(in crate::auth::authorization) record: GrantRecord,
    pub(in crate::auth::authorization) origin: Origin,
    /// A number that spreads renewals.
    pub(in crate::auth::authorization) jitter: u32,
}

/// The result of an input: the flow continues, has a grant, or has failed.
pub(in crate::auth::authorization) type Outcome = Result<Option<Box<Granted>>, Denial>;

/// The step of a flow.
#[derive(Debug)]
pub(in crate::auth::authorization) enum Step {
    Drawing,
    Resource(ResourceSearch),
    /// Looks for a stored registration at one of the issuers.
    Ranking(RegistrationSearch),
    Issuer(IssuerSearch),
    /// Holds the refresh token that was refused, if any.
    Locking(Option<Secret>),
    Recalling,
    Entering,
    Listening,
    Registering,
    Asking(PendingAuthorization),
    Identity,
    Signing(Box<Signing>),
    Requesting(TokenCall),
    Dropping,
    Saving(Box<Granted>),
    Waiting(Box<Self>),
    Over,
}

/// The MCP server, as far as its metadata describe it.
#[derive(Debug, Default)]
pub(in crate::auth::authorization) enum Target {
    #[default]
    Unknown,
    /// A protected resource.
    Resource {
        /// The identifier, byte for byte as in the metadata.
        id: Box<str>,
        /// The scopes that the metadata list.
        scopes: Scopes,
        /// What the metadata say about tokens that are bound to a key.
        dpop: DpopSupport,
    },
    /// A server of revision 2025-03-26: its own authorization server, without metadata.
    Legacy,
}

impl Target {
    /// Returns the target of a stored grant.
    pub(in crate::auth::authorization) fn of(record: &GrantRecord) -> Self {
        match record.resource.clone() {
            Some(id) => Self::Resource { id, scopes: Scopes::new(), dpop: DpopSupport::Unknown },
            None => Self::Legacy,
        }
    }

    pub(in crate::auth::authorization) fn id(&self) -> Option<Box<str>> {
        match self {
            Self::Resource { id, .. } => Some(id.clone()),
            Self::Unknown | Self::Legacy => None,
        }
    }

    pub(in crate::auth::authorization) const fn dpop(&self) -> DpopSupport {
        match self {
            Self::Resource { dpop, .. } => *dpop,
            Self::Unknown | Self::Legacy => DpopSupport::Unknown,
        }
    }

    pub(in crate::auth::authorization) const fn is_legacy(&self) -> bool {
        matches!(self, Self::Legacy)
    }
}

/// Where the resource metadata may still be.
#[derive(Debug)]
pub(in crate::auth::authorization) struct ResourceSearch {
    /// The current location comes first.
    pub(in crate::auth::authorization) locations: VecDeque<Uri>,
    /// Whether the server named the location: then there is no other.
    pub(in crate::auth::authorization) is_named: bool,
    /// Why a document was not used.
    pub(in crate::auth::authorization) fault: Option<Denial>,
}

/// Which of the authorization servers knows this client.
#[derive(Debug)]
pub(in crate::auth::authorization) struct RegistrationSearch {
    /// The issuers, in order.
    pub(in crate::auth::authorization) issuers: VecDeque<Uri>,
    /// The index of the issuer whose registration is being read.
    pub(in crate::auth::authorization) at: usize,
}

/// Where the metadata of an authorization server may still be.
#[derive(Debug)]
pub(in crate::auth::authorization) struct IssuerSearch {
    pub(in crate::auth::authorization) issuer: Uri,
    /// The locations of this issuer's metadata; the current one comes first.
    pub(in crate::auth::authorization) locations: VecDeque<Uri>,
    /// The issuers to try afterwards.
    pub(in crate::auth::authorization) others: VecDeque<Uri>,
    /// Why a document was not used.
    pub(in crate::auth::authorization) fault: Option<Denial>,
}

/// The client of a flow.
#[derive(Clone, Debug)]
pub(in crate::auth::authorization) struct ClientInUse {
    pub(in crate::auth::authorization) client: RegisteredClient,
    pub(in crate::auth::authorization) source: ClientSource,
}

/// Where a client comes from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::auth::authorization) enum ClientSource {
    /// Configured; with the id of its key, if it signs.
    Known(Option<String>),
    /// Identified by its metadata document.
    Document,
    /// Registered or entered before, and stored in this form.
    Stored(Box<ClientRecord>),
    /// Registered or entered in this flow.
    New,
}

/// The redirect of a flow.
#[derive(Debug, Default)]
pub(in crate::auth::authorization) struct RedirectState {
    /// The redirect URI, once it is known.
    pub(in crate::auth::authorization) uri: String,
    /// Whether the driver listens.
    pub(in crate::auth::authorization) is_listening: bool,
    /// Whether the path is the configured one, although the client registers itself.
    pub(in crate::auth::authorization) has_plain_path: bool,
    /// Whether a registration was dropped in this flow.
    pub(in crate::auth::authorization) has_dropped: bool,
}

impl ClientInUse {
    pub(in crate::auth::authorization) fn known(
        known: &KnownClient,
        listed: Option<ClientAuthMethods>,
    ) -> Result<Self, Denial> {
        let kind = match (&known.key, &known.secret) {
            (Some(_), _) => CredentialKind::Key,
            (None, Some(_)) => CredentialKind::Secret,
            (None, None) => CredentialKind::Nothing,
        };
        // AUT-56: without a list, assertions are what a client with a key has.
        let method = ClientAuthMethod::choose(listed, None, kind)
            .ok_or_else(|| Denial::NoClient { issuer: known.issuer.as_str().into() })?;
        let client = RegisteredClient {
            client_id: known.id.as_str().into(),
            secret: known.secret.clone(),
            secret_expires_at: None,
            auth_method: method,
        };
        Ok(Self { client, source: ClientSource::Known(known.key.clone().flatten()) })
    }
}

/// A signature that a token request waits for.
#[derive(Debug)]
pub(in crate::auth::authorization) struct Signing {
    pub(in crate::auth::authorization) id: SignId,
    pub(in crate::auth::authorization) jwt: UnsignedJwt,
    pub(in crate::auth::authorization) call: TokenCall,
    pub(in crate::auth::authorization) purpose: SigningPurpose,
}

/// What is signed for a token request.
#[derive(Debug)]
pub(in crate::auth::authorization) enum SigningPurpose {
    /// The assertion that authenticates the client.
    Assertion,
    /// The DPoP proof, after the assertion if there is one.
    Proof { assertion: Option<Secret> },
}

/// What a token request presents.
#[derive(Debug)]
pub(in crate::auth::authorization) enum TokenCall {
    /// A refresh token, and whether it is the second one after a refusal.
    Refresh(Secret, bool),
    Code(Secret),
    ClientCredentials,
    /// An ID token, at the identity provider.
    Exchange(Secret),
    /// An assertion of the identity provider, or the token of a workload.
    Assertion(Secret),
}

/// Returns the key of this client's registration at an issuer.
pub(in crate::auth::authorization) fn client_key(config: &AuthConfig, issuer: &str) -> RecordKey {
    let redirect: Cow<'_, str> = match &config.redirect {
        Redirect::Loopback { host: LoopbackHost::V4, port: None, .. } => "loopback".into(),
        Redirect::Loopback { host, port, .. } => {
            format!("http://{host}:{}", port.unwrap_or_default()).into()
        }
        Redirect::Fixed(uri) | Redirect::Scheme(uri) => uri.into(),
    };
    RecordKey::client(issuer, &config.name, &redirect)
}

/// Returns whether an access token can be used: it is not known to be expired, and bound to a key
/// if the configuration requires that.
pub(in crate::auth::authorization) fn is_usable(
    tokens: &StoredTokens,
    config: &AuthConfig,
    unix: u64,
) -> bool {
    let is_bound = tokens.token_type == TokenType::Dpop;
    let must_be_bound = config.dpop.is_some_and(|dpop| dpop.is_required);
    tokens.expires_at.is_none_or(|expires| expires > unix) && (is_bound || !must_be_bound)
}

/// Returns whether tokens are bound to a key that is not in use.
pub(in crate::auth::authorization) fn is_foreign(
    tokens: &StoredTokens,
    config: &AuthConfig,
) -> bool {
    let Some(thumbprint) = &tokens.key_thumbprint else { return false };
    config.dpop.is_none_or(|dpop| **thumbprint != *dpop.key.thumbprint())
}

/// Returns which URLs the MCP server and its authorization servers may name.
pub(in crate::auth::authorization) fn policy(config: &AuthConfig) -> UriPolicy {
    let policy = UriPolicy::of_server(config.reach);
    if config.quirks.any_reach { policy.with_any_reach() } else { policy }
}
