//! Worlds of one authorization among hostile authorization servers.

mod hostile;
mod identities;
mod world;

pub use world::{AuthFailure, AuthTally, run_auth};
