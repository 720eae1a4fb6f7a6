//! The `data` of the protocol's own errors.

use alloc::string::String;

use super::containers::{AnyObject, List};
use super::elicitation::ElicitUrl;
use super::macros::object;

object! {
    /// The data of error -32022: the server does not support the request's revision. (since
    /// 2026-07-28)
    // LIF-24: the server lists the revisions it supports.
    pub struct UnsupportedVersion {
        /// Names of the supported revisions.
        required supported: List<String> = "supported",
        /// Name of the requested revision.
        required requested: String = "requested",
    }
}

object! {
    /// The data of error -32021: the request needs capabilities that the client did not declare.
    /// (since 2026-07-28)
    // CAP-15: the error names the missing capabilities.
    pub struct MissingCapabilities {
        /// The missing capabilities, as the client would declare them.
        required required_capabilities: AnyObject = "requiredCapabilities",
    }
}

object! {
    /// The data of error -32042: the user must visit URLs before the request is retried.
    /// (2025-11-25)
    // SEC-10: used for URL elicitation only.
    pub struct UrlElicitationRequired {
        /// The URL elicitations to complete.
        required elicitations: List<ElicitUrl> = "elicitations",
    }
}
