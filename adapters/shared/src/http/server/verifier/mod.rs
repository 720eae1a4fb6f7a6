//! Verifiers of access tokens: the seam, and those for common tokens.

mod fixed_tokens;
mod token_verifier;

pub use fixed_tokens::FixedTokens;
pub use token_verifier::{TokenVerifier, VerifyError};
