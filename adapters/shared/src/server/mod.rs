//! Servers that are being put together: within which bounds they serve, and whom they tell; knows
//! nothing of any runtime.

mod async_handlers;
pub(crate) mod builder;
pub(crate) mod changes;
pub(crate) mod events;
pub(crate) mod handler;
pub(crate) mod id_hasher;
pub(crate) mod pending_changes;
mod sync_handlers;

use std::fmt;
use std::io;
use std::sync::Arc;

use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    Complete, CompleteResult, GetPrompt, GetPromptResult, Implementation, Prompt, ReadResource,
    ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use mcp_proto::server::{Config, Server as Machine};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Capability, Instant, Limits, Raw, Violation};

use crate::exec::clock::Clock;
use crate::exec::workers::{Spawn, Threads, Workers, threads};
use crate::recorder::Tapes;
use crate::server::builder::Offer;
use crate::server::changes::Changes;
use crate::server::events::{Hears, Serving, Shared, Watch};
use crate::server::handler::{Handler, Serves};
use crate::trace::Trace;
use crate::transport::link::{Link, Transport};
use crate::transport::shutdown::Driving;
#[cfg(feature = "jsonschema")]
use crate::validation::schemas::{Schemas, Whose};

/// A server that is being put together, and then serves.
///
/// What it offers is what is registered, and so is what it declares. Lists are in the order in
/// which things were added; what is added under a name that is taken replaces what was there, in
/// its place. What cannot be offered, such as a tool whose schema is of no object, is refused once
/// the server is to serve.
///
/// Handlers are plain functions, which run on a bounded pool of threads and may block, or futures,
/// which the adapter's runtime runs. One that panics answers with an error and takes nothing else
/// down.
///
/// A handler begins where its request was read, so that a quick one costs no hand-over: a future is
/// polled there once, and on the byte streams of `mcp-blocking` a function runs there, which gives
/// up its place as the reader when it takes longer than a few milliseconds. After one that took
/// longer than 10 ms, or two of eight that took longer than half a millisecond, others begin
/// elsewhere: those of the next 25 ms, or of ten times as long as the last one took.
///
/// Cheap to clone: a clone serves more connections with the same handlers, threads and [`Changes`].
#[derive(Clone)]
#[must_use = "a server serves once it is told to"]
pub struct Server {
    offer: Offer,
    threads: Threads,
    payloads: bool,
    tapes: Tapes,
    with_parent: bool,
    on_violation: Option<Hears<Violation>>,
    on_watch: Option<Hears<Watch>>,
}

impl Server {
    /// A server that offers nothing yet.
    pub fn new(name: &str, version: &str) -> Self {
        let server = Self {
            offer: Offer::new(name, version),
            threads: threads(64),
            payloads: false,
            tapes: Tapes::default(),
            with_parent: false,
            on_violation: None,
            on_watch: None,
        };
        server.page_max(100)
    }

    /// Has `check` look at the arguments of every tool call before its handler runs: the place for
    /// a JSON Schema validator. What it says becomes a result that is an error, for the model
    /// to mend.
    ///
    /// It runs where requests are read: it must not wait for the connection, nor change what is
    /// offered.
    pub fn checking(
        self,
        check: impl Fn(&Tool, &Raw) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.offer.set(|catalog| catalog.checking(check));
        self
    }

    /// Checks what tools are called with and what they answer against their schemas, which are
    /// compiled when the server begins to serve; one that cannot be used is refused then.
    ///
    /// Arguments that do not fit become a result that is an error, for the model to mend; a
    /// structured result that does not fit becomes the error `-32603`. Nothing is ever fetched.
    /// Takes the place of [`checking`](Self::checking).
    #[cfg(feature = "jsonschema")]
    pub fn checked(mut self) -> Self {
        let schemas = Arc::new(Schemas::new(Whose::Ours));
        self.offer.checks.schemas = Some(Arc::clone(&schemas));
        self.checking(move |tool, arguments| schemas.check(&tool.input_schema, arguments))
    }

    /// Declares that clients are told of changes: of those lists that have something in them, and
    /// of resources if there are any. [`Changes`] tells them.
    pub fn changing(mut self) -> Self {
        self.offer.set(mcp_proto::catalog::Catalog::changing);
        self.offer.watching = true;
        self
    }

