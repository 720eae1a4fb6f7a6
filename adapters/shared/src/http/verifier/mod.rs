//! Verifiers of access tokens: the seam, and those for common tokens.

mod fixed_tokens;
#[cfg(feature = "jwt")]
mod jwt;
mod token_verifier;

pub use fixed_tokens::FixedTokens;
#[cfg(feature = "jwt")]
pub use jwt::JwtVerifier;
pub use token_verifier::{TokenVerifier, VerifyError};
