//! The members of `_meta` that say who sends a modern message, read as types.

use super::capabilities::Capabilities;
use super::lifecycle::Implementation;
use super::logging::Level;
use super::meta::{Meta, key};

impl Meta {
    /// What the client can do, for this request. (since 2026-07-28)
    #[must_use]
    pub fn client_capabilities(&self) -> Option<Capabilities> {
        self.read(key::CLIENT_CAPABILITIES)
    }

    /// Who the client is. (since 2026-07-28)
    #[must_use]
    pub fn client_info(&self) -> Option<Implementation> {
        self.read(key::CLIENT_INFO)
    }

    /// The least grave log message that is wanted. (since 2026-07-28)
    #[must_use]
    pub fn log_level(&self) -> Option<Level> {
        self.read(key::LOG_LEVEL)
    }

    /// Who the server is. (since 2026-07-28)
    #[must_use]
    pub fn server_info(&self) -> Option<Implementation> {
        self.read(key::SERVER_INFO)
    }
}
