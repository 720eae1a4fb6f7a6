//! The application's view of subscriptions to resources: decisions and changes.

use std::sync::Arc;

use mcp_proto::schema::{
    ClientRequest, Subscribe, SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsListen,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Caller, Context, Principal, Raw, Request};

use crate::server::catalog::visibility::{CallerView, UNKNOWN};
use crate::server::handler::EntryHandler;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::required_scopes::check_scopes;
use crate::tasks::LISTEN_KEY;
use crate::transport::link::Link;

/// A decision of the application about a URI.
type UriCheck = Arc<dyn Fn(&str, &Caller) -> bool + Send + Sync>;

/// A decision of the application about an element of a listen key.
type ElementCheck = Arc<dyn Fn(&str, &str, &Caller) -> bool + Send + Sync>;

/// The callback for subscriptions that begin and end.
type ChangeCallback = Arc<dyn Fn(&SubscriptionChange) + Send + Sync>;

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

/// The settings of subscriptions, for [`Server::subscriptions`](crate::Server::subscriptions).
#[derive(Clone, Default)]
#[must_use = "settings have no effect until they are set"]
pub struct SubscriptionSettings {
    pub(in crate::server) on_change: Option<ChangeCallback>,
    /// Decides on subscriptions; `None` accepts the resources of the catalog.
    pub(in crate::server) accept: Option<UriCheck>,
    /// Decides on elements of the listen keys; `None` accepts all.
    pub(in crate::server) accept_element: Option<ElementCheck>,
}

impl SubscriptionSettings {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `callback` when a client subscribes to a resource or ends its subscription.
    ///
    /// This method also declares resource subscriptions if the server declares resources.
    ///
    /// For each connection, principal and resource, `callback` runs when the first subscription
    /// begins and when the last one ends. `callback` runs on a separate thread and may block. The
    /// callbacks of a connection run in order, one at a time. While 1,024 or more callbacks of a
    /// connection are queued, the connection does not read.
    pub fn on_change(
        mut self,
        callback: impl Fn(&SubscriptionChange) + Send + Sync + 'static,
    ) -> Self {
        self.on_change = Some(Arc::new(callback));
        self
    }

    /// Sets a function that decides which resources clients may subscribe to.
    ///
    /// `accept` receives each URI that a client requests, together with the sender of the request.
    /// It returns whether to accept the URI. In the modern era (from revision 2026-07-28), the
    /// acknowledgement lists the accepted URIs. In a legacy session, a request with a refused URI
    /// fails with the error for an unknown resource. `accept` must not block.
    ///
    /// By default, a URI is accepted if it belongs to a registered resource or matches a resource
    /// template that is [visible](crate::Lists::visible_to) to the sender. If only some principals
    /// may read a resource, refuse the subscriptions of others:
    /// [`Changes::resource_updated`](crate::Changes::resource_updated) notifies all subscribers.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::Principal;
    /// use mcp_tokio::{Server, SubscriptionSettings};
    ///
    /// let owned = SubscriptionSettings::new().accept(|uri, caller| {
    ///     let owner = uri.strip_prefix("notes://").and_then(|path| path.split('/').next());
    ///     owner.is_some() && owner == caller.principal().map(Principal::id)
    /// });
    /// let server = Server::new("notes", "1.0.0").subscriptions(owned);
    /// # drop(server);
    /// ```
    pub fn accept(
        mut self,
        accept: impl Fn(&str, &Caller) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.accept = Some(Arc::new(accept));
        self
    }

