//! Notifications about a request in flight: cancellation and progress.

use alloc::string::String;

use super::macros::{message, object};
use super::meta::Meta;
use crate::error::Unencodable;
use crate::revision::{R2, R5, Revision};
use crate::rpc::RequestId;

object! {
    /// Withdraws a request.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation>.
    pub struct CancelledNotification checked CancelledNotification::check {
        /// The request's id. Without it the notification has no effect.
        // D-05: the id is optional in one revision's schema.
        optional request_id: RequestId = "requestId",
        /// Reason, for logs or display.
        optional reason: String = "reason",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl CancelledNotification {
    /// Requires the id in all revisions but the one that makes it optional.
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
    /// Reports progress of a request.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress>.
    pub struct ProgressNotification {
        /// The progress token of the request.
        required progress_token: RequestId = "progressToken",
        /// Progress so far; increases with every notification.
        required progress: f64 = "progress",
        /// Total, if known.
        optional total: f64 = "total",
        /// Message for display. (since 2025-03-26)
        optional message: String = "message" in R2..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientNotification "notifications/progress": ProgressNotification);
message!(ServerNotification "notifications/progress": ProgressNotification);
