//! A verifier of JSON Web Tokens, by the public keys of their issuer.

mod algorithm;
mod jwt_verifier;
mod key_set;
mod rotation;
mod signed_token;

pub use jwt_verifier::JwtVerifier;
