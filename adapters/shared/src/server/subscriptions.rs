//! The application's view of subscriptions to resources: decisions and changes.

use std::fmt;
use std::sync::Arc;

use mcp_proto::schema::{
    ClientRequest, Subscribe, SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsListen,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Context, Principal, Request};

#[cfg(feature = "http")]
use crate::http::RequestHead;
#[cfg(feature = "http")]
use crate::server::handler::context::HandlerLink as _;
use crate::server::visibility::with_view;
use crate::transport::link::Link;

/// A decision of the application about a URI.
pub(crate) type UriCheck = Arc<dyn Fn(&str, &SubscriptionCx<'_>) -> bool + Send + Sync>;

/// The beginning or end of a client's subscriptions to a resource over one connection.
///
/// A client can subscribe to a resource several times over one connection. For each principal, only
/// the start of the first subscription and the end of the last one are reported.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SubscriptionChange {
    /// The first subscription to the resource began on the connection.
    #[non_exhaustive]
    Began {
        /// The URI of the resource.
        uri: String,
        /// The authenticated sender of the subscription, if any.
        principal: Option<Principal>,
    },
    /// The last subscription to the resource ended on the connection.
    #[non_exhaustive]
    Ended {
        /// The URI of the resource.
        uri: String,
        /// The authenticated sender of the subscription, if any.
        principal: Option<Principal>,
    },
}

impl SubscriptionChange {
    /// Returns the URI of the resource.
    #[must_use]
    pub fn uri(&self) -> &str {
        match self {
            Self::Began { uri, .. } | Self::Ended { uri, .. } => uri,
        }
    }

    /// Returns the authenticated sender of the subscription; `None` if it is not authenticated.
    #[must_use]
    pub const fn principal(&self) -> Option<&Principal> {
        match self {
            Self::Began { principal, .. } | Self::Ended { principal, .. } => principal.as_ref(),
        }
    }
}

/// The context of a request to subscribe, for
/// [`Server::accept_subscriptions`](crate::Server::accept_subscriptions).
#[derive(Clone, Copy)]
pub struct SubscriptionCx<'a> {
    context: &'a Context,
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "only HTTP has sessions"))]
    link: &'a Arc<Link<Machine>>,
}

impl<'a> SubscriptionCx<'a> {
    /// Returns the authenticated sender of the request.
    ///
    /// Returns `None` if the sender is not authenticated, as over stdio.
    #[must_use]
    pub fn principal(&self) -> Option<&'a Principal> {
        self.context.principal()
    }

    /// Returns the protocol context of the request, such as its client and `_meta`.
    #[must_use]
    pub const fn context(&self) -> &'a Context {
        self.context
    }

    /// Returns the head of the HTTP request that carried this request.
    ///
    /// Returns `None` if the client is not connected over HTTP.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn head(&self) -> Option<&'a RequestHead> {
        self.context.caller.as_ref()?.data()
    }

    /// Returns the id of the client's HTTP session.
    ///
    /// Returns `None` if the client is not connected over HTTP, and in revision 2026-07-28, which
    /// has no sessions. The id is a credential: do not log it.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn session_id(&self) -> Option<String> {
        self.link.session_id()
    }
}

impl fmt::Debug for SubscriptionCx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubscriptionCx")
            .field("principal", &self.principal())
            .finish_non_exhaustive()
    }
}

/// Returns the response to a subscription: the resources that the server agrees to report. `None`
/// for any other request.
// SEC-02: a client may subscribe only to what the server offers.
pub(super) fn accept_subscription(
    link: &Arc<Link<Machine>>,
    request: &Request,
    context: &Context,
) -> Option<SubscriptionsAcknowledged> {
    let is_subscription = [Subscribe::METHOD, SubscriptionsListen::METHOD]
        .iter()
        .any(|method| request.method == *method);
    if !is_subscription {
        return None;
    }
    let cx = SubscriptionCx { context, link };
    let catalog = link.shared.changes.catalog();
    let filter = link.shared.entry_filter.as_ref();
    let mut uris = request.subscribed_uris();
    uris.retain(|uri| match &link.shared.callbacks.accept_subscription {
        Some(accept) => accept(uri, &cx),
        None => {
            with_view(&catalog, filter, context.caller.as_deref(), |view| view.has_resource(uri))
        }
    });
    let filter = SubscriptionFilter::new().resource_subscriptions(uris);
    Some(SubscriptionsAcknowledged::new(filter))
}
