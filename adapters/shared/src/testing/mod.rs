//! Tests of servers and clients in memory, in virtual time and without threads.

mod ends;

use std::fmt;
use std::future::IntoFuture;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::schema::{
    CallToolResult, ClientRequest, GetPrompt, GetPromptResult, List, Map, ReadResource,
    ReadResourceResult, Resource, Tool,
};
use mcp_proto::testing::Transcript;
use mcp_proto::{Instant, Principal};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::ends::Ends;
use crate::client::Client;
use crate::client::connection::Connection;
use crate::client::settings::ClientSettings;
use crate::error::Error;
use crate::exec::clock::Clock;
use crate::exec::manual_tasks::ManualTasks;
use crate::exec::workers::Spawn;
use crate::server::Server;
use crate::server::manual::ManualServer;
use crate::transport::manual_driver::ManualDriver;

/// Connects `client` to `server` in memory, in virtual time and on the thread of the test.
///
/// The client is not authenticated; see [`pair_as`].
///
/// # Errors
/// Fails with
/// - [`Error::Io`] if a registered tool, resource, resource template or prompt of the server is
///   invalid;
/// - [`Error::Start`] if the connection cannot be opened.
pub fn pair<R, Q>(server: &Server<R>, client: Client<Q>) -> Result<TestPair, PairError> {
    connect(server.manual(Instant::ZERO, None), client.settings)
}

/// Like [`pair`], for a client that is authenticated as `principal`. It has no access token:
/// entries that [require](crate::Tool::requires) scopes refuse it.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::Principal;
/// use mcp_tokio::{Client, Lists, Server, testing};
///
/// let server = Server::new("notes", "1.0.0")
///     .tool("reset", "Deletes all notes", || ())
///     .lists(Lists::new().visible_to(|_, caller| caller.principal().is_some()));
/// let client = Client::new("test", "1.0.0");
/// let ada = Principal::new("ada").unwrap();
/// let mut pair = testing::pair_as(&server, client.clone(), ada)?;
/// assert_eq!(pair.list_tools()?.len(), 1);
/// assert_eq!(testing::pair(&server, client)?.list_tools()?.len(), 0);
/// # Ok::<(), testing::PairError>(())
/// ```
///
/// # Errors
/// Fails under the conditions listed for [`pair`].
pub fn pair_as<R, Q>(
    server: &Server<R>,
    client: Client<Q>,
    principal: Principal,
) -> Result<TestPair, PairError> {
    connect(server.manual(Instant::ZERO, Some(principal)), client.settings)
}

fn connect(
    server: io::Result<ManualServer>,
    client: ClientSettings,
) -> Result<TestPair, PairError> {
    let io_error = |error| PairError::new(Error::Io(error), &Transcript::default());
    let now = Instant::ZERO;
    let server = server.map_err(io_error)?;
    let tasks = Arc::new(ManualTasks::default());
    let runtime: Arc<dyn Spawn> = Arc::clone(&tasks) as _;
    let (connecting, driving) = client.open(Clock::manual(now), &runtime).map_err(io_error)?;
    let mut ends = Ends::new(ManualDriver::new(driving, tasks), server, now);
    match ends.run(connecting.wait()) {
        Ok(connection) => Ok(TestPair { connection, ends }),
        Err(error) => Err(PairError::new(error, ends.transcript())),
    }
}

/// A client and a server that [`pair`] has connected in memory, with a virtual clock.
///
/// The pair makes progress only inside its methods, and all handlers of both sides run there: no
/// thread is started. While nothing else can happen, the clock jumps to the next timer, so that no
/// test waits for a timeout. The messages of both sides pass the whole protocol and are checked.
/// Two runs of a test therefore exchange equal messages at equal times.
///
/// Handlers run as on a [`ManualServer`]. A handler that waits for another thread or a runtime
/// makes its call time out; test such servers with the function `connect`.
///
/// The `Display` output of a pair is the transcript of all messages, with their times. The
/// [`PairError`] of a failed call contains it, and a test that panics prints it.
///
/// # Panics
/// All methods that make progress panic, with the transcript, if
/// - a side sends a message that violates the protocol;
/// - neither side ever stops, or both wait forever.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Client, Server, testing};
/// use serde_json::json;
///
/// # fn main() -> Result<(), testing::PairError> {
/// let server = Server::new("weather", "1.0.0")
///     .tool("today", "Today's weather", || "sunny");
/// let mut pair = testing::pair(&server, Client::new("test", "1.0.0"))?;
/// let result = pair.call_tool("today", &json!({}))?;
/// assert_eq!(result.content[0].as_text(), Some("sunny"));
/// assert_eq!(pair.list_tools()?[0].name, "today");
/// # Ok(())
/// # }
/// ```
pub struct TestPair {
    connection: Connection,
    ends: Ends,
}

