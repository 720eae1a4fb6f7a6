//! [`AuthorizationServerMetadata`]: the endpoints and abilities of an authorization server (RFC
//! 8414, OpenID Connect Discovery).

use alloc::borrow::Cow;
use alloc::format;
use alloc::vec::Vec;
use core::fmt;

use super::client_auth::{ClientAuthMethod, ClientAuthMethods};
use super::document::{Document, InvalidDocument};
use super::limits::AuthLimits;
use super::metadata_error::MetadataError;
use super::reach::{UriPolicy, UriRefusal};
use super::uri::{InvalidUri, Uri};
use crate::json::{Array, Object, write_str};

const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The metadata of an authorization server, checked.
///
/// Only the members that authorization uses are kept. Unsupported values are left out.
///
/// ```
/// use mcp_proto::auth::{
///     AuthLimits, AuthorizationServerMetadata, ExpectedIssuer, PkceSupport, Reach, Uri,
///     UriPolicy,
/// };
///
/// let limits = AuthLimits::default();
/// let issuer = Uri::parse("https://as.example/tenant", &limits).unwrap();
/// let locations = AuthorizationServerMetadata::locations(&issuer, &limits);
/// let first = "https://as.example/.well-known/oauth-authorization-server/tenant";
/// assert_eq!((locations.len(), locations[0].as_str()), (3, first));
///
/// let body = br#"{
///     "issuer": "https://as.example/tenant",
///     "authorization_endpoint": "https://as.example/authorize",
///     "token_endpoint": "https://as.example/token",
///     "code_challenge_methods_supported": ["S256"]
/// }"#;
/// let policy = UriPolicy::of_server(Reach::Public);
/// let expected = ExpectedIssuer::Exact(&issuer);
/// let metadata =
///     AuthorizationServerMetadata::parse(body, expected, &policy, &limits).unwrap();
/// assert_eq!(metadata.pkce, PkceSupport::S256);
/// assert_eq!(metadata.token_endpoint.unwrap().path(), "/token");
/// assert!(metadata.registration_endpoint.is_err());
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AuthorizationServerMetadata {
    /// The issuer, as the document states it.
    pub issuer: Uri,
    /// Where the user is sent to authorize the client.
    pub authorization_endpoint: Result<Uri, EndpointError>,
    /// Where tokens are requested.
    pub token_endpoint: Result<Uri, EndpointError>,
    /// Where clients register themselves.
    pub registration_endpoint: Result<Uri, EndpointError>,
    /// The methods of client authentication at the token endpoint, if the document lists them.
    pub auth_methods: Option<ClientAuthMethods>,
    /// Whether client assertions may be signed with ES256: listed, or nothing is listed.
    pub es256_assertions: bool,
    /// Whether PKCE is supported with S256.
    pub pkce: PkceSupport,
    /// Whether responses to authorization requests name their issuer (RFC 9207).
    pub sends_issuer: bool,
    /// Whether a client id may be the URL of a metadata document.
    pub client_id_documents: bool,
    /// Whether the scope `offline_access` is listed.
    pub offline_access: bool,
    /// Whether DPoP proofs may be signed with ES256 (RFC 9449).
    pub dpop: bool,
    /// The supported grant types, if the document lists them.
    pub grant_types: Option<Vec<GrantType>>,
}

/// The support for PKCE that metadata announce.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PkceSupport {
    /// The method S256 is listed, or there are no metadata that could list it.
    S256,
    /// No methods are listed.
    Unadvertised,
    /// Methods are listed, without S256.
    Unsupported,
}

/// A grant type of OAuth.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum GrantType {
    /// `authorization_code`.
    AuthorizationCode,
    /// `refresh_token`.
    RefreshToken,
    /// `client_credentials`.
    ClientCredentials,
    /// `urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693).
    TokenExchange,
    /// `urn:ietf:params:oauth:grant-type:jwt-bearer` (RFC 7523).
    JwtBearer,
}

impl GrantType {
    const ALL: [Self; 5] = [
        Self::AuthorizationCode,
        Self::RefreshToken,
        Self::ClientCredentials,
        Self::TokenExchange,
        Self::JwtBearer,
    ];

    /// Returns the registered name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization_code",
            Self::RefreshToken => "refresh_token",
            Self::ClientCredentials => "client_credentials",
            Self::TokenExchange => "urn:ietf:params:oauth:grant-type:token-exchange",
            Self::JwtBearer => "urn:ietf:params:oauth:grant-type:jwt-bearer",
        }
    }
}

