//! The settings of a server, independent of its runtime.

pub(crate) mod additions;
pub(crate) mod builder;
pub(crate) mod callbacks;
pub(crate) mod extension_settings;
pub(crate) mod handlers;
pub(crate) mod lists;
pub(crate) mod open;
pub(crate) mod registration;
pub(crate) mod scope_settings;
pub(crate) mod unregistered_settings;

use std::sync::Arc;

use mcp_proto::Raw;
use mcp_proto::schema::Tool;

use crate::exec::callbacks::CallbackThreads;
use crate::exec::pace::Pace;
use crate::exec::workers::{HandlerThreads, THREADS_MAX, handler_threads};
use crate::process::settings::StdioSettings;
use crate::recorder::Recorder;
use crate::server::catalog::unregistered::UnregisteredHandlers;
use crate::server::catalog::visibility::Visibility;
use crate::server::connection::events::ServerCallbacks;
use crate::server::handler::EntryHandler;
use crate::server::layers::Layers;
use crate::server::settings::builder::Builder;
use crate::server::tasks::TaskCell;

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
}
