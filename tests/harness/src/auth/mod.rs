//! An authorization without IO in a world of its own: authorization servers, a store, and a user.

mod environment;
mod issuer;
mod run;
mod shown;

pub use environment::Environment;
pub use issuer::Issuer;
pub use run::{AuthRun, User};
