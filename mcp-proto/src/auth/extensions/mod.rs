//! What extensions of authorization sign: client assertions and DPoP proofs.

mod dpop_prover;
mod jwt;

pub use dpop_prover::DpopProver;
pub use jwt::{DpopProof, PublicKey, UnsignedJwt};
