//! An open connection to a server, with operations that block.

use std::fmt;
use std::process::ExitStatus;
use std::sync::Arc;

use futures_lite::future::block_on;
#[cfg(feature = "jsonschema")]
use mcp_adapter::CheckError;
use mcp_adapter::proto::schema::{
    CallToolResult, ClientRequest, CompleteResult, Encode, GetPromptResult, Level, List, Prompt,
    ReadResourceResult, Reference, Resource, ResourceTemplate, Tool,
};
use mcp_adapter::proto::{CloseReason, Era, Filter, Peer, Raw, Revision};
use mcp_adapter::{Error, is_sole_driver};
use serde::Serialize;

use crate::call::Call;
use crate::drive::is_driver;
use crate::subscription::Subscription;

/// A client's connection to a server. Cheap to clone; clones share the connection.
///
/// Dropping the last clone closes the connection as [`close`](Self::close) does: the drop shuts
/// down a server started by `spawn` and blocks until the server has exited.
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
    /// The connection closes when the last blocking [`Connection`] is dropped, even if clones of
    /// the returned value still exist.
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

    /// Returns the label set with [`Client::label`](crate::Client::label).
    #[must_use]
    pub fn label(&self) -> Option<&str> {
        self.as_async().label()
    }

    /// Returns the negotiated protocol revision.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.as_async().revision()
    }

    /// Returns the server's era: legacy (up to revision 2025-11-25) or modern.
    ///
    /// To save a round trip when you connect to a legacy server again, pass this era to
    /// [`Client::expect_era`](crate::Client::expect_era).
    #[must_use]
    pub fn era(&self) -> Era {
        self.as_async().era()
    }

    /// Returns all of the server's tools, fetching every page of the list.
    ///
    /// Entries that cannot be read are left out and reported in [`List::broken`].
    ///
    /// # Errors
    /// Fails if the request for a page fails. Fails with [`Error::List`] if the list exceeds
    /// `Limits::list_entries_max`, `Limits::list_bytes_max`, `Limits::list_timeout` or 10,000
    /// pages, or if the server repeats a page's cursor.
    // PAG-07
    pub fn list_tools(&self) -> Result<List<Tool>, Error> {
        block_on(self.as_async().list_tools())
    }

    /// Returns all of the server's resources, fetching every page of the list.
    ///
    /// Resources that only match a template are not included; see
    /// [`list_resource_templates`](Self::list_resource_templates).
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub fn list_resources(&self) -> Result<List<Resource>, Error> {
        block_on(self.as_async().list_resources())
    }

    /// Returns all of the server's resource templates, fetching every page of the list.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub fn list_resource_templates(&self) -> Result<List<ResourceTemplate>, Error> {
        block_on(self.as_async().list_resource_templates())
    }

    /// Returns all of the server's prompts, fetching every page of the list.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    pub fn list_prompts(&self) -> Result<List<Prompt>, Error> {
        block_on(self.as_async().list_prompts())
    }

    /// Returns all of the server's skills that it lists, fetching every page of the list (feature
    /// `skills`).
    ///
    /// Malformed entries are left out. A server may have skills that it does not list; see
    /// [`GetSkill`](crate::skills::GetSkill).
    ///
    /// # Errors
    /// Fails under the conditions listed for [`list_tools`](Self::list_tools).
    #[cfg(feature = "skills")]
    pub fn list_skills(&self) -> Result<Vec<crate::skills::SkillManifest>, Error> {
        block_on(self.as_async().list_skills())
    }

    /// Prepares a tool call.
    ///
    /// The call is sent when you [wait](Call::wait) for it or [start](Call::start) it. The call
    /// fails unless `arguments` serializes to a JSON object.
    pub fn call_tool(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, CallToolResult> {
        Call(self.as_async().call_tool(name, arguments))
    }

    /// Checks a tool's result against the tool's output schema (feature `jsonschema`).
    ///
    /// If the tool has no output schema, or the result is an error, the check passes.
    ///
    /// The schema comes from the server and is not trusted. The check therefore refuses schemas
    /// with external references, with `$id` or anchors below the root, with more than 64 regular
    /// expressions or too many levels of nesting, and results that would take too many steps to
    /// check. It runs on another thread, one check of a connection after the other, and is given up
    /// after 2 s, during which this method blocks. A check takes about 100 MB of memory at most. A
    /// thread that takes longer is left alone; until it ends, no other result of this connection is
    /// checked.
    ///
    /// # Errors
    /// Fails with the [`CheckError`] that says whether the result, the schema, or the time that the
    /// check takes is the reason.
    #[cfg(feature = "jsonschema")]
    pub fn check_result(&self, tool: &Tool, result: &CallToolResult) -> Result<(), CheckError> {
        self.as_async().check_result(tool, result)
    }

    /// Prepares a request for the contents of a resource.
    ///
    /// The call is sent when you [wait](Call::wait) for it or [start](Call::start) it. The URI may
    /// belong to a resource of the server's list or match one of its resource templates.
    pub fn read_resource(&self, uri: &str) -> Call<'_, ReadResourceResult> {
        Call(self.as_async().read_resource(uri))
    }

    /// Prepares a request for a prompt, rendered with these arguments.
    ///
    /// The call is sent when you [wait](Call::wait) for it or [start](Call::start) it. The call
    /// fails unless `arguments` serializes to a JSON object whose values are strings.
    ///
    /// ```
    /// use mcp_blocking::{Connection, Error};
    /// use serde_json::json;
    ///
    /// fn review(connection: &Connection) -> Result<usize, Error> {
    ///     let prompt = connection.get_prompt("review", &json!({"language": "rust"})).wait()?;
    ///     Ok(prompt.messages.len())
    /// }
    /// ```
    pub fn get_prompt(
        &self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Call<'_, GetPromptResult> {
        Call(self.as_async().get_prompt(name, arguments))
    }

    /// Prepares a request for suggested values of an argument, of which `value` was typed so far.
    ///
    /// `reference` names the prompt or the resource template that has the argument. The call is
    /// sent when you [wait](Call::wait) for it or [start](Call::start) it.
    ///
    /// ```
    /// use mcp_blocking::proto::schema::PromptReference;
    /// use mcp_blocking::{Connection, Error};
    ///
    /// fn languages(connection: &Connection) -> Result<Vec<String>, Error> {
    ///     let prompt = PromptReference::new("review");
    ///     let result = connection.complete(prompt, "language", "ru").wait()?;
    ///     Ok(result.completion.values.items)
    /// }
    /// ```
    pub fn complete(
        &self,
        reference: impl Into<Reference>,
        argument: &str,
        value: &str,
    ) -> Call<'_, CompleteResult> {
        Call(self.as_async().complete(reference, argument, value))
    }

    /// Like [`complete`](Self::complete), with the values already chosen for other arguments.
    ///
    /// The call fails unless `chosen` serializes to a JSON object whose values are strings.
    /// Revisions before 2025-06-18 do not define these values, which are then not sent.
    pub fn complete_with(
        &self,
        reference: impl Into<Reference>,
        argument: &str,
        value: &str,
        chosen: &(impl Serialize + ?Sized),
    ) -> Call<'_, CompleteResult> {
        Call(self.as_async().complete_with(reference, argument, value, chosen))
    }

    /// Prepares a call with a typed request, such as
    /// [`ReadResource`](crate::proto::schema::ReadResource).
    ///
    /// The call is sent when you [wait](Call::wait) for it or [start](Call::start) it.
    pub fn call<'c, R: ClientRequest + Send + 'c>(&'c self, request: R) -> Call<'c, R::Result> {
        Call(self.as_async().call(request))
    }

    /// Prepares a call to any method by name, with raw JSON params.
    ///
    /// The call is sent when you [wait](Call::wait) for it or [start](Call::start) it.
    pub fn call_raw<'c>(&'c self, method: &str, params: impl Into<Raw>) -> Call<'c, Raw> {
        Call(self.as_async().call_raw(method, params))
    }

    /// Sends a [ping] and waits for the response.
    ///
    /// Only the legacy era (revisions up to 2025-11-25) defines pings.
    ///
    /// [ping]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/ping
    ///
    /// # Errors
    /// Fails with [`Error::Call`] if the server does not respond in time. In the modern era, fails
    /// with [`Misuse::Unsupported`](crate::proto::Misuse::Unsupported).
    pub fn ping(&self) -> Result<(), Error> {
        block_on(self.as_async().ping())
    }

    /// Asks the server to send log messages of at least this level.
    ///
    /// Log messages arrive at [`Client::on_log`](crate::Client::on_log). In the modern era (from
    /// revision 2026-07-28), the level applies only to calls sent afterwards.
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`] if the server does not support logging, and with
    /// [`Error::Call`] if the call fails.
    pub fn set_log_level(&self, level: Level) -> Result<(), Error> {
        block_on(self.as_async().set_log_level(level))
    }

    /// Subscribes to changes in lists and resources.
    ///
    /// Waits for the server's acknowledgment. The server may accept only a part of `filter`; see
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
    /// Fails with [`Error::Misuse`] if the server does not support the subscription, and with
    /// [`Error::Call`] if it does not acknowledge the subscription in time.
    pub fn subscribe(&self, filter: &Filter) -> Result<Subscription, Error> {
        block_on(self.as_async().subscribe(filter)).map(Subscription)
    }

    /// Restarts the server or reconnects to it over HTTP, and returns the new connection.
    ///
    /// The new connection is configured like this one. If the old connection is still open, it is
    /// closed first. This handle keeps referring to the old connection.
    ///
    /// Calls in flight fail with [`CallError::Lost`](crate::proto::CallError::Lost), and the log
    /// level must be set again. A [`Subscription`] that ended with the old connection continues on
    /// the new one. Changes that happen in between are not reported.
    ///
    /// # Errors
    /// Fails with [`Error::Io`] of kind `Unsupported` if this connection was opened over a pair of
    /// byte streams. Otherwise, fails under the conditions listed for the method that opened this
    /// connection, such as [`Connect::spawn`](crate::Connect::spawn).
    // FRM-22: a server that died can be restarted. STL-38: changes are not replayed.
    pub fn reconnect(&self) -> Result<Self, Error> {
        block_on(self.as_async().reconnect()).map(Self::new)
    }

    /// Sends a notification by method name.
    ///
    /// `params` may be a schema type, a [`Raw`] or a `serde_json::Value`.
    ///
    /// If the output queue is full, blocks until there is room, for at most 10 s.
    ///
    /// # Errors
    /// Fails with [`Error::Misuse`], without sending anything, if
    /// - the output queue is still full after 10 s ([`Blocked`](crate::proto::Misuse::Blocked));
    /// - the connection is closing or closed ([`Closed`](crate::proto::Misuse::Closed));
    /// - over HTTP, the server dropped the session and a new one was not open within 10 s
    ///   ([`NotReady`](crate::proto::Misuse::NotReady));
    /// - this client did not declare the required capability
    ///   ([`Undeclared`](crate::proto::Misuse::Undeclared));
    /// - `params` is not a JSON object ([`Unencodable`](crate::proto::Misuse::Unencodable));
    /// - the negotiated revision does not let clients send the notification, or only this library
    ///   may send it ([`Unsupported`](crate::proto::Misuse::Unsupported)).
    pub fn notify_raw(
        &self,
        method: &str,
        params: Option<&(dyn Encode + Sync)>,
    ) -> Result<(), Error> {
        block_on(self.as_async().notify_raw(method, params))
    }

    /// Closes the connection, shuts down a server started by `spawn`, and waits for it to exit.
    ///
    /// Returns the exit status of a server started by `spawn`. Returns `None` for other
    /// connections, or if the status is unknown. Calls in flight fail with
    /// [`CallError::Lost`](crate::proto::CallError::Lost).
    ///
    /// If no other connection shares its authorization and its token is being renewed, this waits
    /// up to 5 s until the new token is stored. A renewal that takes longer is finished and stored
    /// in the background if the process goes on; otherwise, a refresh token that the authorization
    /// server has replaced is lost, and the user logs in again.
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

    /// Returns the last lines, 32 at most, that the server wrote to stderr.
    ///
    /// The list is empty unless the server was started by `spawn`.
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
        // A thread that drives connections must not wait: it would wait for itself.
        if !is_driver() && !is_sole_driver() {
            block_on(self.0.wait_ended());
        }
    }
}
