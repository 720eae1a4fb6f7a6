//! The methods of the protocol: [`MethodId`] and its wire names.

mod name;

use core::fmt;

pub use name::Method;

macro_rules! methods {
    (
        requests { $($request:ident = $request_name:literal,)+ }
        notifications { $($notice:ident = $notice_name:literal,)+ }
    ) => {
        /// A request or notification method that at least one revision of the protocol defines.
        ///
        /// A request and a notification never share a name. Methods that only extensions define
        /// have no `MethodId`.
        ///
        /// ```
        /// use mcp_proto::MethodId;
        ///
        /// assert_eq!(MethodId::from_name("tools/call"), Some(MethodId::CallTool));
        /// assert_eq!(MethodId::CallTool.name(), "tools/call");
        /// assert_eq!(MethodId::from_name("frobnicate"), None);
        /// ```
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "each is named for its method")]
        pub enum MethodId { $($request,)+ $($notice,)+ }

        impl MethodId {
            /// Returns the method with this wire name, or `None` if no revision defines it.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::from_bytes(name.as_bytes())
            }

            /// Like [`from_name`](Self::from_name), for bytes that may be invalid UTF-8.
            pub(crate) fn from_bytes(name: &[u8]) -> Option<Self> {
                Some(match name {
                    $(name if name == $request_name.as_bytes() => Self::$request,)+
                    $(name if name == $notice_name.as_bytes() => Self::$notice,)+
                    _ => return None,
                })
            }

            /// Returns the method's wire name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$request => $request_name,)+
                    $(Self::$notice => $notice_name,)+
                }
            }

            /// Returns whether the method is a request rather than a notification.
            #[must_use]
            pub const fn is_request(self) -> bool {
                matches!(self, $(Self::$request)|+)
            }

            #[cfg(test)]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$request,)+ $(Self::$notice,)+];
        }
    };
}

methods! {
    requests {
        CallTool = "tools/call",
        CancelTask = "tasks/cancel",
        Complete = "completion/complete",
        CreateMessage = "sampling/createMessage",
        Discover = "server/discover",
        Elicit = "elicitation/create",
        GetPrompt = "prompts/get",
        GetTask = "tasks/get",
        GetTaskResult = "tasks/result",
        Initialize = "initialize",
        ListPrompts = "prompts/list",
        ListResourceTemplates = "resources/templates/list",
        ListResources = "resources/list",
        ListRoots = "roots/list",
        ListTasks = "tasks/list",
        ListTools = "tools/list",
        Listen = "subscriptions/listen",
        Ping = "ping",
        ReadResource = "resources/read",
        SetLogLevel = "logging/setLevel",
        Subscribe = "resources/subscribe",
        Unsubscribe = "resources/unsubscribe",
    }
    notifications {
        Acknowledged = "notifications/subscriptions/acknowledged",
        Cancelled = "notifications/cancelled",
        ElicitationComplete = "notifications/elicitation/complete",
        Initialized = "notifications/initialized",
        LogMessage = "notifications/message",
        Progress = "notifications/progress",
        PromptsChanged = "notifications/prompts/list_changed",
        ResourceUpdated = "notifications/resources/updated",
        ResourcesChanged = "notifications/resources/list_changed",
        RootsChanged = "notifications/roots/list_changed",
        TaskStatus = "notifications/tasks/status",
        ToolsChanged = "notifications/tools/list_changed",
    }
}

impl fmt::Display for MethodId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_convert_both_ways() {
        for id in MethodId::ALL {
            assert_eq!(MethodId::from_name(id.name()), Some(*id));
            assert_eq!(id.is_request(), !id.name().starts_with("notifications/"), "{id}");
        }
        assert_eq!(MethodId::from_name("tools/Call"), None);
    }
}
