//! What either side says about a request that is under way: that it is no longer wanted, and how
//! far it has come.

use alloc::string::String;

use super::macros::{message, object};
use super::meta::Meta;
use crate::error::Unencodable;
use crate::revision::{R2, R5, Revision};
use crate::rpc::RequestId;

object! {
    /// Says that a request's answer is no longer wanted.
    pub struct Cancelled checked Cancelled::check {
        /// Which request. One revision's schema leaves it open; without it, it says nothing. (D-05)
        optional request_id: RequestId = "requestId",
        /// Why.
        optional reason: String = "reason",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

impl Cancelled {
    /// Only one revision has a form for it without an id.
    fn check(&self, revision: Revision) -> Result<(), Unencodable> {
        if self.request_id.is_some() || revision.rules().cancelled_without_id {
            Ok(())
        } else {
            Err(Unencodable)
        }
    }
}

message!(ClientNotification "notifications/cancelled": Cancelled);
message!(ServerNotification "notifications/cancelled": Cancelled);

object! {
    /// Says how far a request has come.
    pub struct ProgressMade {
        /// The token that the request came with.
        required progress_token: RequestId = "progressToken",
        /// How far. Grows.
        required progress: f64 = "progress",
        /// Out of how much.
        optional total: f64 = "total",
        /// A sentence for people. (since 2025-03-26)
        optional message: String = "message" in R2..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/progress": ProgressMade);
message!(ServerNotification "notifications/progress": ProgressMade);