    /// What tells clients of changes, from outside of handlers; declares so, as
    /// [`changing`](Self::changing) does. Handlers have [`Cx::changes`](crate::Cx::changes).
    pub fn changes(&mut self) -> Changes {
        self.offer.set(mcp_proto::catalog::Catalog::changing);
        self.offer.watching = true;
        self.offer.changes.clone()
    }

    /// Has `hear` hear of it when a client begins to listen to changes of a resource, and when the
    /// last one of a connection ends; declares that there are such changes. It must not wait
    /// for the connection.
    pub fn on_watch(mut self, hear: impl Fn(&Watch) + Send + Sync + 'static) -> Self {
        self.offer.watching = true;
        self.on_watch = Some(Arc::new(hear));
        self
    }

    /// Declares a capability besides those of what is registered: for a list that is filled only
    /// later.
    pub fn capability(mut self, capability: Capability) -> Self {
        self.offer.also.push(capability);
        self
    }

    /// Offers log messages: [`Cx::log`](crate::Cx::log) works.
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

    /// Seals what a request carries from one round of questions to the next: no client can change
    /// it, make it up, or use it for another request or later than an hour after it was asked.
    /// Without it, what comes back is whatever the client says it is.
    #[cfg(feature = "seal")]
    pub fn seal(mut self, seal: mcp_proto::seal::Seal) -> Self {
        self.offer.sealing.seal = Some(seal);
        self
    }

    /// Ends a server on stdin and stdout once the process that started it is gone, even while stdin
    /// stays open because somebody else has it, too. Noticed within half a second, on Unix.
    pub fn exit_with_parent(mut self) -> Self {
        self.with_parent = true;
        self
    }

    /// Has `tracing` told, at its level `TRACE`, what is sent and received, which may be anybody's
    /// secrets. Without it, only how much.
    #[cfg(feature = "tracing")]
    pub fn trace_payloads(mut self) -> Self {
        self.payloads = true;
        self
    }

    /// Records each connection over a byte stream, for [`Recording`](mcp_proto::record::Recording)
    /// to print and to replay: what comes in and goes out, and what is done here, each with its
    /// time. `make` makes what a recording is written to, once for each connection.
    ///
    /// **A recording holds all that is said, secrets included**: keep it as you would keep those.
    /// Connections over HTTP are not recorded.
    ///
    /// It is written through a buffer, which is flushed when the connection ends; a program that is
    /// killed loses up to 64 KiB of it. The connection waits for what is written to, which must
    /// not wait for the connection. Where that fails or panics, the recording ends and the
    /// connection goes on; with the feature `tracing`, that is told once.
    ///
    /// To replay a recording takes a machine of the same configuration: [`machine`](Self::machine)
    /// makes it.
    ///
    /// ```
    /// use std::fs::{self, File};
    /// use mcp_adapter::Server;
    /// use mcp_adapter::proto::record::Recording;
    ///
    /// let server = Server::new("weather", "1.0.0").record(|| File::create("weather.tape"));
    /// # if false {
    /// // Later, and by a program that offers the same:
    /// let tape = fs::read("weather.tape").unwrap();
    /// let recording = Recording::read(&tape).unwrap();
    /// recording.replay(&mut server.machine(recording.began()).unwrap()).unwrap();
    /// # }
    /// ```
    #[cfg(feature = "record")]
    pub fn record<W: io::Write + Send + 'static>(
        mut self,
        make: impl Fn() -> io::Result<W> + Send + Sync + 'static,
    ) -> Self {
        self.tapes = Tapes::new(make);
        self
    }

    /// The bounds of each connection.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.offer.config = self.offer.config.limits(limits);
        self
    }

    /// Handlers run at a time, 64 by default, at least one; further requests wait in order.
    pub fn threads_max(mut self, threads_max: usize) -> Self {
        self.threads = threads(threads_max);
        self
    }

    /// Entries on one page of a list, 100 by default, at least one.
    pub fn page_max(self, page_max: usize) -> Self {
        self.offer.set(|catalog| catalog.entries_max(page_max));
        self
    }

    /// Has `hear` hear of the rules that the client breaks. It must not wait for the connection.
    pub fn on_violation(mut self, hear: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        self.on_violation = Some(Arc::new(hear));
        self
    }

    /// A connection over streams that the adapter has, and what is to drive it: what adapters call
    /// `serve`.
    ///
    /// # Errors
    /// When something was registered that cannot be offered.
    pub fn open_on(&self, runtime: Arc<dyn Spawn>) -> io::Result<(Serving, Driving<Machine>)> {
        let clock = Clock::new();
        let began = clock.now();
        let transport = self.tapes.carry(self.machine(began)?, began);
        let link = self.link(clock, transport, runtime);
        let driving = Driving::new(Arc::clone(&link), None, Limits::default());
        Ok((Serving::new(link, self.with_parent), driving))
    }

    /// The machine of a connection over a byte stream, made at `began`: as each has it before the
    /// first byte, to replay what was recorded of one, or to be driven by hand. It declares
    /// what is offered now.
    ///
    /// # Errors
    /// When something was registered that cannot be offered.
    pub fn machine(&self, began: Instant) -> io::Result<Stdio<Machine>> {
        Ok(Stdio::new(Machine::new(began, self.declared()?)))
    }

    /// What clients are told of the server.
    pub(crate) fn declared(&self) -> io::Result<Config> {
        self.offer.declared()
    }

    /// The input schema of a tool.
    #[cfg(feature = "http")]
    pub(crate) fn schema_of(&self, tool: &str) -> Option<Raw> {
        let catalog = self.offer.changes.catalog();
        catalog.tool(tool).map(|tool| tool.input_schema.0.clone())
    }

    /// One more connection.
    pub(crate) fn link(
        &self,
        clock: Clock,
        transport: Transport<Machine>,
        runtime: Arc<dyn Spawn>,
    ) -> Arc<Link<Machine>> {
        let shared = Shared {
            changes: self.offer.changes.clone(),
            sealing: self.offer.sealing.clone(),
            checks: self.offer.checks.clone(),
            workers: Workers::new(Arc::clone(&self.threads), runtime),
            on_violation: self.on_violation.clone(),
            on_watch: self.on_watch.clone(),
        };
        Link::over_transport(clock, transport, shared, Trace::new("server", self.payloads))
    }
}

