//! The handlers and callbacks of a client.

use std::sync::{Arc, Mutex};

use mcp_proto::schema::{
    CreateMessage, CreateMessageResult, Elicit, ElicitResult, ElicitUrl, ListRoots,
    ListRootsResult, LogMessage,
};
use mcp_proto::{Capability, Raw, Violation};

use super::Client;
use crate::client::answerer::{Answerer, PreparedAnswerer};
use crate::client::context::ClientCx;
use crate::client::request_handler::{FORM, ROOTS, SAMPLING, URL};

impl<R> Client<R> {
    /// Sets the function that answers form [elicitations] by showing the form to the user.
    ///
    /// [`Form`](mcp_proto::schema::Form) has methods that fill in default values and check an
    /// answer.
    ///
    /// [elicitations]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation
    // CAP-02: the handler declares the capability.
    pub fn on_elicitation<M>(self, answer: impl Answerer<Elicit, ElicitResult, M>) -> Self {
        self.capability(Capability::ElicitationForm).handle(FORM, answer.prepare())
    }

    /// Sets the function that answers URL elicitations (since 2025-11-25) by sending the user to
    /// the URL.
    ///
    /// `answer` must show the full URL to the user and open it only with the user's consent.
    // SEC-07: no URL is opened without consent.
    pub fn on_url_elicitation<M>(self, answer: impl Answerer<ElicitUrl, ElicitResult, M>) -> Self {
        self.capability(Capability::ElicitationUrl).handle(URL, answer.prepare())
    }

    /// Sets the function that answers [sampling] requests by calling a model.
    ///
    /// If `sample` returns an error, the server receives the error.
    ///
    /// [sampling]: https://modelcontextprotocol.io/specification/2025-11-25/client/sampling
    pub fn on_sampling<M>(
        self,
        sample: impl Answerer<CreateMessage, CreateMessageResult, M>,
    ) -> Self {
        self.capability(Capability::Sampling).handle(SAMPLING, sample.prepare())
    }

    /// Sets the function that returns the list of [roots] when the server requests it.
    ///
    /// [roots]: https://modelcontextprotocol.io/specification/2025-11-25/client/roots
    pub fn on_roots<M>(self, roots: impl Answerer<ListRoots, ListRootsResult, M>) -> Self {
        self.capability(Capability::Roots).handle(ROOTS, roots.prepare())
    }

    /// Calls `callback` with the method and params of each notification from the server.
    ///
    /// Notifications arrive in order and one at a time. Log messages are included
    /// unless [`on_log`](Self::on_log) is set. Changes reported by a
    /// [`Subscription`](crate::Subscription) are not included.
    ///
    /// `callback` runs on a separate thread and may block. Each connection queues up to 1,024
    /// notifications, with up to 32 MiB of params in total. Clones of this client share `callback`,
    /// which runs for one connection at a time.
    ///
    /// `callback` may run late: a call can return before `callback` has run for a notification that
    /// arrived earlier than the response. In a `testing::pair`, `callback` runs first.
    ///
    /// While the queue is full, the connection reads no messages. If `callback` waits for the
    /// result of a call during that time, the call may time out.
    pub fn on_notification(
        mut self,
        callback: impl FnMut(&str, Option<&Raw>, &ClientCx) + Send + 'static,
    ) -> Self {
        self.settings.callbacks.on_notification = Some(Arc::new(Mutex::new(callback)));
        self
    }

    /// Calls `callback` with each [log message] from the server.
    ///
    /// With this callback, the client requests the level `info` in each session with a server that
    /// supports logging. [`set_log_level`](crate::Connection::set_log_level) selects another level,
    /// which then applies to later sessions, too.
    ///
    /// `callback` runs like that of [`on_notification`](Self::on_notification), never concurrently
    /// with it for one connection, and shares its queue. The callback for notifications then
    /// receives only malformed log messages.
    ///
    /// [log message]: https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Client;
    ///
    /// let client = Client::new("demo", "1.0.0").on_log(|log, cx| {
    ///     println!("{}: {}", cx.label().unwrap_or("server"), log.data);
    /// });
    /// # drop(client);
    /// ```
    pub fn on_log(
        mut self,
        callback: impl Fn(&LogMessage, &ClientCx) + Send + Sync + 'static,
    ) -> Self {
        self.settings.callbacks.on_log = Some(Arc::new(callback));
        self
    }

    /// Calls `callback` for every protocol violation by the server.
    ///
    /// `callback` may block. For one connection, this callback and that of
    /// [`on_notification`](Self::on_notification) never run concurrently.
    pub fn on_violation(
        mut self,
        callback: impl Fn(&Violation, &ClientCx) + Send + Sync + 'static,
    ) -> Self {
        self.settings.callbacks.on_violation = Some(Arc::new(callback));
        self
    }
}

impl<R> Client<R> {
    pub(super) fn handle(mut self, key: &'static str, answerer: PreparedAnswerer) -> Self {
        self.settings.handlers.insert(key, answerer.0);
        self
    }
}
