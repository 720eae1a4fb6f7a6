//! [`MetadataError`]: why a metadata document is not used.

use alloc::boxed::Box;
use core::fmt;

use super::document::InvalidDocument;
use super::reach::UriRefusal;
use super::scopes::InvalidScopes;

/// Why a metadata document of a resource or an authorization server is not used.
///
/// ```
/// use mcp_proto::auth::{AuthLimits, MetadataError, ProtectedResourceMetadata, Reach, Uri};
/// use mcp_proto::auth::UriPolicy;
///
/// let limits = AuthLimits::default();
/// let url = Uri::parse("https://mcp.example/mcp", &limits).unwrap();
/// let policy = UriPolicy::of_server(Reach::Public);
/// let error = ProtectedResourceMetadata::parse(b"<html>", &url, &policy, &limits).unwrap_err();
/// assert_eq!(error, MetadataError::Json);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum MetadataError {
    /// The document exceeds [`AuthLimits::metadata_bytes_max`](super::AuthLimits).
    Length,
    /// The document is not one JSON object, or is nested too deeply.
    Json,
    /// The named member is missing, repeated, or invalid.
    Member(&'static str),
    /// The document describes another resource.
    Resource {
        /// The URL of the MCP server, without its query, which may be a secret.
        expected: Box<str>,
        /// The resource in the document.
        found: Box<str>,
    },
    /// The document describes another authorization server.
    Issuer {
        /// The issuer whose document was requested.
        expected: Box<str>,
        /// The issuer in the document.
        found: Box<str>,
    },
    /// The URLs of all authorization servers are refused; the reason is that of the first.
    Refused(UriRefusal),
    /// The supported scopes are too many.
    Scopes(InvalidScopes),
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("the metadata exceed `AuthLimits::metadata_bytes_max`"),
            Self::Json => f.write_str("the metadata are not a JSON object of acceptable depth"),
            Self::Member(name) => write!(f, "`{name}` of the metadata is missing or invalid"),
            Self::Resource { expected, found } => {
                write!(f, "the metadata are of resource {found}, which does not cover {expected}")
            }
            Self::Issuer { expected, found } => {
                write!(f, "the metadata are of issuer {found}, not of {expected}")
            }
            Self::Refused(refusal) => write!(f, "no authorization server can be used: {refusal}"),
            Self::Scopes(scopes) => write!(f, "`scopes_supported` of the metadata: {scopes}"),
        }
    }
}

impl core::error::Error for MetadataError {}

impl From<InvalidDocument> for MetadataError {
    fn from(invalid: InvalidDocument) -> Self {
        match invalid {
            InvalidDocument::Length => Self::Length,
            InvalidDocument::Json => Self::Json,
            InvalidDocument::Member(name) => Self::Member(name),
        }
    }
}
