//! Results that request input from the client. (since 2026-07-28)

use alloc::string::String;

use super::containers::{AnyObject, Map};
use super::macros::object;
use super::meta::Meta;

object! {
    /// A result that requests input before the final result. (since 2026-07-28)
    ///
    /// At least one of `input_requests` and `request_state` is present.
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>.
    // STL-15: a result with neither is invalid.
    pub struct InputRequired tagged "resultType" = "input_required" {
        /// Input requests, by keys that the server chooses.
        optional input_requests: Map<InputRequest> = "inputRequests",
        /// State for the client to echo verbatim with its responses.
        optional request_state: String = "requestState",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// One input request: a server request without its envelope. (since 2026-07-28)
    // STL-16: elicitation, sampling and roots requests only.
    pub struct InputRequest {
        /// The method.
        required method: String = "method",
        /// The params.
        strict params: AnyObject = "params",
    }
}
