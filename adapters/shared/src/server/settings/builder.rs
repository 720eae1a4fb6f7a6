//! The configuration of a server while it is being built.

use std::io;
use std::mem;
use std::sync::Arc;

use mcp_proto::catalog::Catalog;
use mcp_proto::schema::Capabilities;
use mcp_proto::server::Config;
use mcp_proto::{Capability, ExtensionError, Side};

use crate::declared_extensions::DeclaredExtensions;
use crate::exec::pace::Pace;
use crate::server::catalog::catalog_edit::{CatalogEdit, EditError};
use crate::server::catalog::changes::Changes;
use crate::server::handler::EntryHandler;
use crate::server::handler::needs::{NeededState, Needs};
use crate::server::handler::state::States;
use crate::server::handler::state_sealing::StateSealing;
use crate::server::tasks::declare;

/// The catalog of a server, its further capabilities, and the first error so far.
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) config: Config,
    pub(crate) extensions: DeclaredExtensions,
    pub(crate) changes: Changes,
    pub(crate) sealing: StateSealing,
    /// Resource subscriptions are declared.
    pub(crate) has_subscriptions: bool,
    /// Lists of all kinds are declared, because a handle may add their first entries later.
    pub(crate) has_changes: bool,
    /// Change notifications are declared for lists with entries.
    pub(crate) has_list_changed: bool,
    /// The capabilities of the lists that a handler serves, without and with notifications.
    pub(crate) handled_lists: Vec<(Capability, Capability)>,
    /// The states that handlers take.
    pub(crate) states: Arc<States>,
    /// The pace of the checks of long arguments; `None` if arguments are not checked.
    pub(crate) argument_checks: Option<Arc<Pace>>,
    /// The first invalid entry, and what is wrong with it.
    error: Option<String>,
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            extensions: DeclaredExtensions::default(),
            changes: Changes::new(),
            sealing: StateSealing::default(),
            has_subscriptions: false,
            has_changes: false,
            has_list_changed: false,
            handled_lists: Vec::new(),
            states: Arc::default(),
            argument_checks: None,
            error: None,
        }
    }

    /// Changes the catalog. [`config`](Self::config) reports the first error.
    pub(crate) fn register(
        &mut self,
        register: impl FnOnce(&mut CatalogEdit<'_>) -> Result<(), EditError>,
    ) {
        let registered = self.changes.register(register);
        if let Err(error) = registered {
            self.error.get_or_insert_with(|| error.to_string());
        }
    }

    /// Registers a handler of entries that are not registered. There must be only one of each kind.
    pub(crate) fn register_unregistered(
        &mut self,
        what: &'static str,
        is_second: bool,
        needs: Needs,
    ) {
        if is_second {
            let error = || format!("{what} cannot be set: it exists already; remove one of them");
            self.error.get_or_insert_with(error);
        }
        self.changes.need_states(what, needs.states);
    }

    /// Registers the handler of a request of an extension, or of none.
    pub(crate) fn register_method(
        &mut self,
        method: &'static str,
        is_of_extension: bool,
        states: Vec<NeededState>,
    ) {
        if is_of_extension {
            self.extensions.handle(method);
        } else {
            self.extensions.serve(method);
            self.config = self.config.clone().serve_method(method);
        }
        self.changes.need_states(&format!("method {method:?}"), states);
    }

    /// Makes the start of the server fail, unless something else does.
    pub(crate) fn refuse(&mut self, why: &str) {
        self.error.get_or_insert_with(|| why.to_owned());
    }

    /// Configures the catalog.
    pub(crate) fn configure(
        &self,
        configure: impl FnOnce(Catalog<EntryHandler>) -> Catalog<EntryHandler>,
    ) {
        self.changes.with_catalog(|catalog| *catalog = configure(mem::take(catalog)));
    }

    /// Returns the configuration of the server's connections, with all capabilities.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if a registered entry is invalid.
    pub(crate) fn config(&self) -> io::Result<Config> {
        let invalid_tool = || {
            let catalog = self.changes.catalog();
            self.changes.checks().first_invalid(catalog.tools().map(|(tool, _)| tool))
        };
        if let Some(error) = self.error.clone().or_else(invalid_tool) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let invalid = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
        self.changes.start(&self.states).map_err(invalid)?;
        let checked = self.extensions.check(Side::Client);
        checked.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        // CAP-01: declares what is offered, and nothing else.
        let listed = self.changes.catalog().capabilities();
        let listed = OF_LISTS.into_iter().filter(|capability| listed.has(*capability));
        let declared = self.config.capabilities_ref().clone();
        let mut capabilities = listed.fold(declared, Capabilities::with);
        if self.has_changes {
            capabilities = LISTS_CHANGED.into_iter().fold(capabilities, Capabilities::with);
        }
        for (list, list_changed) in &self.handled_lists {
            let capability = if self.has_list_changed { list_changed } else { list };
            capabilities = capabilities.with(*capability);
        }
        if self.has_subscriptions && capabilities.has(Capability::Resources) {
            capabilities = capabilities.with(Capability::ResourcesSubscribe);
        }
        let mut config = self.config.clone();
        if self.changes.open_tasks().is_some() {
            let declared = declare(config, capabilities);
            let invalid = |error: ExtensionError| {
                let why = format!("{error} (`Tool::as_task` declares the extension of tasks)");
                io::Error::new(io::ErrorKind::InvalidInput, why)
            };
            (config, capabilities) = declared.map_err(invalid)?;
        }
        self.changes.set_announced(&capabilities);
        Ok(config.capabilities(capabilities).decide_subscriptions())
    }
}

/// The capabilities that the entries of the catalog may declare.
const OF_LISTS: [Capability; 8] = [
    Capability::Completions,
    Capability::Prompts,
    Capability::PromptsListChanged,
    Capability::Resources,
    Capability::ResourcesListChanged,
    Capability::ResourcesSubscribe,
    Capability::Tools,
    Capability::ToolsListChanged,
];

/// The notifications of changed lists.
const LISTS_CHANGED: [Capability; 3] = [
    Capability::PromptsListChanged,
    Capability::ResourcesListChanged,
    Capability::ToolsListChanged,
];
