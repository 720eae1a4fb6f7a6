//! The application's view of subscriptions to resources: decisions and changes.

use std::fmt;
use std::sync::Arc;

use mcp_proto::schema::{
    ClientRequest, Subscribe, SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsListen,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Context, Principal, Raw, Request};

#[cfg(feature = "http")]
use crate::http::RequestHead;
use crate::server::handler::EntryHandler;
#[cfg(feature = "http")]
use crate::server::handler::context::HandlerLink as _;
use crate::server::handler::handler_error::HandlerError;
use crate::server::required_scopes::check_scopes;
use crate::server::tasks::{LISTEN_KEY, accept_task_ids};
use crate::transport::link::Link;

/// A decision of the application about a URI.
pub(crate) type UriCheck = Arc<dyn Fn(&str, &SubscriptionCx<'_>) -> bool + Send + Sync>;

/// A decision of the application about an element of a listen key.
pub(crate) type ElementCheck = Arc<dyn Fn(&str, &str, &SubscriptionCx<'_>) -> bool + Send + Sync>;

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
/// [`Server::accept_subscriptions`](crate::Server::accept_subscriptions) and
/// [`Server::accept_elements`](crate::Server::accept_elements).
#[derive(Clone, Copy)]
pub struct SubscriptionCx<'a> {
    context: &'a Context,
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

    /// Returns the head of the HTTP request that carried this request (feature `http`).
    ///
    /// Returns `None` if the client is not connected over HTTP.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn head(&self) -> Option<&'a RequestHead> {
        self.context.caller.as_ref()?.data()
    }

    /// Returns the id of the client's HTTP session (feature `http`).
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

/// Returns the response to a subscription: the resources and elements of listen keys that the
/// server agrees to report, or the error for an access token that lacks scopes. `None` for any
/// other request.
// SEC-02: a client may subscribe only to what the server offers.
pub(super) fn accept_subscription(
    link: &Arc<Link<Machine>>,
    request: &Request,
    context: &Context,
) -> Option<Result<SubscriptionsAcknowledged, HandlerError>> {
    let is_subscription = [Subscribe::METHOD, SubscriptionsListen::METHOD]
        .iter()
        .any(|method| request.method == *method);
    if !is_subscription {
        return None;
    }
    let cx = SubscriptionCx { context, link };
    let catalog = link.shared.changes.catalog();
    let caller = context.caller.as_deref();
    let visibility = &link.shared.visibility;
    let mut uris = request.subscribed_uris();
    uris.retain(|uri| !visibility.hides_resource(&catalog, caller, uri));
    let scopes = visibility.with_view(&catalog, caller, |view| {
        let handlers = uris.iter().flat_map(|uri| {
            view.resource_handler(uri).into_iter().chain(view.lookalike_handlers(uri))
        });
        handlers
            .flat_map(|handler: &EntryHandler| handler.scopes().get())
            .cloned()
            .collect::<Vec<_>>()
    });
    if let Err(error) = check_scopes(caller, scopes.iter().map(|scope| &**scope)) {
        return Some(Err(error));
    }
    uris.retain(|uri| match &link.shared.callbacks.accept_subscription {
        Some(accept) => accept(uri, &cx),
        None => visibility.with_view(&catalog, caller, |view| view.has_resource(uri)),
    });
    let mut filter = SubscriptionFilter::new().resource_subscriptions(uris);
    for (key, elements) in accepted_elements(request, &cx) {
        if let Ok(elements) = Raw::new(&elements) {
            filter.extra.set(key, elements);
        }
    }
    if let Some(tasks) = &link.shared.tasks {
        let ids = accept_task_ids(link, tasks, request, context);
        if let (false, Ok(ids)) = (ids.is_empty(), Raw::new(&ids)) {
            filter.extra.set(LISTEN_KEY, ids);
        }
    }
    Some(Ok(SubscriptionsAcknowledged::new(filter)))
}

/// Returns the listen keys of a subscription, each with the elements that the application accepts.
fn accepted_elements<'a>(
    request: &Request,
    cx: &SubscriptionCx<'a>,
) -> impl Iterator<Item = (&'a str, Vec<String>)> {
    let callbacks = &cx.link.shared.callbacks;
    callbacks.listen_keys.iter().filter_map(move |key| {
        let mut elements = request.subscribed_elements(key);
        if let Some(accept) = &callbacks.accept_element {
            elements.retain(|element| accept(key, element, cx));
        }
        (!elements.is_empty()).then_some((&**key, elements))
    })
}
