//! The result by which a server requests input from the client. (since 2026-07-28)

use alloc::string::String;

use super::containers::{AnyObject, Map};
use super::macros::object;
use super::meta::Meta;

object! {
    /// A result that requests input which the server needs to complete. (since 2026-07-28)
    ///
    /// At least one of `input_requests` and `request_state` is present.
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>.
    // STL-15: a result with neither is invalid.
    pub struct InputRequired tagged "resultType" = "input_required" {
        /// Input requests, each under a key that the server chooses.
        optional input_requests: Map<InputRequest> = "inputRequests",
        /// State that the client sends back verbatim when it retries the request.
        optional request_state: String = "requestState",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// One input request: a server request without its envelope. (since 2026-07-28)
    // STL-16: elicitation, sampling and roots requests only.
    pub struct InputRequest {
        /// The method of the request.
        required method: String = "method",
        /// The params of the request.
        strict params: AnyObject = "params",
    }
}
