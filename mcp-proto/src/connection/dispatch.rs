//! Selects the part of a connection that handles a message.

use super::context::Env;
use super::lifecycle::phase::Phase;
use crate::json::{key_is, members};
use crate::method::MethodId;
use crate::revision::{Era, Side};
use crate::rpc::Params;
use crate::schema::key;

/// The part that handles a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RequestTarget {
    /// Answered immediately, in every phase.
    // T-26, TMO-10: a ping is answered even before `initialize`.
    Ping,
    /// The `initialize` request.
    Initialize,
    /// A request without its own context.
    Session(SessionTarget),
    /// A request that carries its own context.
    Modern(ModernTarget),
}

/// The part that handles a request without its own context.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SessionTarget {
    Application,
    SetLogLevel,
    Subscribe,
    Unsubscribe,
}

/// The part that handles a request that carries its own context.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ModernTarget {
    Application,
    Discover,
    Listen,
}

/// The part that handles a notification.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NotificationTarget {
    Application,
    Cancelled,
    Initialized,
    Progress,
    /// The client's subscriptions.
    Subscription,
}

/// Returns whether a request carries its own context, complete or not.
pub(crate) fn carries_context(params: &Params<'_>) -> bool {
    let names = [key::PROTOCOL_VERSION, key::CLIENT_CAPABILITIES];
    let is_named = |(key, _)| names.iter().any(|name| key_is(key, name));
    params.meta.is_some_and(|meta| members(meta).any(is_named))
}

/// Returns the part that handles a request.
pub(crate) fn request(env: &Env, method: Option<MethodId>, carries_context: bool) -> RequestTarget {
    if carries_context {
        return RequestTarget::Modern(match method {
            Some(MethodId::Discover) => ModernTarget::Discover,
            Some(MethodId::Listen) => ModernTarget::Listen,
            _ => ModernTarget::Application,
        });
    }
    let is_server = env.side() == Side::Server;
    let has_sessions = !is_server || env.identity.newest(Era::Legacy).is_some();
    match method {
        Some(MethodId::Ping) if has_sessions => RequestTarget::Ping,
        Some(MethodId::Initialize) if is_server && env.phase() == Phase::Opening => {
            RequestTarget::Initialize
        }
        Some(MethodId::SetLogLevel) => RequestTarget::Session(SessionTarget::SetLogLevel),
        Some(MethodId::Subscribe) => RequestTarget::Session(SessionTarget::Subscribe),
        Some(MethodId::Unsubscribe) => RequestTarget::Session(SessionTarget::Unsubscribe),
        _ => RequestTarget::Session(SessionTarget::Application),
    }
}

/// Returns the part that handles a notification.
pub(crate) fn notification(env: &Env, method: Option<MethodId>) -> NotificationTarget {
    let is_server = env.side() == Side::Server;
    match method {
        Some(MethodId::Cancelled) => NotificationTarget::Cancelled,
        Some(MethodId::Initialized) if is_server => NotificationTarget::Initialized,
        Some(MethodId::Progress) => NotificationTarget::Progress,
        Some(
            MethodId::Acknowledged
            | MethodId::PromptsChanged
            | MethodId::ResourceUpdated
            | MethodId::ResourcesChanged
            | MethodId::ToolsChanged,
        ) if !is_server => NotificationTarget::Subscription,
        _ => NotificationTarget::Application,
    }
}

#[cfg(test)]
mod tests;
