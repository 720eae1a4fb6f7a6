//! The settings of a client for lost connections, as methods of its builder.

use std::sync::Arc;

use crate::client::Client;
use crate::client::context::ClientCx;
use crate::client::recovery::Recovery;
use crate::client::recovery::state::ConnectionState;

impl<R> Client<R> {
    /// Sets how lost connections are recovered. Default: [`Recovery::new`].
    ///
    /// A connection that was opened by `spawn` or over HTTP is opened again if the server's process
    /// dies, closes its stdout or stops responding, or if the server loses the session and cannot
    /// open another one immediately. The handles of the connection, and their clones, remain valid.
    /// [`on_connection_state`](Self::on_connection_state) reports what happens.
    ///
    /// A connection is not recovered if the application has closed it or has dropped the last
    /// handle, which also ends a recovery in progress; if the server has violated the protocol,
    /// supports no common revision or refuses the authorization; or if it uses a given pair of byte
    /// streams, which cannot be opened again.
    ///
    /// The client repeats on the new connection:
    ///
    /// - The log level.
    /// - The subscriptions that the server had acknowledged. Each one then delivers a change for
    ///   everything that it covers, because changes may have been missed. This also applies if only
    ///   the session of a server or the stream of the subscription was lost, and if a server that
    ///   stops has ended the subscription: each subscription then has as many attempts as the
    ///   connection, with equal delays. See [`Subscription`](crate::Subscription) for the ends
    ///   that are final.
    ///
    /// The client never repeats a call that was sent. Such a call fails with
    /// [`CallError::Lost`](mcp_proto::CallError::Lost), because the server may have acted on it. A
    /// call that is made during a recovery was not sent: it waits for the new connection, for its
    /// [timeout](crate::Call::timeout) or 60 s, and then fails with
    /// [`CallError::TimedOut`](mcp_proto::CallError::TimedOut). Cached results are dropped. A
    /// [`TaskHandle`](crate::TaskHandle) fails, and continues after
    /// [`attach`](crate::TaskHandle::attach) to the recovered connection.
    // FRM-22: a server that died can be restarted.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.settings.recovery = recovery;
        self
    }

    /// Calls `callback` when a connection is open, is lost, is being recovered or is given up.
    ///
    /// `callback` runs on a separate thread and may block. For one connection, the states arrive in
    /// order and one at a time. The end of a connection that the application closes is not
    /// reported.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Client, ConnectionState};
    ///
    /// let client = Client::new("demo", "1.0.0").on_connection_state(|state, cx| {
    ///     let server = cx.label().unwrap_or("server");
    ///     match state {
    ///         ConnectionState::Lost { reason, .. } => eprintln!("{server}: {reason}"),
    ///         ConnectionState::GaveUp { error, .. } => eprintln!("{server}: gave up: {error}"),
    ///         _ => {}
    ///     }
    /// });
    /// # drop(client);
    /// ```
    pub fn on_connection_state(
        mut self,
        callback: impl Fn(&ConnectionState, &ClientCx) + Send + Sync + 'static,
    ) -> Self {
        self.settings.callbacks.on_connection_state = Some(Arc::new(callback));
        self
    }
}
