//! An open connection with a server, used by threads that wait.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;

use futures_lite::future::block_on;
use mcp_adapter::Error;
use mcp_adapter::proto::schema::{CallToolResult, ClientRequest, Level, Tool};
use mcp_adapter::proto::{Close, Era, Filter, Peer, Raw, Revision};
use serde::Serialize;

use crate::call::Call;
use crate::drive::is_driver;
use crate::listening::Listening;

/// An open session with a server. Cheap to clone; all clones are the same connection.
///
/// When the last of them is dropped, the connection is closed, and a server that was started for it
/// is ended as [`close`](Self::close) would; that is waited for.
#[derive(Clone)]
pub struct Connection {
    inner: Arc<Inner>,
}

struct Inner(mcp_adapter::Connection);

impl Connection {
    pub(crate) fn new(connection: mcp_adapter::Connection) -> Self {
        Self { inner: Arc::new(Inner(connection)) }
    }

    /// The same connection with futures instead of waiting, which any executor can run: for a
    /// program that has one for other things.
    ///
    /// A clone of it does not keep the connection open: that is closed, as ever, when the last of
    /// *these* is dropped.
    #[must_use]
    pub fn as_async(&self) -> &mcp_adapter::Connection {
        &self.inner.0
    }

    /// The server, as it said itself.
    ///
    /// # Panics
    /// Never: a connection is handed out once the server has said who it is.
    #[must_use]
    pub fn peer(&self) -> Arc<Peer> {
        self.as_async().peer()
    }

    /// The revision that is spoken.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.as_async().revision()
    }

    /// The era that the server is of: worth keeping for [`Client::expect`](crate::Client::expect).
    #[must_use]
    pub fn era(&self) -> Era {
        self.as_async().era()
    }

    /// All tools of the server, from all pages.
    ///
    /// # Errors
    /// When a call fails, or the pages go on in circles. (PAG-07)
    pub fn list_tools(&self) -> Result<Vec<Tool>, Error> {
        block_on(self.as_async().list_tools())
    }

    /// Calls a tool. The arguments are anything that is an object in JSON.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, CallToolResult> {
        Call(self.as_async().call_tool(name, arguments))
    }

    /// Checks what a tool answered against its output schema, as it was listed. What the server
    /// wrote is taken with care: a schema that refers elsewhere, or would take too many steps,
    /// is not used.
    ///
    /// # Errors
    /// What is wrong, in words: with the result or with the schema. A tool without a schema
    /// promises nothing.
    #[cfg(feature = "jsonschema")]
    pub fn check_result(&self, tool: &Tool, result: &CallToolResult) -> Result<(), String> {
        self.as_async().check_result(tool, result)
    }

    /// Makes any request that has a type.
    pub fn call<'c, R: ClientRequest + Send + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
        Call(self.as_async().call(request))
    }

    /// Makes any request by the name of its method.
    pub fn call_raw<'c>(&'c self, method: &str, params: Raw) -> Call<'c, Raw> {
        Call(self.as_async().call_raw(method, params))
    }

    /// Asks whether the server is there. Only servers of the legacy era know the question.
    ///
    /// # Errors
    /// When it is not; [`Misuse::Unsupported`](crate::proto::Misuse::Unsupported) in the modern
    /// era.
    pub fn ping(&self) -> Result<(), Error> {
        block_on(self.as_async().ping())
    }

    /// Asks for log messages of this level and above; they come as notifications. In the modern
    /// era, those of the calls that are made from now on.
    ///
    /// # Errors
    /// When the server offers no log messages, or the call fails.
    pub fn set_log_level(&self, level: Level) -> Result<(), Error> {
        block_on(self.as_async().set_log_level(level))
    }

    /// Listens to changes. Waits until the server has said what it will tell of, which can be less
    /// than was asked for: see [`Listening::hears`].
    ///
    /// ```no_run
    /// # fn main() -> Result<(), mcp_blocking::Error> {
    /// # let command = std::process::Command::new("weather-server");
    /// use mcp_blocking::{Client, Connect};
    /// use mcp_blocking::proto::Filter;
    ///
    /// let connection = Client::new("demo", "1.0.0").spawn(command)?;
    /// for change in connection.listen(&Filter::new().tools().resource("weather://oslo"))? {
    ///     println!("{change:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it cannot be asked, does not know how to, or does not answer in time.
    pub fn listen(&self, filter: &Filter) -> Result<Listening, Error> {
        block_on(self.as_async().listen(filter)).map(Listening)
    }

    /// Starts the server once more, after it died, or connects to it once more over HTTP: a new
    /// connection, with everything as it was, and the era known. (FRM-22)
    ///
    /// Every [`Listening`] of this connection that is still held, and that the end of the
    /// connection ended, goes on with the new one; what changed in between it does not tell
    /// (STL-38). Calls that were open stay lost, and the level of log messages is to be set
    /// anew. A connection that is still open is closed first. This one stays as it is; drop it.
    ///
    /// # Errors
    /// As [`Connect::spawn`](crate::Connect::spawn) and connecting over HTTP. [`Error::Io`] of the
    /// kind `Unsupported` when the connection is over streams that this side was given.
    pub fn reconnect(&self) -> Result<Self, Error> {
        block_on(self.as_async().reconnect()).map(Self::new)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// When it cannot be sent.
    pub fn notify_raw(&self, method: &str, params: Option<&Raw>) -> Result<(), Error> {
        block_on(self.as_async().notify_raw(method, params))
    }

    /// Ends the connection: open calls end as lost, and a server that was started for it is ended.
    /// Waits for that, and gives how its process ended.
    ///
    /// # Errors
    /// When the server broke a rule that the connection did not survive.
    pub fn close(self) -> Result<Option<ExitStatus>, Error> {
        block_on(self.as_async().clone().close())
    }

    /// How the connection ended, if it has.
    #[must_use]
    pub fn closed(&self) -> Option<Close> {
        self.as_async().closed()
    }

    /// The last lines that the server wrote to stderr.
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

impl Drop for Inner {
    fn drop(&mut self) {
        self.0.end();
        // What drives connections sees to their end afterwards.
        if !is_driver() {
            block_on(self.0.wait_over());
        }
    }
}
