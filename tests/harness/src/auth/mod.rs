//! An authorization without IO in a world of its own: authorization servers, a store, and a user.

mod issuer;
mod places;
mod run;
mod shown;

pub use issuer::Issuer;
pub use places::Places;
pub use run::{AuthRun, User};
