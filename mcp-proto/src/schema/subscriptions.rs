//! Hearing of changes. (since 2026-07-28)

use alloc::string::String;

use super::common::ResultType;
use super::containers::List;
use super::macros::{message, object};
use super::meta::Meta;
use crate::revision::R5;

object! {
    /// Asks to hear of changes, for as long as the request is open. (since 2026-07-28)
    pub struct Listen {
        /// Of which.
        required notifications: SubscriptionFilter = "notifications",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "subscriptions/listen": Listen => ListenResult);

object! {
    /// Which changes to hear of. (since 2026-07-28)
    pub struct SubscriptionFilter {
        /// When the list of tools changed.
        optional tools_list_changed: bool = "toolsListChanged",
        /// When the list of prompts changed.
        optional prompts_list_changed: bool = "promptsListChanged",
        /// When the list of resources changed.
        optional resources_list_changed: bool = "resourcesListChanged",
        /// When one of these resources changed: their URIs.
        optional resource_subscriptions: List<String> = "resourceSubscriptions",
        /// When one of these tasks changed. (extension)
        optional task_ids: List<String> = "taskIds",
    }
}

object! {
    /// Says which changes will be heard of. (since 2026-07-28, STL-29)
    pub struct SubscriptionsAcknowledged {
        /// Those of what was asked for that the server tells of.
        required notifications: SubscriptionFilter = "notifications",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/subscriptions/acknowledged": SubscriptionsAcknowledged);

object! {
    /// Says that no more will be heard, because the server ends the subscription. (since 2026-07-28, STL-36)
    pub struct ListenResult {
        /// Which subscription.
        required meta: Meta = "_meta",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
    }
}
