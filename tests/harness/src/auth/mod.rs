//! An authorization without IO in its own world: authorization servers, a store, and a user.

mod environment;
mod issuer;
mod run;
mod shown;

pub use environment::Environment;
pub use issuer::Issuer;
pub use run::{AuthRun, User};
