//! The `data` of errors that the protocol defines.

use alloc::string::String;

use super::containers::{AnyObject, List};
use super::elicitation::ElicitUrl;
use super::macros::object;

object! {
    /// The `data` member of error -32022, unsupported revision. (since 2026-07-28)
    ///
    /// The server does not support the request's revision.
    // LIF-24: the server lists the revisions it supports.
    pub struct UnsupportedVersion {
        /// Names of the revisions that the server supports.
        required supported: List<String> = "supported",
        /// Name of the request's revision.
        required requested: String = "requested",
    }
}

object! {
    /// The `data` member of error -32021, missing client capability. (since 2026-07-28)
    ///
    /// The request needs capabilities that the client did not declare.
    // CAP-15: the error names the missing capabilities.
    pub struct MissingCapabilities {
        /// The missing capabilities, in the JSON form in which a client declares capabilities.
        required required_capabilities: AnyObject = "requiredCapabilities",
    }
}

object! {
    /// The `data` member of error -32042, URL elicitation required. (2025-11-25 only)
    ///
    /// The user must visit the URLs before the client retries the request.
    // SEC-10: used for URL elicitation only.
    pub struct UrlElicitationRequired {
        /// The URL elicitations to complete.
        required elicitations: List<ElicitUrl> = "elicitations",
    }
}
