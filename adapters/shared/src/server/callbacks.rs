//! The callbacks of a server: notifications, sessions, subscriptions and violations of its clients.

use std::sync::Arc;

use mcp_proto::{Raw, Violation};

use super::Server;
use crate::server::client_handle::ClientHandle;
use crate::server::subscriptions::{SubscriptionChange, SubscriptionCx};

impl Server {
    /// Calls `callback` with the method and params of each notification from a client.
    ///
    /// Notifications of a connection arrive in order and one at a time. Not included are those that
    /// have a callback of their own ([`on_roots_changed`](Self::on_roots_changed)), and those that
    /// the library handles: cancellation, progress and the end of the handshake.
    ///
    /// `callback` runs on a separate thread and may block. Each connection queues up to 1,024
    /// callbacks, with up to 32 MiB of params in total. While the queue is full, the connection
    /// reads no messages. While callbacks of 1,024 connections wait for a thread, further
    /// notifications are dropped.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    ///
    /// let server = Server::new("notes", "1.0.0").on_notification(|method, _params, client| {
    ///     let name = client.peer().map_or("a client", |peer| &*peer.info.name);
    ///     println!("{name} sent {method}");
    /// });
    /// # drop(server);
    /// ```
    pub fn on_notification(
        mut self,
        callback: impl Fn(&str, Option<&Raw>, &ClientHandle) + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.callbacks).on_notification = Some(Arc::new(callback));
        self
    }

    /// Calls `callback` when a client reports that its list of [roots] has changed.
    ///
    /// `callback` runs like that of [`on_notification`](Self::on_notification). Only clients of
    /// revisions up to 2025-11-25 send this notification.
    ///
    /// [roots]: https://modelcontextprotocol.io/specification/2025-11-25/client/roots
    pub fn on_roots_changed(
        mut self,
        callback: impl Fn(&ClientHandle) + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.callbacks).on_roots_changed = Some(Arc::new(callback));
        self
    }

    /// Calls `callback` when a client has opened a session.
    ///
    /// `callback` runs like that of [`on_notification`](Self::on_notification). Sessions exist in
    /// the legacy era only (revisions up to 2025-11-25).
    pub fn on_session(mut self, callback: impl Fn(&ClientHandle) + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.callbacks).on_session = Some(Arc::new(callback));
        self
    }

    /// Calls `callback` when a client subscribes to a resource or ends its subscription.
    ///
    /// This method also declares resource subscriptions if the server declares resources.
    ///
    /// For each connection, principal and resource, `callback` runs when the first subscription
    /// begins and when the last one ends. `callback` runs on a separate thread and may block. The
    /// callbacks of a connection run in order, one at a time. While 1,024 or more callbacks of a
    /// connection are queued, the connection does not read.
    pub fn on_subscription(
        mut self,
        callback: impl Fn(&SubscriptionChange) + Send + Sync + 'static,
    ) -> Self {
        self.builder.has_subscriptions = true;
        Arc::make_mut(&mut self.callbacks).on_watch = Some(Arc::new(callback));
        self
    }

    /// Sets a function that decides which resources clients may subscribe to.
    ///
    /// `accept` receives each URI that a client requests, together with the context of the request.
    /// It returns whether to accept the URI. In the modern era (from revision 2026-07-28), the
    /// acknowledgement lists the accepted URIs. In a legacy session, a request with a refused URI
    /// fails with the error for an unknown resource. `accept` must not block.
    ///
    /// By default, a URI is accepted if it belongs to a registered resource or matches a resource
    /// template that is [visible](Self::visible_to) to the sender. If only some principals may read
    /// a resource, refuse the subscriptions of others:
    /// [`Changes::resource_updated`](crate::Changes::resource_updated) notifies all subscribers.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::Principal;
    ///
    /// let server = Server::new("notes", "1.0.0").accept_subscriptions(|uri, cx| {
    ///     let owner = uri.strip_prefix("notes://").and_then(|path| path.split('/').next());
    ///     owner.is_some() && owner == cx.principal().map(Principal::id)
    /// });
    /// # drop(server);
    /// ```
    pub fn accept_subscriptions(
        mut self,
        accept: impl Fn(&str, &SubscriptionCx<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        Arc::make_mut(&mut self.callbacks).accept_subscription = Some(Arc::new(accept));
        self
    }

    /// Calls `callback` for every protocol violation by a client.
    ///
    /// `callback` may block. For one connection, this callback and that of
    /// [`on_subscription`](Self::on_subscription) never run concurrently. While callbacks of 1,024
    /// connections wait for a thread, further violations are not reported.
    pub fn on_violation(mut self, callback: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.callbacks).on_violation = Some(Arc::new(callback));
        self
    }
}
