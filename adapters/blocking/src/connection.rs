//! An open connection to a server, with operations that block.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;

use futures_lite::future::block_on;
use mcp_adapter::Error;
use mcp_adapter::proto::schema::{CallToolResult, ClientRequest, Level, Tool};
use mcp_adapter::proto::{CloseReason, Era, Filter, Peer, Raw, Revision};
use serde::Serialize;

use crate::call::Call;
use crate::drive::is_driver;
use crate::subscription::Subscription;

/// An open connection to a server. Cheap to clone; clones share the connection.
///
/// Dropping the last clone closes the connection, shuts down a server that was started for it, and
/// blocks until that is done, like [`close`](Self::close).
#[derive(Clone)]
pub struct Connection {
    inner: Arc<CloseOnDrop>,
}

struct CloseOnDrop(mcp_adapter::Connection);

impl Connection {
    pub(crate) fn new(connection: mcp_adapter::Connection) -> Self {
        Self { inner: Arc::new(CloseOnDrop(connection)) }
    }

    /// Returns the connection with futures instead of blocking operations, for programs with an
    /// executor of any kind.
    ///
    /// A clone of the returned value does not keep the connection open: it is closed when the last
    /// blocking handle is dropped.
    #[must_use]
    pub fn as_async(&self) -> &mcp_adapter::Connection {
        &self.inner.0
    }

    /// Returns the server's description of itself.
    ///
    /// # Panics
    /// Never: a connection exists only once the server has identified itself.
    #[must_use]
    pub fn peer(&self) -> Arc<Peer> {
        self.as_async().peer()
    }

    /// Returns the negotiated protocol revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.as_async().revision()
    }

    /// Returns the era of the server. Pass it to [`Client::expect_era`](crate::Client::expect_era)
    /// to save a round trip the next time.
    #[must_use]
    pub fn era(&self) -> Era {
        self.as_async().era()
    }

    /// Returns all tools of the server, from all pages.
    ///
    /// # Errors
    /// Fails if a call fails, if the server repeats a cursor, or if it returns too many pages.
    // PAG-07
    pub fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        block_on(self.as_async().list_tools())
    }

    /// Calls a tool. The arguments must serialize to a JSON object.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, CallToolResult> {
        Call(self.as_async().call_tool(name, arguments))
    }

    /// Checks the result of a tool against its output schema. Without a schema, every result
    /// passes.
    ///
    /// The schema comes from the server and is not trusted: external references and schemas that
    /// would take too many steps to evaluate are refused.
    ///
    /// # Errors
    /// A description of what is wrong with the result or the schema.
    #[cfg(feature = "jsonschema")]
    pub fn check_result(&self, tool: &Tool, result: &CallToolResult) -> Result<(), String> {
        self.as_async().check_result(tool, result)
    }

    /// Calls any method that has a request type.
    pub fn call<'c, R: ClientRequest + Send + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
        Call(self.as_async().call(request))
    }

    /// Calls any method by name.
    pub fn call_raw<'c>(&'c self, method: &str, params: Raw) -> Call<'c, Raw> {
        Call(self.as_async().call_raw(method, params))
    }

    /// Sends a
    /// [ping](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping) and
    /// waits for the response. Legacy era only.
    ///
    /// # Errors
    /// If the server does not respond;
    /// [`Misuse::Unsupported`](crate::proto::Misuse::Unsupported) in the modern era.
    pub fn ping(&self) -> Result<(), Error> {
        block_on(self.as_async().ping())
    }

    /// Requests log messages of at least this level; they arrive as notifications. In the modern
    /// era, this applies to the calls made from now on.
    ///
    /// # Errors
    /// If the server does not offer log messages, or the call fails.
    pub fn set_log_level(&self, level: Level) -> Result<(), Error> {
        block_on(self.as_async().set_log_level(level))
    }

    /// Subscribes to changes. Waits for the server's acknowledgment, which may cover less than
    /// requested; see [`Subscription::acknowledged`].
    ///
    /// ```no_run
    /// # fn main() -> Result<(), mcp_blocking::Error> {
    /// # let command = std::process::Command::new("weather-server");
    /// use mcp_blocking::{Client, Connect};
    /// use mcp_blocking::proto::Filter;
    ///
    /// let connection = Client::new("demo", "1.0.0").spawn(command)?;
    /// for change in connection.subscribe(&Filter::new().tools().resource("weather://oslo"))? {
    ///     println!("{change:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the server does not support the subscription, or does not acknowledge it in time.
    pub fn subscribe(&self, filter: &Filter) -> Result<Subscription, Error> {
        block_on(self.as_async().subscribe(filter)).map(Subscription)
    }

    /// Restarts a dead server, or reconnects over HTTP: returns a new connection with an equal
    /// configuration.
    ///
    /// Every [`Subscription`] of this connection that is still held and that ended with the
    /// connection continues on the new one; changes in between are not reported. Calls in flight
    /// stay lost, and the log level must be set again. A connection that is still open is closed
    /// first. This handle keeps referring to the old connection.
    ///
    /// # Errors
    /// Like [`Connect::spawn`](crate::Connect::spawn) and connecting over HTTP; [`Error::Io`] of
    /// kind `Unsupported` for a connection over a pair of byte streams.
    // FRM-22: a server that died can be restarted. STL-38: changes are not replayed.
    pub fn reconnect(&self) -> Result<Self, Error> {
        block_on(self.as_async().reconnect()).map(Self::new)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// If it cannot be sent.
    pub fn notify_raw(&self, method: &str, params: Option<&Raw>) -> Result<(), Error> {
        block_on(self.as_async().notify_raw(method, params))
    }

    /// Closes the connection and shuts down a server that was started for it. Waits for that, and
    /// returns the exit status of the process. Calls in flight end as lost.
    ///
    /// # Errors
    /// If the connection ended with a protocol fault of the server.
    pub fn close(self) -> Result<Option<ExitStatus>, Error> {
        block_on(self.as_async().clone().close())
    }

    /// Returns how the connection ended, if it has.
    #[must_use]
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.as_async().close_reason()
    }

    /// Returns the latest lines that the server wrote to stderr.
    #[must_use]
    pub fn stderr(&self) -> Vec<String> {
        self.as_async().stderr()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.start_close();
        // A driver thread must not wait: it would wait for itself.
        if !is_driver() {
            block_on(self.0.wait_ended());
        }
    }
}
