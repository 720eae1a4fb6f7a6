//! Verifiers of access tokens: the seam, and those for common tokens.

mod fixed_tokens;
#[cfg(feature = "auth")]
mod jwt;
mod token_verifier;

pub use fixed_tokens::FixedTokens;
#[cfg(feature = "auth")]
pub use jwt::JwtVerifier;
pub use token_verifier::{TokenVerifier, VerifyError};
