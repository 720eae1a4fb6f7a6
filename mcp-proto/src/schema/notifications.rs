//! Notifications about a request in flight: cancellation and progress.

use alloc::string::String;

use super::macros::{message, object};
use super::meta::Meta;
use crate::error::Unencodable;
use crate::revision::{R2, R5, Revision};
use crate::rpc::RequestId;

object! {
    /// The params of a `notifications/cancelled` notification, which cancels a request.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation>.
    pub struct CancelledNotification checked CancelledNotification::check {
        /// Id of the request to cancel.
        ///
        /// Only revision 2025-11-25 allows a notification without an id, which cancels nothing. For
        /// any other revision, encoding fails if the id is absent.
        // D-05: the id is optional in one revision's schema.
        optional request_id: RequestId = "requestId",
        /// Reason for the cancellation, for logs or display.
        optional reason: String = "reason",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl CancelledNotification {
    /// Requires the id, except in the revision that makes it optional.
    fn check(&self, revision: Revision) -> Result<(), Unencodable> {
        if self.request_id.is_some() || revision.rules().cancelled_without_id {
            Ok(())
        } else {
            Err(Unencodable)
        }
    }
}

message!(ClientNotification "notifications/cancelled": CancelledNotification);
message!(ServerNotification "notifications/cancelled": CancelledNotification);

object! {
    /// The params of a `notifications/progress` notification about a request in flight.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress>.
    pub struct ProgressNotification {
        /// The progress token that the request carried in its `_meta`.
        required progress_token: RequestId = "progressToken",
        /// Progress so far; must increase with every notification.
        required progress: f64 = "progress",
        /// The value of `progress` at completion, if known.
        optional total: f64 = "total",
        /// Message for display. (since 2025-03-26)
        optional message: String = "message" in R2..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/progress": ProgressNotification);
message!(ServerNotification "notifications/progress": ProgressNotification);
