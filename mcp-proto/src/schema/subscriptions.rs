//! Subscriptions to change notifications. (since 2026-07-28)

use alloc::string::String;

use super::common::ResultType;
use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::R5;

object! {
    /// Subscribes to change notifications until the request ends. (since 2026-07-28)
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>.
    pub struct SubscriptionsListen {
        /// Notifications to receive.
        required notifications: SubscriptionFilter = "notifications",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "subscriptions/listen": SubscriptionsListen => SubscriptionsListenResult);

object! {
    /// The notifications of a subscription. (since 2026-07-28)
    pub struct SubscriptionFilter {
        /// Changes of the list of tools.
        optional tools_list_changed: bool = "toolsListChanged",
        /// Changes of the list of prompts.
        optional prompts_list_changed: bool = "promptsListChanged",
        /// Changes of the list of resources.
        optional resources_list_changed: bool = "resourcesListChanged",
        /// URIs of resources whose changes to report.
        optional resource_subscriptions: List<String> = "resourceSubscriptions",
        /// Ids of tasks whose changes to report. (extension)
        optional task_ids: List<String> = "taskIds",
    }
}

object! {
    /// Acknowledges a subscription. (since 2026-07-28)
    // STL-29: precedes all other messages of the subscription.
    pub struct SubscriptionsAcknowledged {
        /// The requested notifications that the server will send.
        required notifications: SubscriptionFilter = "notifications",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/subscriptions/acknowledged": SubscriptionsAcknowledged);

object! {
    /// The end of a subscription, closed by the server. (since 2026-07-28)
    // STL-36: the last message of a subscription that ends gracefully.
    pub struct SubscriptionsListenResult {
        /// Metadata with the subscription's id.
        required meta: Meta = "_meta",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
    }
}
