//! The context of a client's handlers and callbacks: the connection, cancellation and metadata.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::client::Client as Machine;
use mcp_proto::{CallId, Peer, Raw, Request};

use crate::box_future::BoxFuture;
use crate::exec::cancellation::Cancellation;
use crate::transport::link::Link;

/// The context of a request or notification from a server, for the handlers and callbacks of a
/// [`Client`](crate::Client).
///
/// One client can connect to many servers; the context identifies the connection. Cheap to clone.
/// A clone does not keep the connection open. No method blocks: [`sleep`](Self::sleep) returns an
/// operation that is awaited or waited for.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::schema::{Elicit, ElicitResult};
/// use mcp_tokio::{Client, ClientCx};
///
/// let client = Client::new("demo", "1.0.0").on_elicitation(|form: Elicit, cx: ClientCx| {
///     println!("{} asks: {}", cx.label().unwrap_or("a server"), form.message);
///     ElicitResult::decline()
/// });
/// let files = client.clone().label("files");
/// let weather = client.label("weather");
/// # drop((files, weather));
/// ```
#[derive(Clone)]
pub struct ClientCx {
    link: Arc<Link<Machine>>,
    params: Option<Raw>,
    call: Option<CallId>,
    cancelled: Arc<Cancellation>,
}

impl ClientCx {
    /// Creates the context of a request.
    pub(crate) fn of_request(
        link: Arc<Link<Machine>>,
        request: &Request,
        call: Option<CallId>,
        cancelled: Arc<Cancellation>,
    ) -> Self {
        Self { link, params: request.params.clone(), call, cancelled }
    }

    /// Creates the context of anything else that happens on a connection.
    pub(crate) fn of_connection(link: &Arc<Link<Machine>>, params: Option<Raw>) -> Self {
        let cancelled = Arc::clone(&link.shared.ended);
        Self { link: Arc::clone(link), params, call: None, cancelled }
    }

    pub(crate) const fn link(&self) -> &Arc<Link<Machine>> {
        &self.link
    }

    pub(crate) const fn cancellation(&self) -> &Arc<Cancellation> {
        &self.cancelled
    }

    /// Returns the id of the call that the server's question is about, as
    /// [`Pending::id`](crate::Pending::id) returns it.
    ///
    /// The id is known in the modern era (from revision 2026-07-28), and over HTTP if the server
    /// asks on the stream of the call, as the specification requires. In other legacy sessions,
    /// servers do not name the call, and this method returns `None`. It also returns `None` in a
    /// context that belongs to no question. To answer the questions of one call differently, give
    /// that call [handlers](crate::Call::on_elicitation).
    #[must_use]
    pub const fn call(&self) -> Option<CallId> {
        self.call
    }

    /// Returns the label of the connection, as set with [`Client::label`](crate::Client::label).
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.link.shared.label.as_deref()
    }

    /// Returns the server's description of itself.
    ///
    /// A server may send log messages and write to stderr before it has identified itself. Until
    /// then, returns `None`. The handler of a request always receives `Some`.
    ///
    /// The description is not verified: use [`label`](Self::label) where identity matters.
    #[must_use]
    pub fn peer(&self) -> Option<Arc<Peer>> {
        self.link.inspect(|state| state.role.peer.clone())
    }

    /// Returns the `_meta` object of the request or notification, if it has one.
    #[must_use]
    pub fn meta(&self) -> Option<Raw> {
        self.params.as_ref()?.member("_meta")
    }

    /// Returns whether the request was cancelled, by the server or by the end of the connection.
    ///
    /// For a notification, a violation or a line of stderr, returns whether the connection has
    /// ended.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_set()
    }

    /// Waits until [`is_cancelled`](Self::is_cancelled).
    ///
    /// Use this in separate tasks: the future of a handler is dropped on cancellation.
    pub async fn cancelled(&self) {
        self.cancelled.wait().await;
    }

    /// Sleeps for `duration`, on any runtime.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use std::time::Duration;
    ///
    /// use mcp_tokio::proto::schema::ElicitResult;
    /// use mcp_tokio::{Client, ClientCx};
    ///
    /// let client = Client::new("demo", "1.0.0").on_elicitation(async |cx: ClientCx| {
    ///     cx.sleep(Duration::from_secs(60)).await;
    ///     ElicitResult::cancel()
    /// });
    /// # drop(client);
    /// ```
    pub fn sleep(&self, duration: Duration) -> ClientSleep<'_> {
        ClientSleep { cx: self, duration }
    }
}

/// A sleep; see [`ClientCx::sleep`].
#[derive(Debug)]
#[must_use = "a sleep does nothing unless it is awaited, or waited for with `.wait()`"]
pub struct ClientSleep<'a> {
    cx: &'a ClientCx,
    duration: Duration,
}

impl ClientSleep<'_> {
    /// Blocks until the duration has passed or [`ClientCx::is_cancelled`] is true; returns whether
    /// the sleep was cut short by the cancellation.
    #[must_use]
    pub fn wait(self) -> bool {
        self.cx.cancelled.wait_blocking(self.duration)
    }
}

impl<'a> IntoFuture for ClientSleep<'a> {
    type Output = ();
    type IntoFuture = BoxFuture<'a, ()>;

    /// Once the connection has ended, the future only yields to other tasks and does not sleep.
    fn into_future(self) -> BoxFuture<'a, ()> {
        let link = &self.cx.link;
        Box::pin(link.sleep_until(link.clock.now() + self.duration))
    }
}

opaque_debug!(ClientCx, it => label: it.label());
