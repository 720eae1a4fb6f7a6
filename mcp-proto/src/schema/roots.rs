//! Roots: where a server may look.

use alloc::string::String;

use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::{R3, R5};

object! {
    /// Asks the client for its roots.
    pub struct ListRoots {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The client's roots.
    pub struct ListRootsResult {
        /// The roots.
        required roots: List<Root> = "roots",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerRequest "roots/list": ListRoots => ListRootsResult);

object! {
    /// A place where a server may look.
    pub struct Root {
        /// Where it is. (SEC-15)
        required uri: String = "uri",
        /// A name for people.
        optional name: String = "name",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

impl Root {
    /// Whether it is what a root must be: a `file:` URI. (SEC-15)
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.uri.starts_with("file://")
    }
}

object! {
    /// Says that the client's roots changed. (up to 2025-11-25)
    pub struct RootsListChanged {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/roots/list_changed": RootsListChanged);
