//! Typed accessors for the identity members of `_meta` in the modern era.

use super::capabilities::Capabilities;
use super::lifecycle::Implementation;
use super::logging::Level;
use super::meta::{Meta, key};

impl Meta {
    /// Returns the client's capabilities for this request, if present. (since 2026-07-28)
    ///
    /// Convert the returned capabilities with [`Capabilities::reinterpret`] before you call
    /// [`Capabilities::has`]. Without the conversion, `has` always returns `false`.
    #[must_use]
    pub fn client_capabilities(&self) -> Option<Capabilities> {
        self.read(key::CLIENT_CAPABILITIES)
    }

    /// Returns the client's name and version, if present. (since 2026-07-28)
    #[must_use]
    pub fn client_info(&self) -> Option<Implementation> {
        self.read(key::CLIENT_INFO)
    }

    /// Returns the minimum level of log messages about the request, if present. (since 2026-07-28)
    #[must_use]
    pub fn log_level(&self) -> Option<Level> {
        self.read(key::LOG_LEVEL)
    }

    /// Returns the server's name and version, if present. (since 2026-07-28)
    #[must_use]
    pub fn server_info(&self) -> Option<Implementation> {
        self.read(key::SERVER_INFO)
    }
}
