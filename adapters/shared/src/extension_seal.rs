//! The seal of the traits by which runtime crates extend servers and clients.

use crate::client::Client;
use crate::server::Server;

/// Seals the traits that extend [`Server`] and [`Client`], so that methods can be added to them
/// later.
pub trait ExtensionSeal {}

impl ExtensionSeal for Server {}
impl ExtensionSeal for Client {}
