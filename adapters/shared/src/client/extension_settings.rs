//! Extensions of a client: their declaration, and the handlers of their requests.

use mcp_proto::Extension;
use mcp_proto::schema::{Decode, Encode, ServerRequest};

use super::Client;
use crate::client::answerer::Answerer;
use crate::client::settings::ClientSettings;
use crate::client::task::settings::ClientTasks;
use crate::tasks;

/// Extensions of the protocol.
impl<R> Client<R> {
    /// Declares an extension of the protocol: an [`Extension`] that you define, or
    /// [`ClientTasks`](crate::ClientTasks).
    ///
    /// Requests of the extension are sent with [`Connection::call`], and its notifications with
    /// [`Connection::notify_raw`]. Both fail with [`Misuse::Undeclared`] if the server lacks the
    /// extension; `connection.peer().extension(id)` tells beforehand, and returns the settings of
    /// the server. [`method`](Self::method) sets the handlers of requests from servers, and
    /// [`on_notification`](Self::on_notification) receives the notifications of the extension,
    /// also those of a [`Subscription`](crate::Subscription). See [extensions].
    ///
    /// Connecting fails if the extension is invalid, or contradicts the protocol or another
    /// extension.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::{Extension, ExtensionMethod, Raw, Side};
    /// use mcp_tokio::{Client, Connection, Error};
    ///
    /// let reset = ExtensionMethod::request(Side::Client, "com.example/reset");
    /// let client = Client::new("demo", "1.0.0")
    ///     .extension(Extension::new("com.example/reset").method(reset));
    ///
    /// async fn reset_counters(connection: &Connection) -> Result<(), Error> {
    ///     if connection.peer().extension("com.example/reset").is_some() {
    ///         connection.call_raw("com.example/reset", Raw::empty_object()).await?;
    ///     }
    ///     Ok(())
    /// }
    /// # drop(client);
    /// ```
    ///
    /// [extensions]: https://modelcontextprotocol.io/extensions/overview
    /// [`Connection::call`]: crate::Connection::call
    /// [`Connection::notify_raw`]: crate::Connection::notify_raw
    /// [`Misuse::Undeclared`]: mcp_proto::Misuse::Undeclared
    pub fn extension(mut self, extension: impl ClientExtension) -> Self {
        extension.declare_in(&mut self.settings);
        self
    }

    /// Sets the handler of a request that an [extension](Self::extension) lets servers send.
    ///
    /// The request is a type that implements [`ServerRequest`], with [`Decode`] for its params; its
    /// result also implements [`Encode`]. Requests whose params cannot be decoded are refused with
    /// the error code `-32602`. Servers send requests only in the legacy era (revisions up to
    /// 2025-11-25).
    ///
    /// Connecting fails if no declared extension has the request, or if it has another handler.
    pub fn method<Q, M>(mut self, handler: impl Answerer<Q, Q::Result, M>) -> Self
    where
        Q: ServerRequest<Result: Encode + Send> + Decode + 'static,
    {
        self.settings.extensions.handle(Q::METHOD);
        self.handle(Q::METHOD, handler.prepare())
    }
}

/// What [`Client::extension`] takes: an [`Extension`], or [`ClientTasks`](crate::ClientTasks).
#[expect(private_bounds, reason = "the trait is sealed")]
pub trait ClientExtension: DeclareIn {}

/// Declares an extension of a client.
pub(crate) trait DeclareIn {
    fn declare_in(self, client: &mut ClientSettings);
}

impl ClientExtension for Extension {}

impl DeclareIn for Extension {
    fn declare_in(self, client: &mut ClientSettings) {
        client.config =
            client.extensions.declare(&client.config, self, |config, it| config.extension(it));
    }
}

impl ClientExtension for ClientTasks {}

// TSK-23, TSK-26
impl DeclareIn for ClientTasks {
    fn declare_in(self, client: &mut ClientSettings) {
        if !client.tasks.is_declared {
            match client.config.clone().extension(tasks::extension()) {
                Ok(config) => client.config = config,
                // The client has declared an extension of this id by itself.
                Err(_) => return,
            }
        }
        client.tasks = self;
    }
}