/// The issuer that a document must state.
#[derive(Clone, Copy, Debug)]
pub enum ExpectedIssuer<'a> {
    /// Exactly this issuer, byte for byte.
    Exact(&'a Uri),
    /// This issuer, with or without a final slash.
    AnyFinalSlash(&'a Uri),
}

impl ExpectedIssuer<'_> {
    fn check(&self, found: &Uri) -> Result<(), MetadataError> {
        let strip = |text: &'_ str| text.strip_suffix('/').map_or(text.len(), str::len);
        let (expected, equal) = match self {
            Self::Exact(expected) => (expected, expected.as_str() == found.as_str()),
            Self::AnyFinalSlash(expected) => {
                let (one, other) = (expected.as_str(), found.as_str());
                (expected, one.get(..strip(one)) == other.get(..strip(other)))
            }
        };
        let (expected, found) = (expected.as_str(), found.as_str());
        let error = || MetadataError::Issuer { expected: expected.into(), found: found.into() };
        if equal { Ok(()) } else { Err(error()) }
    }
}

impl AuthorizationServerMetadata {
    /// Returns where the metadata of an issuer may be, in order.
    ///
    /// An issuer with a path has three locations, one without has two.
    // AUT-12, AUT-40: no other URL.
    #[must_use]
    pub fn locations(issuer: &Uri, limits: &AuthLimits) -> Vec<Uri> {
        let (origin, path) = (issuer.origin(), issuer.path_without_final_slash());
        let mut locations = Vec::new();
        locations.push(format!("{origin}{OAUTH}{path}"));
        locations.push(format!("{origin}{OPENID}{path}"));
        if !path.is_empty() {
            locations.push(format!("{origin}{path}{OPENID}"));
        }
        locations.iter().filter_map(|location| Uri::parse(location, limits).ok()).collect()
    }

    /// Returns the issuer that revision 2025-03-26 assumes: the origin of the MCP server.
    ///
    /// Its metadata are at the first of its [`locations`](Self::locations).
    ///
    /// # Errors
    ///
    /// Fails if the origin exceeds the limits.
    // AUT-07.
    pub fn legacy_issuer(url: &Uri, limits: &AuthLimits) -> Result<Uri, InvalidUri> {
        Uri::parse(url.origin(), limits)
    }

    /// Returns the default endpoints of revision 2025-03-26, for a server without any metadata:
    /// `/authorize`, `/token` and `/register` at the origin of the MCP server.
    ///
    /// # Errors
    ///
    /// Fails if a URL exceeds the limits.
    // AUT-07, AUT-36: PKCE is used, although nothing says that it is supported.
    pub fn legacy_default(
        url: &Uri,
        policy: &UriPolicy,
        limits: &AuthLimits,
    ) -> Result<Self, InvalidUri> {
        let endpoint = |path| {
            let uri = Uri::parse(&format!("{}{path}", url.origin()), limits)?;
            Ok(policy.check(&uri).map(|()| uri).map_err(EndpointError::Refused))
        };
        Ok(Self {
            issuer: Self::legacy_issuer(url, limits)?,
            authorization_endpoint: endpoint("/authorize")?,
            token_endpoint: endpoint("/token")?,
            registration_endpoint: endpoint("/register")?,
            auth_methods: None,
            es256_assertions: true,
            pkce: PkceSupport::S256,
            sends_issuer: false,
            client_id_documents: false,
            offline_access: false,
            dpop: false,
            grant_types: None,
        })
    }

    /// Parses and checks a document.
    ///
    /// An endpoint that is missing, invalid or refused by `policy` is an error only where it is
    /// used.
    ///
    /// # Errors
    ///
    /// Returns [`MetadataError`] if the document is not a JSON object within the limits, if its
    /// `issuer` is not the expected one, or if a member has the wrong type.
    // AUT-13: the issuer is checked in every revision.
    pub fn parse(
        body: &[u8],
        expected: ExpectedIssuer<'_>,
        policy: &UriPolicy,
        limits: &AuthLimits,
    ) -> Result<Self, MetadataError> {
        let document = Document::parse(body, limits.metadata_bytes_max, limits)?;
        Self::read(&document, expected, policy, limits)
    }

