//! The result with which a server requests input from the client. (since 2026-07-28)

use alloc::string::String;

use super::containers::{AnyObject, Map};
use super::macros::object;
use super::meta::Meta;

object! {
    /// An interim result with which the server asks the client for input. (since 2026-07-28)
    ///
    /// At least one of `input_requests` and `request_state` must be present.
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>.
    // STL-15: a result with neither is invalid.
    pub struct InputRequired tagged "resultType" = "input_required" {
        /// Input requests, each under a key that the server chooses.
        optional input_requests: Map<InputRequest> = "inputRequests",
        /// State that the client sends back verbatim when it sends the request again.
        optional request_state: String = "requestState",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A request for input. (since 2026-07-28)
    ///
    /// Contains the method and params of an elicitation, sampling or roots request.
    // STL-16: elicitation, sampling and roots requests only.
    pub struct InputRequest {
        /// The request's method.
        required method: String = "method",
        /// The request's params.
        strict params: AnyObject = "params",
    }
}
