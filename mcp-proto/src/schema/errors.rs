//! What the `data` of the protocol's own errors holds.

use alloc::string::String;

use super::containers::{AnyObject, List};
use super::elicitation::ElicitUrl;
use super::macros::object;

object! {
    /// The data of -32022: the request was made in a revision that the server does not speak. (since 2026-07-28,
    /// LIF-24)
    pub struct UnsupportedVersion {
        /// The names of those that it speaks.
        required supported: List<String> = "supported",
        /// The name of the one that was asked for.
        required requested: String = "requested",
    }
}

object! {
    /// The data of -32021: the request needs what the client did not declare. (since 2026-07-28, CAP-15)
    pub struct MissingCapabilities {
        /// What the client would have to declare.
        required required_capabilities: AnyObject = "requiredCapabilities",
    }
}

object! {
    /// The data of -32042: the user must go somewhere first. (2025-11-25, SEC-10)
    pub struct UrlElicitationRequired {
        /// Where.
        required elicitations: List<ElicitUrl> = "elicitations",
    }
}
