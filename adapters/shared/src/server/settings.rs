//! What a server has been set to, whatever its runtime.

use std::sync::Arc;

use mcp_proto::Raw;
use mcp_proto::schema::Tool;
#[cfg(feature = "http")]
use mcp_proto::{Caller, catalog::Catalog};

use crate::exec::callbacks::CallbackThreads;
use crate::exec::pace::Pace;
use crate::exec::workers::{HandlerThreads, THREADS_MAX, handler_threads};
use crate::process::settings::StdioSettings;
use crate::recorder::Recorder;
use crate::server::builder::Builder;
use crate::server::events::ServerCallbacks;
use crate::server::handler::EntryHandler;
use crate::server::layers::Layers;
use crate::server::tasks::TaskCell;
use crate::server::unregistered::UnregisteredHandlers;
use crate::server::visibility::Visibility;

/// A change of the settings of a server.
pub(crate) type Setting = Box<dyn FnOnce(&mut ServerSettings) + Send>;

/// The settings of a server, which all of its connections share.
#[derive(Clone)]
pub(crate) struct ServerSettings {
    pub(crate) builder: Builder,
    pub(crate) threads: HandlerThreads,
    pub(crate) callback_threads: CallbackThreads,
    pub(crate) trace_payloads: bool,
    pub(crate) recorder: Recorder,
    pub(crate) stdio: StdioSettings,
    pub(crate) callbacks: Arc<ServerCallbacks>,
    /// The middleware around requests; `None` if there is none.
    pub(crate) layers: Option<Arc<Layers>>,
    pub(crate) visibility: Visibility,
    pub(crate) unregistered: UnregisteredHandlers,
    /// The tasks, if any tool call becomes one.
    pub(crate) tasks: TaskCell,
}

impl ServerSettings {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        let builder = Builder::new(name, version);
        Self {
            visibility: Visibility::new(builder.changes.has_hidden()),
            builder,
            threads: handler_threads(THREADS_MAX),
            callback_threads: CallbackThreads::default(),
            trace_payloads: false,
            recorder: Recorder::default(),
            stdio: StdioSettings::default(),
            callbacks: Arc::default(),
            layers: None,
            unregistered: UnregisteredHandlers::default(),
            tasks: TaskCell::default(),
        }
    }

    /// Sets the check of the arguments of tool calls.
    pub(crate) fn check_arguments(
        &mut self,
        check: impl Fn(&Tool, &EntryHandler, &Raw) -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.builder.argument_checks.get_or_insert_with(|| Arc::new(Pace::blocking()));
        self.builder.configure(|catalog| catalog.check_arguments(check));
    }

    /// Returns whether functions of the application decide what a caller sees, or which schemas
    /// tools have.
    #[cfg(feature = "http")]
    pub(crate) fn has_entry_filter(&self) -> bool {
        self.visibility.has_filter() || self.unregistered.tool_schema.is_some()
    }

    /// Returns the input schema of a tool; `None` if the caller sees no such tool, or if its access
    /// token lacks scopes of the tool: errors must not describe the schema then.
    #[cfg(feature = "http")]
    pub(crate) fn schema_of(&self, tool: &str, caller: &Caller) -> Option<Raw> {
        let catalog = self.builder.changes.catalog();
        let schema = || {
            self.visibility.of(&catalog, Some(caller)).read(|view| {
                let Some(tool) = view.tool(tool) else {
                    return self.schema_of_unregistered(tool, &catalog, caller);
                };
                let handler = catalog.handler(tool.into())?;
                let is_allowed = handler.scopes().check(Some(caller)).is_ok();
                is_allowed.then(|| tool.input_schema.0.clone())
            })
        };
        // A panic is reported when the call itself is decided on.
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(schema)).ok().flatten()
    }

    /// Returns the input schema of a tool that the fallback serves, if the application says so.
    #[cfg(feature = "http")]
    fn schema_of_unregistered(
        &self,
        tool: &str,
        catalog: &Catalog<EntryHandler>,
        caller: &Caller,
    ) -> Option<Raw> {
        let schema_of = self.unregistered.tool_schema.as_ref()?;
        let is_hidden = self.visibility.of(catalog, Some(caller)).hides_tool(tool);
        if is_hidden { None } else { schema_of(tool, caller) }
    }
}
