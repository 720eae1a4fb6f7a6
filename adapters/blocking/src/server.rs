//! Servers: what they offer and within which bounds, on stdin and stdout or on any pair of byte streams.

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    CallToolResult, Complete, CompleteResult, GetPrompt, GetPromptResult, Implementation, Prompt,
    ReadResource, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use mcp_proto::server::Server as Machine;
use mcp_proto::{Capability, Limits, Raw, Violation};
use serde::de::DeserializeOwned;

use crate::changes::Changes;
use crate::clock::Clock;
use crate::cx::Cx;
use crate::handlers::Handler;
use crate::link::Link;
use crate::offer::Offer;
use crate::pool::Pool;
use crate::serving::{Hears, OnSignal, Shared, run};
use crate::signal::{self, Closeable};
use crate::tool_error::ToolError;

/// A server that is being put together, and then serves.
///
/// What it offers is what is registered, and so is what it declares. Lists are in the order in which things were
/// added; what is added under a name that is taken replaces what was there, in its place. What cannot be offered, such as a tool whose schema is of no object, is refused once the server is to serve.
///
/// Handlers run on a bounded pool of threads; one that panics answers with an error and takes nothing else down.
#[must_use = "a server serves once it is told to"]
pub struct Server {
    offer: Offer,
    threads_max: usize,
    on_violation: Option<Hears<Violation>>,
    on_watch: Option<Hears<Watch>>,
}

