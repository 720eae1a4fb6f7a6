//! The context of a client's handlers and callbacks: the connection, cancellation and metadata.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::client::Client as Machine;
use mcp_proto::{Peer, Raw};

use crate::exec::cancellation::Cancellation;
use crate::transport::link::Link;

/// The context of a request or notification from a server, for the handlers and callbacks of a
/// [`Client`](crate::Client).
///
/// One client can connect to many servers; the context identifies the connection. Cheap to clone.
/// A clone does not keep the connection open. Only [`sleep`](Self::sleep) blocks.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::Client;
/// use mcp_tokio::proto::schema::ElicitResult;
///
/// let client = Client::new("demo", "1.0.0").on_elicitation(|form, cx| {
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
    cancelled: Arc<Cancellation>,
}

impl ClientCx {
    /// Creates the context of a request.
    pub(crate) const fn of_request(
        link: Arc<Link<Machine>>,
        params: Option<Raw>,
        cancelled: Arc<Cancellation>,
    ) -> Self {
        Self { link, params, cancelled }
    }

    /// Creates the context of anything else that happens on a connection.
    pub(crate) fn of_connection(link: &Arc<Link<Machine>>, params: Option<Raw>) -> Self {
        let cancelled = Arc::clone(&link.shared.ended);
        Self { link: Arc::clone(link), params, cancelled }
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

    /// Blocks for `duration` or until [`is_cancelled`](Self::is_cancelled); returns whether it is.
    #[must_use]
    pub fn sleep(&self, duration: Duration) -> bool {
        self.cancelled.wait_blocking(duration)
    }
}

impl fmt::Debug for ClientCx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCx").field("label", &self.label()).finish_non_exhaustive()
    }
}

/// The context of a request from a server, for an asynchronous handler of a client.
///
/// Dereferences to [`ClientCx`], but has an asynchronous version of [`sleep`](Self::sleep), which
/// does not block.
///
/// When the request is cancelled or the connection ends, the handler's future is dropped at its
/// current `.await`. Spawn a separate task for work that must finish regardless.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::time::Duration;
///
/// use mcp_tokio::Client;
/// use mcp_tokio::proto::schema::ElicitResult;
///
/// let client = Client::new("demo", "1.0.0").on_elicitation_async(|_form, cx| async move {
///     cx.sleep(Duration::from_secs(60)).await;
///     ElicitResult::cancel()
/// });
/// # drop(client);
/// ```
#[derive(Clone, Debug)]
pub struct AsyncClientCx(pub(crate) ClientCx);

impl AsyncClientCx {
    /// Sleeps for `duration`. Works on any runtime.
    ///
    /// Once the connection has ended, this method only yields to other tasks and does not sleep.
    pub async fn sleep(&self, duration: Duration) {
        let link = &self.0.link;
        link.sleep_until(link.clock.now() + duration).await;
    }

    /// Waits until the request is cancelled, by the server or by the end of the connection.
    ///
    /// Use this in separate tasks: the handler's own future is dropped on cancellation.
    pub async fn cancelled(&self) {
        self.0.cancelled.wait().await;
    }
}

impl Deref for AsyncClientCx {
    type Target = ClientCx;

    fn deref(&self) -> &ClientCx {
        &self.0
    }
}
