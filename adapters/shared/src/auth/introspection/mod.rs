//! A verifier that asks the authorization server about tokens.
//!
//! <https://www.rfc-editor.org/rfc/rfc7662>

mod answer;
mod cache;
mod questions;
mod slots;
mod verifier;

pub use verifier::IntrospectionVerifier;