/// Whether somebody listens to the changes of a resource, over one connection.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Watch {
    /// Somebody begins to: of the resource with this URI.
    Began(String),
    /// Nobody does any more: of the resource with this URI.
    Ended(String),
}

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: &str, version: &str) -> Self {
        let server =
            Self { offer: Offer::new(name, version), threads_max: 64, on_violation: None, on_watch: None };
        server.page_max(100)
    }

    /// Adds a tool whose arguments are a Rust type; their schema is derived from it.
    ///
    /// Arguments that do not fit the type are answered with an error in the tool's result, for the model to mend.
    #[cfg(feature = "schemars")]
    pub fn tool<A, R>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema,
        R: Into<CallToolResult>,
    {
        let mut schema =
            schemars::generate::SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>();
        // A type without fields has a schema that says nothing of objects, which the protocol requires.
        schema.insert("type".into(), "object".into());
        schema.remove("title");
        // If it cannot be written, the catalogue says that it is not one.
        let schema = Raw::new(&schema).unwrap_or_else(|_| Raw::empty_object());
        self.tool_with(Tool::new(name, schema).description(description), handler)
    }

    /// Adds a tool whose arguments are a Rust type, described by hand.
    pub fn tool_with<A, R>(
        self,
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Into<CallToolResult>,
    {
        self.add_tool(tool, Handler::typed_tool(handler))
    }

    /// Adds a tool that takes its arguments as they come: an object, described by `schema`.
    pub fn tool_raw<R>(
        self,
        name: &str,
        description: &str,
        schema: Raw,
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        R: Into<CallToolResult>,
    {
        self.add_tool(Tool::new(name, schema).description(description), Handler::tool(handler))
    }

    fn add_tool(mut self, tool: Tool, handler: Handler) -> Self {
        self.offer.add(&format!("the tool `{}`", tool.name), |catalog| catalog.add_tool(tool, handler));
        self
    }

    /// Adds a resource, and what reads it.
    pub fn resource<R: Into<ReadResourceResult>>(
        mut self,
        resource: Resource,
        handler: impl Fn(ReadResource, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.offer.add(&format!("the resource `{}`", resource.uri), |catalog| {
            catalog.add_resource(resource, Handler::resource(handler))
        });
        self
    }

    /// Adds a pattern of resources, and what reads those that match.
    ///
    /// The handler is given what the pattern's variables stand for. They are the client's words: check them before
    /// they become part of a path. For what matches and is not there, it answers with [`Cx::no_resource`].
    pub fn resource_template<R: Into<ReadResourceResult>>(
        mut self,
        template: ResourceTemplate,
        handler: impl Fn(ReadResource, Variables, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.offer.add(&format!("the resource template `{}`", template.uri_template), |catalog| {
            catalog.add_template(template, Handler::template(handler))
        });
        self
    }

    /// Has `handler` complete a variable of a resource template that was added before, named by its pattern.
    pub fn template_completion<R: Into<CompleteResult>>(
        mut self,
        uri_template: &str,
        variable: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.offer.add(&format!("a completion of `{variable}` in `{uri_template}`"), |catalog| {
            catalog.add_template_completion(uri_template, variable, Handler::completion(handler))
        });
        self
    }

    /// Adds a prompt, and what fills it in. The arguments that it requires are there when the handler runs.
    pub fn prompt<R: Into<GetPromptResult>>(
        mut self,
        prompt: Prompt,
        handler: impl Fn(GetPrompt, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.offer.add(&format!("the prompt `{}`", prompt.name), |catalog| {
            catalog.add_prompt(prompt, Handler::prompt(handler))
        });
        self
    }

    /// Has `handler` complete an argument of a prompt that was added before.
    pub fn prompt_completion<R: Into<CompleteResult>>(
        mut self,
        prompt: &str,
        argument: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.offer.add(&format!("a completion of `{argument}` of the prompt `{prompt}`"), |catalog| {
            catalog.add_prompt_completion(prompt, argument, Handler::completion(handler))
        });
        self
    }

    /// Has `check` look at the arguments of every tool call before its handler runs: the place for a JSON Schema
    /// validator. What it says becomes a result that is an error, for the model to mend.
    ///
    /// It runs where requests are read: it must not wait for the connection, nor change what is offered.
    pub fn checking(self, check: impl Fn(&Tool, &Raw) -> Result<(), String> + Send + Sync + 'static) -> Self {
        self.offer.set(|catalog| catalog.checking(check));
        self
    }

    /// Declares that clients are told of changes: of those lists that have something in them, and of resources if
    /// there are any. [`Changes`] tells them.
    pub fn changing(mut self) -> Self {
        self.offer.set(mcp_proto::catalog::Catalog::changing);
        self.offer.watching = true;
        self
    }

    /// What tells clients of changes, from outside of handlers; declares so, as [`changing`](Self::changing) does.
    /// Handlers have [`Cx::changes`].
    pub fn changes(&mut self) -> Changes {
        self.offer.set(mcp_proto::catalog::Catalog::changing);
        self.offer.watching = true;
        self.offer.changes.clone()
    }

    /// Has `hear` hear of it when a client begins to listen to changes of a resource, and when the last one of a
    /// connection ends; declares that there are such changes. It must not wait for the connection.
    pub fn on_watch(mut self, hear: impl Fn(&Watch) + Send + Sync + 'static) -> Self {
        self.offer.watching = true;
        self.on_watch = Some(Box::new(hear));
        self
    }

    /// Declares a capability besides those of what is registered: for a list that is filled only later.
    pub fn capability(mut self, capability: Capability) -> Self {
        self.offer.also.push(capability);
        self
    }

    /// Offers log messages: [`Cx::log`] works.
    pub fn logging(self) -> Self {
        self.capability(Capability::Logging)
    }

    /// What a model should know before it uses the server.
    pub fn instructions(mut self, instructions: &str) -> Self {
        self.offer.config = self.offer.config.instructions(instructions);
        self
    }

    /// Who to say the server is, in place of its name and version.
    pub fn info(mut self, info: Implementation) -> Self {
        self.offer.config = self.offer.config.info(info);
        self
    }

    /// Seals what a request carries from one round of questions to the next: no client can change it, make it up, or
    /// use it for another request or later than an hour after it was asked. Without it, what comes back is whatever
    /// the client says it is.
    #[cfg(feature = "seal")]
    pub fn seal(mut self, seal: mcp_proto::seal::Seal) -> Self {
        self.offer.sealing.seal = Some(seal);
        self
    }

    /// The bounds of each connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.offer.config = self.offer.config.limits(limits);
        self
    }

    /// Handlers run at a time, 64 by default, at least one; further requests wait in order.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.threads_max = threads_max;
        self
    }

    /// Entries on one page of a list, 100 by default, at least one.
    pub fn page_max(self, page_max: usize) -> Self {
        self.offer.set(|catalog| catalog.entries_max(page_max));
        self
    }

    /// Has `hear` hear of the rules that the client breaks. It must not wait for the connection.
    pub fn on_violation(mut self, hear: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        self.on_violation = Some(Box::new(hear));
        self
    }

    /// Serves on stdin and stdout until the client hangs up, or SIGINT or SIGTERM comes.
    ///
    /// Requests that are open then may still be answered for [`Limits::drain_timeout`], and what is left to send is
    /// sent for as long as the client goes on reading, 2 s at most. Both streams are this server's from now on:
    /// what else is printed to stdout corrupts the protocol. A thread stays blocked on stdin if it is still open at
    /// the end, so let the process end.
    ///
    /// # Errors
    /// When something was registered that cannot be offered, the streams cannot be had, a thread cannot be started, or the client broke a rule that the connection
    /// cannot survive.
    pub fn serve_stdio(self) -> io::Result<()> {
        let (stdin, stdout) = standard_streams()?;
        let link = self.link()?;
        // Before the first word: whoever hears one may send a signal.
        let closeable: Arc<dyn Closeable> = Arc::new(OnSignal(Arc::clone(&link)));
        signal::close_on_signal(Arc::downgrade(&closeable));
        run(&link, stdin, stdout)
    }

    /// Serves on a pair of byte streams until the client hangs up.
    ///
    /// The writer is dropped at the end, which must tell the client. A bare `TcpStream` or `UnixStream` is shut down
    /// besides, so the reader may be a clone of it.
    ///
    /// # Errors
    /// As [`serve_stdio`](Self::serve_stdio).
    pub fn serve(
        self,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> io::Result<()> {
        run(&self.link()?, reader, writer)
    }

    fn link(self) -> io::Result<Arc<Link<Machine>>> {
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), self.offer.declared()?);
        let shared = Shared {
            changes: self.offer.changes,
            sealing: self.offer.sealing,
            pool: Pool::new(self.threads_max),
            on_violation: self.on_violation,
            on_watch: self.on_watch,
        };
        Ok(Link::new(clock, machine, shared))
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("catalog", &*self.offer.changes.catalog()).finish_non_exhaustive()
    }
}

/// Stdin and stdout without the buffers and locks around them.
#[cfg(unix)]
fn standard_streams() -> io::Result<(std::fs::File, std::fs::File)> {
    use std::os::fd::AsFd;
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((stdin.into(), stdout.into()))
}

#[cfg(not(unix))]
fn standard_streams() -> io::Result<(io::Stdin, io::Stdout)> {
    Ok((io::stdin(), io::stdout()))
}
