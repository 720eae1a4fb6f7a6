//! [`ProtectedResourceMetadata`]: which authorization servers an MCP server trusts (RFC 9728).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::document::Document;
use super::limits::AuthLimits;
use super::metadata_error::MetadataError;
use super::reach::UriPolicy;
use super::scopes::{InvalidScopes, Scopes};
use super::uri::Uri;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The metadata of an MCP server as a protected resource, checked.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, ProtectedResourceMetadata, Reach, Uri, UriPolicy};
///
/// let limits = AuthLimits::default();
/// let url = Uri::parse("https://mcp.example/mcp", &limits).unwrap();
/// let locations = ProtectedResourceMetadata::locations(&url, &limits);
/// let first = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
/// assert_eq!(locations[0].as_str(), first);
///
/// let body = br#"{
///     "resource": "https://mcp.example",
///     "authorization_servers": ["https://as.example/tenant"],
///     "scopes_supported": ["files:read"]
/// }"#;
/// let policy = UriPolicy::of_server(Reach::Public);
/// let metadata = ProtectedResourceMetadata::parse(body, &url, &policy, &limits).unwrap();
/// assert_eq!(metadata.resource.as_str(), "https://mcp.example");
/// assert_eq!(metadata.authorization_servers[0].as_str(), "https://as.example/tenant");
/// ```
///
/// [Specification][spec]
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProtectedResourceMetadata {
    /// The identifier of the resource, which covers the URL of the MCP server.
    ///
    /// Requests to the authorization server send it byte for byte.
    // AUT-49: the value of `resource`.
    pub resource: Uri,
    /// The issuers of the authorization servers, in order; at least one.
    pub authorization_servers: Vec<Uri>,
    /// The scopes that the resource supports, if it lists them.
    pub scopes_supported: Option<Scopes>,
    /// Whether the resource accepts DPoP proofs that are signed with ES256 (RFC 9449).
    pub dpop: bool,
    /// Whether the resource accepts only tokens that are bound to a key by DPoP.
    pub dpop_required: bool,
}

impl ProtectedResourceMetadata {
    /// Returns where the metadata may be, if no challenge says: with the path of `url` inserted,
    /// then at the root.
    // AUT-11.
    #[must_use]
    pub fn locations(url: &Uri, limits: &AuthLimits) -> Vec<Uri> {
        let (origin, path) = (url.origin(), url.path_without_final_slash());
        let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
        let inserted = format!("{origin}{WELL_KNOWN}{path}{query}");
        let root = format!("{origin}{WELL_KNOWN}");
        let mut locations: Vec<Uri> = Vec::new();
        for location in [inserted, root] {
            let location = Uri::parse(&location, limits).ok();
            locations.extend(location.filter(|location| !locations.contains(location)));
        }
        locations
    }

    /// Parses and checks a document for the MCP server at `url`.
    ///
    /// Of the authorization servers, at most [`AuthLimits::authorization_servers_max`] are read,
    /// and those whose URLs are invalid or refused by `policy` are left out.
    ///
    /// # Errors
    ///
    /// Returns [`MetadataError`] if
    /// - the document is not a JSON object within the limits;
    /// - `resource` is missing, or does not [cover](Uri::covers) `url`;
    /// - no authorization server is left; or
    /// - there are too many scopes.
    // AUT-38: otherwise nothing of the document is used.
    pub fn parse(
        body: &[u8],
        url: &Uri,
        policy: &UriPolicy,
        limits: &AuthLimits,
    ) -> Result<Self, MetadataError> {
        let document = Document::parse(body, limits.metadata_bytes_max, limits)?;
        let resource = Uri::parse(&document.required("resource")?, limits)
            .map_err(|_| MetadataError::Member("resource"))?;
        if !resource.covers(url) {
            // The query of the server's URL may be a secret.
            let (shown, _) = url.as_str().split_once('?').unwrap_or((url.as_str(), ""));
            let (expected, found) = (shown.into(), resource.as_str().into());
            return Err(MetadataError::Resource { expected, found });
        }
        Ok(Self {
            resource,
            authorization_servers: servers(&document, policy, limits)?,
            scopes_supported: scopes(&document, limits)?,
            dpop: document
                .texts("dpop_signing_alg_values_supported")?
                .is_some_and(|names| names.iter().any(|name| name == "ES256")),
            dpop_required: document.flag("dpop_bound_access_tokens_required")?,
        })
    }
}

fn servers(
    document: &Document<'_>,
    policy: &UriPolicy,
    limits: &AuthLimits,
) -> Result<Vec<Uri>, MetadataError> {
    let listed = document.texts("authorization_servers")?.unwrap_or_default();
    let listed = listed.iter().take(limits.authorization_servers_max);
    let mut servers: Vec<Uri> = Vec::new();
    let mut refused = None;
    // An issuer has no query (RFC 8414, section 2).
    for uri in listed.filter_map(|text| Uri::parse(text, limits).ok()) {
        match policy.check(&uri) {
            _ if uri.query().is_some() || servers.contains(&uri) => {}
            Ok(()) => servers.push(uri),
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    match refused {
        _ if !servers.is_empty() => Ok(servers),
        Some(refusal) => Err(MetadataError::Refused(refusal)),
        None => Err(MetadataError::Member("authorization_servers")),
    }
}

/// Reads the supported scopes. Invalid ones are left out, since no request could ask for them.
fn scopes(document: &Document<'_>, limits: &AuthLimits) -> Result<Option<Scopes>, MetadataError> {
    let Some(listed) = document.texts("scopes_supported")? else { return Ok(None) };
    let mut scopes = Scopes::new();
    for scope in listed {
        match scopes.insert(&scope, limits) {
            Ok(()) | Err(InvalidScopes::Character) => {}
            Err(too_many) => return Err(MetadataError::Scopes(too_many)),
        }
    }
    Ok(Some(scopes))
}

#[cfg(test)]
mod tests;
