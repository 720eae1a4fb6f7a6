//! The callbacks of a server: notifications, sessions, subscriptions and violations of its clients.

use std::sync::Arc;

use mcp_proto::{Raw, Violation};

use crate::server::Server;
use crate::server::connection::subscriptions::SubscriptionSettings;
use crate::server::handler::client_handle::ClientHandle;

impl<R> Server<R> {
    /// Calls `callback` with the method and params of each notification from a client.
    ///
    /// Notifications of a connection arrive in order and one at a time. Not included are those that
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
        Arc::make_mut(&mut self.settings.callbacks).on_notification = Some(Arc::new(callback));
        self
    }

    /// Calls `callback` when a client has opened a session.
    ///
    /// `callback` runs like that of [`on_notification`](Self::on_notification). Sessions exist in
    /// the legacy era only (revisions up to 2025-11-25).
    pub fn on_session(mut self, callback: impl Fn(&ClientHandle) + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.settings.callbacks).on_session = Some(Arc::new(callback));
        self
    }

    /// Sets which subscriptions of clients are accepted, and the callback that reports them.
    ///
    /// If called again, settings that the second call leaves out keep their values.
    pub fn subscriptions(mut self, settings: SubscriptionSettings) -> Self {
        self.settings.builder.has_subscriptions |= settings.on_change.is_some();
        let callbacks = Arc::make_mut(&mut self.settings.callbacks);
        callbacks.subscriptions = settings.over(&callbacks.subscriptions);
        self
    }

    /// Calls `callback` for every protocol violation by a client.
    ///
    /// `callback` may block. For one connection, this callback and that of
    /// [`SubscriptionSettings::on_change`] never run concurrently. While callbacks of 1,024
    /// connections wait for a thread, further violations are not reported.
    pub fn on_violation(mut self, callback: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        Arc::make_mut(&mut self.settings.callbacks).on_violation = Some(Arc::new(callback));
        self
    }
}
