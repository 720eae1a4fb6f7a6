//! [`ScopeChallenge`]: what the challenges of a rejected request say about authorization.

use super::event::RejectedRequest;
use crate::auth::{AuthLimits, InvalidUri, OAuthError, Scopes, TokenType, Uri};
use crate::http::client::Challenge;

/// The challenge for OAuth of a rejected request.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct ScopeChallenge {
    /// The scopes that the request needs; empty if none are named.
    pub(super) scopes: Scopes,
    /// The URL of the resource metadata, if it is named, or why it cannot be used.
    pub(super) metadata: Option<Result<Uri, InvalidUri>>,
    /// Whether the reason is a lack of scopes.
    pub(super) is_about_scopes: bool,
    /// What the challenges say about tokens that are bound to a key.
    pub(super) dpop: DpopSupport,
    /// The error of a DPoP proof, if the server rejected one.
    pub(super) proof_error: Option<OAuthError>,
}

/// What an MCP server says about tokens that are bound to a key (DPoP), in growing order.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum DpopSupport {
    #[default]
    Unknown,
    /// It accepts them.
    Accepted,
    /// It accepts no others.
    Required,
}

impl ScopeChallenge {
    /// Reads the challenges for OAuth; the first of each parameter counts.
    // other schemes hide nothing, and text inside of other parameters matches nothing.
    pub(super) fn of(request: &RejectedRequest<'_>, limits: &AuthLimits) -> Self {
        let challenges = || request.challenges.iter().filter(|it| token_type_of(it).is_some());
        let param = |name| challenges().find_map(|challenge| challenge.param(name));
        let scopes = param("scope").and_then(|text| Scopes::parse(text, limits).ok());
        let error = param("error");
        let is_about_scopes = error == Some("insufficient_scope");
        let is_about_proof = matches!(error, Some("use_dpop_nonce" | "invalid_dpop_proof"));
        let names = |token_type| challenges().any(|it| token_type_of(it) == Some(token_type));
        let dpop = match (names(TokenType::Dpop), names(TokenType::Bearer)) {
            (false, _) => DpopSupport::Unknown,
            (true, true) => DpopSupport::Accepted,
            (true, false) => DpopSupport::Required,
        };
        Self {
            scopes: scopes.unwrap_or_default(),
            metadata: param("resource_metadata").map(|url| Uri::parse(url, limits)),
            is_about_scopes: request.status == 403 && is_about_scopes,
            dpop,
            proof_error: error.filter(|_| is_about_proof).map(OAuthError::new),
        }
    }

    /// Adds what a later request needs. The first metadata URL counts.
    pub(super) fn join(&mut self, other: Self, limits: &AuthLimits) {
        if let Ok(union) = self.scopes.union(&other.scopes, limits) {
            self.scopes = union;
        }
        self.metadata = self.metadata.take().or(other.metadata);
        self.is_about_scopes |= other.is_about_scopes;
        self.dpop = self.dpop.max(other.dpop);
    }
}

/// Returns how tokens are used in the scheme of a challenge; `None` for schemes without tokens.
fn token_type_of(challenge: &Challenge) -> Option<TokenType> {
    TokenType::by_name(&challenge.scheme)
}
