//! The seal of the traits by which runtime crates extend servers and clients.

use crate::client::Client;
use crate::server::Server;

/// The supertrait of all traits that extend [`Server`] and [`Client`].
///
/// Only these two types implement this trait, so only they can implement the extension traits.
/// Adding a method to an extension trait therefore breaks no other code. Do not implement this
/// trait for other types.
pub trait ExtensionSeal {}

impl ExtensionSeal for Server {}
impl ExtensionSeal for Client {}