    pub(super) fn read(
        document: &Document<'_>,
        expected: ExpectedIssuer<'_>,
        policy: &UriPolicy,
        limits: &AuthLimits,
    ) -> Result<Self, MetadataError> {
        let issuer = Uri::parse(&document.required("issuer")?, limits)
            .map_err(|_| MetadataError::Member("issuer"))?;
        expected.check(&issuer)?;
        let methods = document.texts("token_endpoint_auth_methods_supported")?;
        let algorithms = document.texts("token_endpoint_auth_signing_alg_values_supported")?;
        let grant_types = document.texts("grant_types_supported")?;
        let challenge_methods = document.texts("code_challenge_methods_supported")?;
        Ok(Self {
            issuer,
            authorization_endpoint: endpoint(document, "authorization_endpoint", policy, limits)?,
            token_endpoint: endpoint(document, "token_endpoint", policy, limits)?,
            registration_endpoint: endpoint(document, "registration_endpoint", policy, limits)?,
            auth_methods: methods.map(|names| {
                let known = names.iter().filter_map(|name| ClientAuthMethod::by_name(name));
                ClientAuthMethods::of(known)
            }),
            es256_assertions: algorithms.is_none_or(|names| lists(&names, "ES256")),
            pkce: match challenge_methods {
                None => PkceSupport::Unadvertised,
                Some(names) if lists(&names, "S256") => PkceSupport::S256,
                Some(_) => PkceSupport::Unsupported,
            },
            sends_issuer: document.flag("authorization_response_iss_parameter_supported")?,
            client_id_documents: document.flag("client_id_metadata_document_supported")?,
            offline_access: listed(document, "scopes_supported", "offline_access")?,
            dpop: listed(document, "dpop_signing_alg_values_supported", "ES256")?,
            grant_types: grant_types.map(|names| {
                let known = GrantType::ALL.into_iter();
                known.filter(|grant_type| lists(&names, grant_type.name())).collect()
            }),
        })
    }

    /// Returns whether a grant type is supported; without a list, only authorization codes are,
    /// and refresh tokens may be.
    #[must_use]
    pub fn supports(&self, grant_type: GrantType) -> bool {
        let default = [GrantType::AuthorizationCode, GrantType::RefreshToken];
        self.grant_types.as_deref().unwrap_or(&default).contains(&grant_type)
    }

    /// Writes the metadata as a document that [`parse`](Self::parse) reads back.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        object.str("issuer", self.issuer.as_str());
        for (name, endpoint) in [
            ("authorization_endpoint", &self.authorization_endpoint),
            ("token_endpoint", &self.token_endpoint),
            ("registration_endpoint", &self.registration_endpoint),
        ] {
            object.opt_str(name, endpoint.as_ref().ok().map(Uri::as_str));
        }
        let mut list = |name, values: &mut dyn Iterator<Item = &'static str>| {
            let mut array = Array::begin(object.key(name));
            values.for_each(|value| write_str(array.next(), value));
            array.end();
        };
        if let Some(methods) = self.auth_methods {
            let names = &mut methods.iter().map(ClientAuthMethod::name);
            list("token_endpoint_auth_methods_supported", names);
        }
        if !self.es256_assertions {
            list("token_endpoint_auth_signing_alg_values_supported", &mut [].into_iter());
        }
        match self.pkce {
            PkceSupport::S256 => {
                list("code_challenge_methods_supported", &mut ["S256"].into_iter());
            }
            PkceSupport::Unsupported => {
                list("code_challenge_methods_supported", &mut [].into_iter());
            }
            PkceSupport::Unadvertised => {}
        }
        if self.offline_access {
            list("scopes_supported", &mut ["offline_access"].into_iter());
        }
        if self.dpop {
            list("dpop_signing_alg_values_supported", &mut ["ES256"].into_iter());
        }
        if let Some(grant_types) = &self.grant_types {
            let names = &mut grant_types.iter().map(|grant_type| grant_type.name());
            list("grant_types_supported", names);
        }
        object.bool("authorization_response_iss_parameter_supported", self.sends_issuer);
        object.bool("client_id_metadata_document_supported", self.client_id_documents);
        object.end();
    }
}

fn lists(names: &[Cow<'_, str>], wanted: &str) -> bool {
    names.iter().any(|name| name == wanted)
}

fn listed(
    document: &Document<'_>,
    member: &'static str,
    wanted: &str,
) -> Result<bool, InvalidDocument> {
    Ok(document.texts(member)?.is_some_and(|names| lists(&names, wanted)))
}

fn endpoint(
    document: &Document<'_>,
    name: &'static str,
    policy: &UriPolicy,
    limits: &AuthLimits,
) -> Result<Result<Uri, EndpointError>, InvalidDocument> {
    let Some(text) = document.text(name)? else { return Ok(Err(EndpointError::Missing)) };
    let checked = Uri::parse(&text, limits)
        .map_err(EndpointError::Invalid)
        .and_then(|uri| policy.check(&uri).map(|()| uri).map_err(EndpointError::Refused));
    Ok(checked)
}

/// Why an endpoint of an authorization server cannot be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum EndpointError {
    /// The metadata do not name the endpoint.
    Missing,
    /// The endpoint is no URL.
    Invalid(InvalidUri),
    /// The URL must not be used.
    Refused(UriRefusal),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("the authorization server has no such endpoint"),
            Self::Invalid(invalid) => write!(f, "the endpoint is not usable: {invalid}"),
            Self::Refused(refusal) => write!(f, "the endpoint is not usable: {refusal}"),
        }
    }
}

impl core::error::Error for EndpointError {}

#[cfg(test)]
mod tests;