/// What is added, whatever serves it.
impl Server {
    fn add_tool(mut self, tool: Tool, handler: Handler) -> Self {
        self.offer
            .add(&format!("the tool `{}`", tool.name), |catalog| catalog.add_tool(tool, handler));
        self
    }

    fn add_resource(
        mut self,
        resource: Resource,
        serves: Serves<(ReadResource, Variables), ReadResourceResult>,
    ) -> Self {
        self.offer.add(&format!("the resource `{}`", resource.uri), |catalog| {
            catalog.add_resource(resource, Handler::Resource(serves))
        });
        self
    }

    fn add_template(
        mut self,
        template: ResourceTemplate,
        serves: Serves<(ReadResource, Variables), ReadResourceResult>,
    ) -> Self {
        self.offer.add(&format!("the resource template `{}`", template.uri_template), |catalog| {
            catalog.add_template(template, Handler::Resource(serves))
        });
        self
    }

    fn complete_template(
        mut self,
        uri_template: &str,
        variable: &str,
        serves: Serves<Complete, CompleteResult>,
    ) -> Self {
        self.offer.add(&format!("a completion of `{variable}` in `{uri_template}`"), |catalog| {
            catalog.add_template_completion(uri_template, variable, Handler::Completion(serves))
        });
        self
    }

    fn add_prompt(mut self, prompt: Prompt, serves: Serves<GetPrompt, GetPromptResult>) -> Self {
        self.offer.add(&format!("the prompt `{}`", prompt.name), |catalog| {
            catalog.add_prompt(prompt, Handler::Prompt(serves))
        });
        self
    }

    fn complete_prompt(
        mut self,
        prompt: &str,
        argument: &str,
        serves: Serves<Complete, CompleteResult>,
    ) -> Self {
        self.offer
            .add(&format!("a completion of `{argument}` of the prompt `{prompt}`"), |catalog| {
                catalog.add_prompt_completion(prompt, argument, Handler::Completion(serves))
            });
        self
    }
}

/// The schema of a tool's arguments, from their type.
#[cfg(feature = "schemars")]
fn schema_of<A: schemars::JsonSchema>() -> Raw {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    // A type without fields has a schema that says nothing of objects, which the protocol requires.
    schema.insert("type".into(), "object".into());
    schema.remove("title");
    // If it cannot be written, the catalogue says that it is not one.
    Raw::new(&schema).unwrap_or_else(|_| Raw::empty_object())
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("catalog", &*self.offer.changes.catalog())
            .finish_non_exhaustive()
    }
}
