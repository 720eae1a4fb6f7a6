//! Subscriptions to change notifications. (since 2026-07-28)

use alloc::string::String;

use super::common::ResultType;
use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::R5;

object! {
    /// The params of a `subscriptions/listen` request. (since 2026-07-28)
    ///
    /// Subscribes to change notifications until the request ends.
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>.
    pub struct SubscriptionsListen {
        /// The notifications that the client requests.
        required notifications: SubscriptionFilter = "notifications",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "subscriptions/listen": SubscriptionsListen => SubscriptionsListenResult);

object! {
    /// The notifications selected for a subscription. (since 2026-07-28)
    pub struct SubscriptionFilter {
        /// Whether to report changes to the list of tools.
        optional tools_list_changed: bool = "toolsListChanged",
        /// Whether to report changes to the list of prompts.
        optional prompts_list_changed: bool = "promptsListChanged",
        /// Whether to report changes to the list of resources.
        optional resources_list_changed: bool = "resourcesListChanged",
        /// URIs of the resources whose changes are reported.
        optional resource_subscriptions: List<String> = "resourceSubscriptions",
        /// Ids of the tasks whose status changes are reported. (tasks extension)
        optional task_ids: List<String> = "taskIds",
    }
}

object! {
    /// The params of a `notifications/subscriptions/acknowledged` notification. (since 2026-07-28)
    ///
    /// The server sends it as the first message of a subscription.
    // STL-29: precedes all other messages of the subscription.
    pub struct SubscriptionsAcknowledged {
        /// The subset of the requested notifications that the server will send.
        required notifications: SubscriptionFilter = "notifications",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/subscriptions/acknowledged": SubscriptionsAcknowledged);

object! {
    /// The result of a `subscriptions/listen` request. (since 2026-07-28)
    ///
    /// The server sends this result to end the subscription.
    // STL-36: the last message of a subscription that ends gracefully.
    pub struct SubscriptionsListenResult {
        /// Protocol metadata (`_meta`), which contains the subscription's id.
        required meta: Meta = "_meta",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
    }
}
