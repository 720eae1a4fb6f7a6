//! [`Server`]: a builder of servers for one thread.

pub(crate) mod context;
pub(crate) mod entries;
pub(crate) mod error;
mod handler;
pub(crate) mod output;
mod rounds;
mod sealing;
pub(crate) mod serving;
#[cfg(feature = "schemars")]
mod typed;

use std::fmt;
use std::future::Future;
use std::io;
use std::rc::Rc;

use mcp_proto::schema::{AnyObject, Encode};
use mcp_proto::server::Config;
use mcp_proto::{Capability, Limits, Raw, Revision};

use self::context::{AsyncCx, Cx};
use self::entries::Entries;
use self::error::HandlerError;
use self::handler::Handler;
use self::output::IntoToolResult;

/// A builder of servers, whose handlers need not be `Send`.
///
/// Handlers may share `Rc` and `RefCell`. A handler is a function, or a function that returns a
/// future. All run on one thread: a handler that computes for long delays all others. The future of
/// a handler is dropped when its request is cancelled or the connection ends.
///
/// Cheap to clone after it was built; clones share their handlers.
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// use mcp_wasm::Server;
/// use mcp_wasm::proto::Raw;
///
/// let calls = Rc::new(Cell::new(0));
/// let object = Raw::from_text(r#"{"type":"object"}"#).unwrap();
/// let server = Server::new("counter", "1.0.0").tool_raw(
///     "count",
///     "Counts its calls",
///     object,
///     move |_arguments, _cx| {
///         calls.set(calls.get() + 1);
///         Ok(calls.get())
///     },
/// );
/// # drop(server);
/// ```
#[derive(Clone)]
#[must_use = "a server does nothing until it serves"]
pub struct Server {
    config: Config,
    entries: Rc<Entries>,
    /// The first invalid entry, and what is wrong with it.
    error: Option<Rc<str>>,
}

impl Server {
    /// Creates a server without tools. `name` and `version` identify it to clients.
    pub fn new(name: &str, version: &str) -> Self {
        Self { config: Config::new(name, version), entries: Rc::default(), error: None }
    }

    /// Adds a tool with JSON arguments.
    ///
    /// `schema` is the JSON Schema of the arguments, of type `object`. Arguments are not checked
    /// against it. The handler receives `{}` if a call has no arguments. Serving fails if the name
    /// is invalid or taken, or if `schema` is not of type `object`.
    pub fn tool_raw<R: IntoToolResult + 'static>(
        self,
        name: &str,
        description: &str,
        schema: impl Into<AnyObject>,
        handler: impl Fn(Raw, Cx) -> Result<R, HandlerError> + 'static,
    ) -> Self {
        let handler = Handler::function(handler, |result| {
            result.into_tool_result().map(output::ToolOutput::into_encode)
        });
        self.add_tool(name, description, &schema.into().0, handler)
    }

    /// Adds a tool with JSON arguments whose handler is a future; see [`tool_raw`](Self::tool_raw).
    pub fn tool_raw_async<R, F>(
        self,
        name: &str,
        description: &str,
        schema: impl Into<AnyObject>,
        handler: impl Fn(Raw, AsyncCx) -> F + 'static,
    ) -> Self
    where
        R: IntoToolResult + 'static,
        F: Future<Output = Result<R, HandlerError>> + 'static,
    {
        let handler = Handler::future(handler, |result: R| {
            result.into_tool_result().map(output::ToolOutput::into_encode)
        });
        self.add_tool(name, description, &schema.into().0, handler)
    }

    fn add_tool(mut self, name: &str, description: &str, schema: &Raw, handler: Handler) -> Self {
        let entries = Rc::make_mut(&mut self.entries);
        if let Err(why) = entries.add_tool(name, description, schema, handler) {
            self.refuse(&why);
        }
        self.capability(Capability::Tools)
    }

    fn refuse(&mut self, why: &str) {
        self.error.get_or_insert_with(|| why.into());
    }

    /// Adds the handler of another request, such as `resources/read` or `completion/complete`.
    ///
    /// The handler receives the params, or `{}`, and returns the whole result: [`Raw`] JSON, or a
    /// type of the feature `schema`. Declare the capability of the method with
    /// [`capability`](Self::capability); requests whose capability is not declared are refused.
    pub fn method_raw<R: Encode + 'static>(
        mut self,
        method: &str,
        handler: impl Fn(Raw, Cx) -> Result<R, HandlerError> + 'static,
    ) -> Self {
        let handler = Handler::function(handler, |result| Ok(Box::new(result)));
        if let Err(why) = Rc::make_mut(&mut self.entries).add_method(method, handler) {
            self.refuse(&why);
        }
        self
    }

    /// Adds the handler of another request, as a future; see [`method_raw`](Self::method_raw).
    pub fn method_raw_async<R, F>(
        mut self,
        method: &str,
        handler: impl Fn(Raw, AsyncCx) -> F + 'static,
    ) -> Self
    where
        R: Encode + 'static,
        F: Future<Output = Result<R, HandlerError>> + 'static,
    {
        let handler = Handler::future(handler, |result: R| Ok(Box::new(result)));
        if let Err(why) = Rc::make_mut(&mut self.entries).add_method(method, handler) {
            self.refuse(&why);
        }
        self
    }

    /// Declares a capability that no registered tool implies.
    pub fn capability(mut self, capability: Capability) -> Self {
        self.config = self.config.capability(capability);
        self
    }

    /// Declares the logging capability, which [`Cx::log`] requires.
    pub fn logging(self) -> Self {
        self.capability(Capability::Logging)
    }

    /// Sets the instructions that tell a model how to use the server. Default: none.
    pub fn instructions(mut self, instructions: &str) -> Self {
        self.config = self.config.instructions(instructions);
        self
    }

    /// Restricts the server to these protocol revisions. Default: all.
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.config = self.config.revisions(revisions);
        self
    }

    /// Sets the resource limits and timeouts of each connection. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config = self.config.limits(limits);
        self
    }

    /// Sets the key that authenticates states which clients keep (feature `seal`). Default: a
    /// random key.
    ///
    /// Several instances of a server, such as Workers in several places, need one key.
    #[cfg(feature = "seal")]
    pub fn seal(mut self, seal: mcp_proto::seal::Seal) -> Self {
        Rc::make_mut(&mut self.entries).sealer = sealing::StateSealer::with(seal);
        self
    }

    /// Returns the configuration of the server's connections, and its handlers.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if a registered entry is invalid.
    pub(crate) fn parts(&self) -> io::Result<(Config, Rc<Entries>)> {
        match &self.error {
            Some(why) => Err(io::Error::new(io::ErrorKind::InvalidInput, &**why)),
            None => Ok((self.config.clone(), Rc::clone(&self.entries))),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}
