//! Answering a request with questions. (since 2026-07-28)

use alloc::string::String;

use super::containers::{AnyObject, Map};
use super::macros::object;
use super::meta::Meta;

object! {
    /// A result that asks for input first. At least one of its two parts is there. (since 2026-07-28, STL-15)
    pub struct InputRequired tagged "resultType" = "input_required" {
        /// What is asked, by keys of the server's choice.
        optional input_requests: Map<InputRequest> = "inputRequests",
        /// What to send back along with the answers, to the letter.
        optional request_state: String = "requestState",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// One question: a request of the server without an envelope. (since 2026-07-28, STL-16)
    pub struct InputRequest {
        /// What is asked for.
        required method: String = "method",
        /// With what.
        strict params: AnyObject = "params",
    }
}
