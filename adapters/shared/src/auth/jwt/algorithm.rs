//! The signature algorithms of JSON Web Tokens.
//!
//! <https://www.rfc-editor.org/rfc/rfc7518#section-3.1>

/// An algorithm with a public key. Algorithms with shared keys, and `none`, do not exist here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Algorithm {
    Es256,
    Es384,
    Rs256,
    Ps256,
    EdDsa,
}

impl Algorithm {
    /// Returns the algorithm of this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "ES256" => Self::Es256,
            "ES384" => Self::Es384,
            "RS256" => Self::Rs256,
            "PS256" => Self::Ps256,
            // RFC 9864 gives EdDSA with this curve its own name.
            "EdDSA" | "Ed25519" => Self::EdDsa,
            _ => return None,
        })
    }
}
