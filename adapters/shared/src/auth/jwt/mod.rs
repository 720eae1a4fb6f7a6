//! A verifier of JSON Web Tokens, by the public keys of their issuer.
//!
//! The signatures are verified by `ring`, which TLS uses as well.
// Not by `jsonwebtoken` 12: it has no back end on `ring`. One of ours takes as many lines as it
// saves, is global to the process, and another crate may install its own before. It decodes no
// header with the algorithm `Ed25519`, and leaves the choice of the algorithm and the key (`kid`,
// `use`), `typ` and the lengths of coordinates to its user.

mod algorithm;
mod discovery;
mod jwt_verifier;
mod key_set;
mod rotation;
mod signed_token;

pub use jwt_verifier::JwtVerifier;
