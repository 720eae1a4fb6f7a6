//! Roots: the directories and files that a client allows a server to use.

use alloc::string::String;

use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::error::Unencodable;
use crate::revision::{R3, R5, Revision};

object! {
    /// The params of a `roots/list` request.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/roots>.
    pub struct ListRoots {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `roots/list` request: the client's roots.
    pub struct ListRootsResult {
        /// The roots.
        required roots: List<Root> = "roots",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerRequest "roots/list": ListRoots => ListRootsResult);

object! {
    /// A root: a directory or file that the server may use.
    ///
    /// Encoding fails unless [`Root::is_file`] returns `true`.
    pub struct Root checked Root::check {
        /// The root's URI, which must start with `file://`; see [`Root::is_file`].
        // SEC-15: see `is_file`.
        required uri: String = "uri",
        /// Display name.
        optional name: String = "name",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

impl Root {
    /// Returns whether the URI starts with `file://`, as the protocol requires.
    // SEC-15: other schemes are not roots.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.uri.starts_with("file://")
    }

    // SEC-15: a client offers no other roots.
    fn check(&self, _: Revision) -> Result<(), Unencodable> {
        if self.is_file() { Ok(()) } else { Err(Unencodable) }
    }
}

object! {
    /// The params of a `notifications/roots/list_changed` notification. (up to 2025-11-25)
    pub struct RootsListChanged {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/roots/list_changed": RootsListChanged);
