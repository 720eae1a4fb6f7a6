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

/// A client's connection to a server. Cheap to clone; clones share the connection.
///
/// Dropping the last clone closes the connection like [`close`](Self::close): it shuts down a
/// server started by `spawn` and blocks until that is done.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<CloseOnDrop>,
}

struct CloseOnDrop(mcp_adapter::Connection);

impl Connection {
    pub(crate) fn new(connection: mcp_adapter::Connection) -> Self {
        Self { inner: Arc::new(CloseOnDrop(connection)) }
    }

    /// Returns the asynchronous form of this connection, for use with any executor.
    ///
    /// Clones of the returned value do not keep the connection open: it is closed when the last
    /// blocking [`Connection`] is dropped.
    #[must_use]
    pub fn as_async(&self) -> &mcp_adapter::Connection {
        &self.inner.0
    }

    /// Returns the server's description of itself.
    ///
    /// # Panics
    /// Never panics: a connection exists only after the server has identified itself.
    #[must_use]
    pub fn peer(&self) -> Arc<Peer> {
        self.as_async().peer()
    }

    /// Returns the negotiated protocol revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.as_async().revision()
    }

    /// Returns the server's era: legacy (up to revision 2025-11-25) or modern.
    ///
    /// Pass it to [`Client::expect_era`](crate::Client::expect_era) to save a round trip the next
    /// time.
    #[must_use]
    pub fn era(&self) -> Era {
        self.as_async().era()
    }

    /// Returns all tools of the server, fetching every page of the list.
    ///
    /// # Errors
    /// Fails if a call fails, if the server repeats a cursor, or after 10,000 pages.
    // PAG-07
    pub fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        block_on(self.as_async().list_tools())
    }

    /// Calls a tool. `arguments` must serialize to a JSON object; otherwise the call fails.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, CallToolResult> {
        Call(self.as_async().call_tool(name, arguments))
    }

    /// Checks the result of a tool against its output schema.
    ///
    /// If the tool has no output schema, or the result is an error, the check passes.
    ///
    /// The schema comes from the server and is not trusted: external references and schemas that
    /// would take too many steps to evaluate are refused.
    ///
    /// # Errors
    /// Returns a description of what is wrong with the result or the schema.
    #[cfg(feature = "jsonschema")]
    pub fn check_result(&self, tool: &Tool, result: &CallToolResult) -> Result<(), String> {
        self.as_async().check_result(tool, result)
    }

    /// Calls the method of a typed request, such as
    /// [`ReadResource`](crate::proto::schema::ReadResource).
    pub fn call<'c, R: ClientRequest + Send + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
        Call(self.as_async().call(request))
    }

    /// Calls any method by name, with its params as raw JSON.
    pub fn call_raw<'c>(&'c self, method: &str, params: Raw) -> Call<'c, Raw> {
        Call(self.as_async().call_raw(method, params))
    }

    /// Sends a
    /// [ping](https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping) and
    /// waits for the response. Legacy era (revisions up to 2025-11-25) only.
    ///
    /// # Errors
    /// Fails if the server does not respond, and with
    /// [`Misuse::Unsupported`](crate::proto::Misuse::Unsupported) in the modern era.
    pub fn ping(&self) -> Result<(), Error> {
        block_on(self.as_async().ping())
    }

    /// Requests log messages of at least this level.
    ///
    /// They arrive as notifications; see
    /// [`Client::on_notification`](crate::Client::on_notification). In the modern era (from
    /// revision 2026-07-28), the level applies to calls made after this one.
    ///
    /// # Errors
    /// Fails if the server does not support logging, or the call fails.
    pub fn set_log_level(&self, level: Level) -> Result<(), Error> {
        block_on(self.as_async().set_log_level(level))
    }

    /// Subscribes to changes of lists and resources.
    ///
    /// Waits for the server's acknowledgment, which may cover less than requested; see
    /// [`Subscription::acknowledged`].
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
    /// Fails if the server does not support the subscription or does not acknowledge it in time.
    pub fn subscribe(&self, filter: &Filter) -> Result<Subscription, Error> {
        block_on(self.as_async().subscribe(filter)).map(Subscription)
    }

    /// Restarts a dead server or reconnects over HTTP, and returns the new connection.
    ///
    /// The new connection has an equal configuration.
    ///
    /// If this connection is still open, it is closed first, and this handle keeps referring to it.
    /// Each [`Subscription`] that ended with the old connection and has not been dropped continues
    /// on the new one; changes in between are not reported. Calls in flight are lost, and the log
    /// level must be set again.
    ///
    /// # Errors
    /// Fails under the conditions of the method that opened this connection, such as
    /// [`Connect::spawn`](crate::Connect::spawn). Fails with [`Error::Io`] of kind `Unsupported`
    /// for a connection over a pair of byte streams.
    // FRM-22: a server that died can be restarted. STL-38: changes are not replayed.
    pub fn reconnect(&self) -> Result<Self, Error> {
        block_on(self.as_async().reconnect()).map(Self::new)
    }

    /// Sends a notification by method name, blocking for up to 10 s while the output queue is full.
    ///
    /// # Errors
    /// Fails if the notification cannot be sent.
    pub fn notify_raw(&self, method: &str, params: Option<&Raw>) -> Result<(), Error> {
        block_on(self.as_async().notify_raw(method, params))
    }

    /// Closes the connection, shuts down a server started by `spawn`, and waits for its exit.
    ///
    /// Returns the exit status of the server process; `None` for other connections, or if the
    /// status is unknown. Calls in flight fail with
    /// [`CallError::Lost`](crate::proto::CallError::Lost).
    ///
    /// # Errors
    /// Fails with [`Error::Closed`] if the connection ended because of a protocol fault.
    pub fn close(self) -> Result<Option<ExitStatus>, Error> {
        block_on(self.as_async().clone().close())
    }

    /// Returns why the connection ended; `None` while it is open.
    #[must_use]
    pub fn close_reason(&self) -> Option<CloseReason> {
        self.as_async().close_reason()
    }

    /// Returns the last lines, at most 32, that the server wrote to stderr.
    ///
    /// Empty unless the server was started by `spawn`.
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
