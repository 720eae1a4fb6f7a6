//! Tasks: requests whose answers are fetched later.

use super::macros::object;

object! {
    /// Asks for a request to be run as a task. (2025-11-25)
    pub struct TaskRequest {
        /// For how many milliseconds to keep its result.
        optional ttl: u64 = "ttl",
    }
}