    /// Sets a function that decides which elements of [listen keys] clients may subscribe to.
    ///
    /// `accept` receives the key, the element, and the sender of the request. It returns whether
    /// to accept the element; the acknowledgement lists the accepted ones. `accept` must not block.
    /// By default, all elements of the keys of [extensions](crate::Server::extension) are accepted.
    ///
    /// Clients subscribe to elements in the modern era (from revision 2026-07-28) only. If only
    /// some principals may learn of an element, refuse the subscriptions of others:
    /// [`Changes::element_changed`](crate::Changes::element_changed) notifies all subscribers.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::{Extension, Principal};
    /// use mcp_tokio::{Server, SubscriptionSettings};
    ///
    /// let owned = SubscriptionSettings::new().accept_elements(|_key, board, caller| {
    ///     let owner = board.split('/').next();
    ///     owner.is_some() && owner == caller.principal().map(Principal::id)
    /// });
    /// let server = Server::new("boards", "1.0.0")
    ///     .extension(Extension::new("com.example/whiteboard").listen_key("boards"))
    ///     .subscriptions(owned);
    /// # drop(server);
    /// ```
    ///
    /// [listen keys]: mcp_proto::Extension::listen_key
    // SEC-02: a client may subscribe only to what the server offers.
    pub fn accept_elements(
        mut self,
        accept: impl Fn(&str, &str, &Caller) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.accept_element = Some(Arc::new(accept));
        self
    }
}

impl SubscriptionSettings {
    /// Returns these settings, with the earlier ones where nothing is set.
    pub(in crate::server) fn over(self, earlier: &Self) -> Self {
        Self {
            on_change: self.on_change.or_else(|| earlier.on_change.clone()),
            accept: self.accept.or_else(|| earlier.accept.clone()),
            accept_element: self.accept_element.or_else(|| earlier.accept_element.clone()),
        }
    }
}

opaque_debug!(SubscriptionSettings);

/// Returns the response to a subscription: the resources and elements of listen keys that the
/// server agrees to report, or the error for an access token that lacks scopes. `None` for any
/// other request.
// SEC-02: a client may subscribe only to what the server offers.
pub(in crate::server) fn accept_subscription(
    link: &Arc<Link<Machine>>,
    seen: &CallerView<'_>,
    request: &Request,
    context: &Context,
) -> Option<Result<SubscriptionsAcknowledged, HandlerError>> {
    let is_subscription = [Subscribe::METHOD, SubscriptionsListen::METHOD]
        .iter()
        .any(|method| request.method == *method);
    if !is_subscription {
        return None;
    }
    let caller = seen.caller();
    let sender = caller.unwrap_or(&UNKNOWN);
    let callbacks = &link.shared.callbacks;
    let mut uris = request.subscribed_uris();
    uris.retain(|uri| !seen.hides_resource(uri));
    let scopes = seen.read(|view| {
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
    uris.retain(|uri| match &callbacks.subscriptions.accept {
        Some(accept) => accept(uri, sender),
        None => seen.read(|view| view.has_resource(uri)),
    });
    let mut filter = SubscriptionFilter::new().resource_subscriptions(uris);
    for (key, elements) in
        accepted_elements(request, &callbacks.listen_keys, &callbacks.subscriptions, sender)
    {
        if let Ok(elements) = Raw::new(&elements) {
            filter.extra.set(key, elements);
        }
    }
    if let Some(tasks) = &link.shared.tasks {
        let ids = tasks.accept_ids(link, request, context);
        if let (false, Ok(ids)) = (ids.is_empty(), Raw::new(&ids)) {
            filter.extra.set(LISTEN_KEY, ids);
        }
    }
    Some(Ok(SubscriptionsAcknowledged::new(filter)))
}

/// Returns the listen keys of a subscription, each with the elements that the application accepts.
fn accepted_elements<'a>(
    request: &Request,
    listen_keys: &'a [Box<str>],
    settings: &'a SubscriptionSettings,
    sender: &Caller,
) -> impl Iterator<Item = (&'a str, Vec<String>)> {
    listen_keys.iter().filter_map(move |key| {
        let mut elements = request.subscribed_elements(key);
        if let Some(accept) = &settings.accept_element {
            elements.retain(|element| accept(key, element, sender));
        }
        (!elements.is_empty()).then_some((&**key, elements))
    })
}
