//! Roots: the files and folders that a server may use.

use alloc::string::String;

use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::{R3, R5};

object! {
    /// Requests the client's roots.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/roots>.
    pub struct ListRoots {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The client's roots.
    pub struct ListRootsResult {
        /// The roots.
        required roots: List<Root> = "roots",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerRequest "roots/list": ListRoots => ListRootsResult);

object! {
    /// A root: a file or folder that the server may use.
    pub struct Root {
        /// URI of the root.
        // SEC-15: see `is_file`.
        required uri: String = "uri",
        /// Display name.
        optional name: String = "name",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

impl Root {
    /// Returns whether the URI is a `file:` URI, as the protocol requires.
    // SEC-15: other schemes are not roots.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.uri.starts_with("file://")
    }
}

object! {
    /// Notifies the server that the client's roots changed. (up to 2025-11-25)
    pub struct RootsListChanged {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/roots/list_changed": RootsListChanged);
