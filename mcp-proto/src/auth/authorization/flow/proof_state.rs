//! [`ProofState`]: the key, the nonce and the token types of a flow.

use alloc::boxed::Box;

use crate::auth::{PublicKey, TokenError, TokenResponse, TokenType};
use crate::secret::Secret;

/// The use of DPoP in a flow.
#[derive(Debug, Default)]
pub(super) struct ProofState {
    /// The key that tokens are to be bound to, if any.
    key: Option<PublicKey>,
    /// Whether tokens that are not bound are refused.
    is_required: bool,
    /// The nonce that the authorization server wants in the next proof.
    nonce: Option<Secret>,
    /// Whether the current request was repeated for its nonce.
    is_repeated: bool,
}

impl ProofState {
    pub(super) fn new(key: Option<PublicKey>, is_required: bool) -> Self {
        Self { key, is_required, ..Self::default() }
    }

    pub(super) const fn key(&self) -> Option<PublicKey> {
        self.key
    }

    /// Returns the nonce for the next proof.
    pub(super) fn nonce(&self) -> Option<&Secret> {
        self.nonce.as_ref()
    }

    /// Returns the thumbprint of the key, if tokens are to be bound to it.
    pub(super) fn thumbprint(&self) -> Option<Box<str>> {
        self.key.map(|key| key.thumbprint().into())
    }

    /// Keeps the nonce of a response. Returns whether to send the request again with it, which
    /// happens once.
    pub(super) fn on_nonce(&mut self, nonce: Option<&str>, is_demanded: bool) -> bool {
        if let Some(nonce) = nonce {
            self.nonce = Some(nonce.into());
        }
        let repeats = is_demanded && nonce.is_some() && self.key.is_some() && !self.is_repeated;
        self.is_repeated = repeats;
        repeats
    }

    /// Refuses a bound token for a request without proof: there is no key that it could be bound
    /// to.
    // AUT-55.
    pub(super) fn check(&self, tokens: TokenResponse) -> Result<TokenResponse, TokenError> {
        let is_known = tokens.token_type == TokenType::Bearer || self.key.is_some();
        if is_known { Ok(tokens) } else { Err(TokenError::Invalid("token_type")) }
    }

    /// Returns whether a token of this type is refused because it is not bound.
    // AUT-83.
    pub(super) fn is_violated_by(&self, token_type: TokenType) -> bool {
        self.is_required && token_type == TokenType::Bearer
    }

    /// Returns the thumbprint of the key that a token of this type is bound to.
    pub(super) fn binding(&self, token_type: TokenType) -> Option<Box<str>> {
        self.thumbprint().filter(|_| token_type == TokenType::Dpop)
    }
}
