//! [`Credentials`]: the `Authorization` header of the requests, and its [`Generation`].

use alloc::string::String;
use core::fmt;

use crate::http::redact::remove_secrets;
use crate::secret::Secret;

/// The number of a grant: of one access token with its scopes.
///
/// Generations only grow. Each request remembers the generation that it carried, so that many
/// requests that are rejected with one token cause one renewal.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Generation(u64);

impl Generation {
    /// Creates a generation from its number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generation {}", self.0)
    }
}

/// The credentials for requests to the MCP server.
///
/// If the scheme is `DPoP` (RFC 9449), the token is bound to a key, and each request needs a proof
/// of that key besides the token: see [`needs_proof`](super::HttpRequest::needs_proof).
///
/// ```
/// use mcp_proto::http::client::{Credentials, Generation};
///
/// let credentials = Credentials::new(Generation::new(1), "Bearer abc".into());
/// assert_eq!(credentials.authorization.expose(), "Bearer abc");
/// assert!(!format!("{credentials:?}").contains("abc"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Credentials {
    /// The generation, which each request with these credentials remembers.
    pub generation: Generation,
    /// The value of the `Authorization` header, such as `Bearer …`.
    pub authorization: Secret,
}

impl Credentials {
    /// Creates credentials.
    #[must_use]
    pub const fn new(generation: Generation, authorization: Secret) -> Self {
        Self { generation, authorization }
    }
}

/// Returns whether the scheme of an `Authorization` header is `DPoP`.
pub(super) fn is_dpop(authorization: &Secret) -> bool {
    let (name, value) = ("DPoP ", authorization.expose().as_bytes());
    value.get(..name.len()).is_some_and(|scheme| scheme.eq_ignore_ascii_case(name.as_bytes()))
}

/// The credentials of the requests, and whether the server has accepted them.
#[derive(Debug, Default)]
pub(super) struct CurrentCredentials {
    pub(super) credentials: Option<Credentials>,
    /// The latest generation that the server has accepted.
    pub(super) accepted: Option<Generation>,
    /// The latest generation that must not be used any more.
    forgotten: Option<Generation>,
    /// Whether each request needs a DPoP proof.
    is_dpop: bool,
    /// The latest nonce that the server has provided for DPoP proofs.
    pub(super) dpop_nonce: Option<Secret>,
}

impl CurrentCredentials {
    pub(super) fn set(&mut self, credentials: Credentials) {
        self.is_dpop = is_dpop(&credentials.authorization);
        self.credentials = Some(credentials);
    }

    /// Forgets credentials up to this generation; returns whether they were in use.
    pub(super) fn forget(&mut self, generation: Generation) -> bool {
        self.forgotten = self.forgotten.max(Some(generation));
        let is_forgotten = self.generation().is_some_and(|current| current <= generation);
        if is_forgotten {
            (self.credentials, self.is_dpop, self.dpop_nonce) = (None, false, None);
        }
        is_forgotten
    }

    pub(super) fn is_forgotten(&self, generation: Generation) -> bool {
        self.forgotten >= Some(generation)
    }

    /// Replaces the access token in a text of the server.
    pub(super) fn removed_from(&self, text: String) -> String {
        let authorization = self.credentials.as_ref().map(|it| it.authorization.expose());
        let token = authorization.map_or("", |it| it.split_once(' ').map_or(it, |(_, it)| it));
        remove_secrets(&text, &[token.trim()])
    }

    pub(super) const fn is_dpop(&self) -> bool {
        self.is_dpop
    }

    pub(super) fn generation(&self) -> Option<Generation> {
        self.credentials.as_ref().map(|credentials| credentials.generation)
    }
}