/// An error of the client of a [`TestPair`], with the transcript of all messages until then.
///
/// Both `Debug` and `Display` print the transcript, so a test that returns the error prints it.
pub struct PairError {
    error: Box<Error>,
    transcript: String,
}

impl TestPair {
    /// Calls a tool. `arguments` must serialize to a JSON object.
    ///
    /// # Errors
    /// Fails if the call fails.
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<CallToolResult, PairError> {
        let connection = self.client();
        self.run(connection.call_tool(name, arguments)).map_err(|error| self.error(error))
    }

    /// Calls a tool and deserializes its structured output; see
    /// [`CallToolResult::structured`].
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Client, Server, testing};
    ///
    /// # fn main() -> Result<(), testing::PairError> {
    /// let server = Server::new("dice", "1.0.0")
    ///     .tool("roll", "Rolls a die", || "4");
    /// let mut pair = testing::pair(&server, Client::new("test", "1.0.0"))?;
    /// assert_eq!(pair.call_tool_as::<i64>("roll", &())?, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails if the call or the tool fails, and with [`Error::Output`] if the output does not match
    /// `T`.
    pub fn call_tool_as<T: DeserializeOwned>(
        &mut self,
        name: &str,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<T, PairError> {
        let result = self.call_tool(name, arguments)?;
        result.structured().map_err(|error| self.error(error.into()))
    }

    /// Returns all of the server's tools.
    ///
    /// # Errors
    /// Fails if the request for a page fails.
    pub fn list_tools(&mut self) -> Result<List<Tool>, PairError> {
        let connection = self.client();
        self.run(connection.list_tools()).map_err(|error| self.error(error))
    }

    /// Returns all of the server's resources.
    ///
    /// # Errors
    /// Fails if the request for a page fails.
    pub fn list_resources(&mut self) -> Result<List<Resource>, PairError> {
        let connection = self.client();
        self.run(connection.list_resources()).map_err(|error| self.error(error))
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// Fails if the request fails.
    pub fn read_resource(&mut self, uri: &str) -> Result<ReadResourceResult, PairError> {
        self.call(ReadResource::new(uri))
    }

    /// Renders a prompt with these arguments.
    ///
    /// # Errors
    /// Fails if the request fails.
    pub fn get_prompt(
        &mut self,
        name: &str,
        arguments: &[(&str, &str)],
    ) -> Result<GetPromptResult, PairError> {
        let arguments = arguments.iter().map(|(name, value)| (*name, String::from(*value)));
        self.call(GetPrompt::new(name).arguments(arguments.collect::<Map<String>>()))
    }

    /// Sends a typed request of any method and waits for the result.
    ///
    /// # Errors
    /// Fails if the request fails.
    pub fn call<R: ClientRequest + Send>(&mut self, request: R) -> Result<R::Result, PairError> {
        let connection = self.client();
        self.run(connection.call(request)).map_err(|error| self.error(error))
    }

    /// Returns the connection of the client, to be used with [`run`](Self::run).
    #[must_use]
    pub fn client(&self) -> Connection {
        self.connection.clone()
    }

    /// Runs a future of the client to its end.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::Filter;
    /// use mcp_tokio::{Client, Server, testing};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut server = Server::new("s", "1").tool("t", "A tool", || ());
    /// let changes = server.changes();
    /// let mut pair = testing::pair(&server, Client::new("c", "1"))?;
    /// let client = pair.client();
    /// let mut changed = pair.run(client.subscribe(&Filter::new().tools()))?;
    /// changes.tools_list_changed()?;
    /// assert!(pair.run(changed.next())?.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn run<T>(&mut self, future: impl IntoFuture<Output = T>) -> T {
        self.ends.run(future.into_future())
    }

    /// Advances the clock by `time` and does everything that becomes due until then.
    pub fn wait(&mut self, time: Duration) {
        self.ends.wait(time);
    }

    /// Returns the current time. A pair begins at [`Instant::ZERO`].
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.ends.now()
    }

    fn error(&self, error: Error) -> PairError {
        PairError::new(error, self.ends.transcript())
    }
}

/// Writes the transcript.
impl fmt::Display for TestPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ends.transcript().fmt(f)
    }
}

opaque_debug!(TestPair, it => now: it.ends.now());

impl Drop for TestPair {
    fn drop(&mut self) {
        if std::thread::panicking() {
            #[expect(clippy::print_stderr, reason = "the output of a failed test")]
            {
                eprintln!("the messages until the panic:\n{self}");
            }
        }
    }
}

impl PairError {
    fn new(error: Error, transcript: &Transcript) -> Self {
        Self { error: Box::new(error), transcript: transcript.to_string() }
    }

    /// Returns the error of the client.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Returns the error of the client, without the transcript.
    #[must_use]
    pub fn into_error(self) -> Error {
        *self.error
    }
}

impl fmt::Display for PairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.error, self.transcript)
    }
}

impl fmt::Debug for PairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for PairError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.error)
    }
}
