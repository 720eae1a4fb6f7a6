//! The configuration of a server while it is being built.

use std::io;
use std::mem;
use std::sync::Arc;

use mcp_proto::catalog::Catalog;
use mcp_proto::schema::Capabilities;
use mcp_proto::server::Config;
use mcp_proto::{Capability, ExtensionError, Raw, Side};

use crate::declared_extensions::DeclaredExtensions;
use crate::exec::pace::Pace;
use crate::server::catalog_edit::{CatalogEdit, EditError};
use crate::server::changes::Changes;
use crate::server::handler::Handler;
use crate::server::handler::round_state::StateSealing;
use crate::server::required_scopes::RequiredScopes;
use crate::server::tasks::declare;

/// The catalog of a server, its further capabilities, and the first error so far.
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) config: Config,
    pub(crate) extensions: DeclaredExtensions,
    pub(crate) changes: Changes,
    pub(crate) sealing: StateSealing,
    /// Capabilities declared in addition to those of the catalog.
    pub(crate) extra: Vec<Capability>,
    pub(crate) experimental: Option<Raw>,
    /// Resource subscriptions are declared.
    pub(crate) has_subscriptions: bool,
    /// Lists of all kinds are declared, because a handle may add their first entries later.
    pub(crate) has_changes: bool,
    /// Change notifications are declared for lists with entries.
    pub(crate) has_list_changed: bool,
    /// The capabilities of the lists that a handler serves, without and with notifications.
    pub(crate) handled_lists: Vec<(Capability, Capability)>,
    /// Some calls of tools become tasks.
    pub(crate) has_tasks: bool,
    /// The pace of the checks of long arguments; `None` if arguments are not checked.
    pub(crate) argument_checks: Option<Arc<Pace>>,
    /// What was registered last.
    last: Last,
    /// The first invalid entry, and what is wrong with it.
    error: Option<String>,
}

/// What was registered last, for the scopes that it requires.
#[derive(Clone)]
enum Last {
    Nothing,
    /// An entry and its scopes.
    Entry(String, RequiredScopes),
    /// A handler of entries that are not registered, which has no scopes.
    Unregistered(&'static str),
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            extensions: DeclaredExtensions::default(),
            changes: Changes::new(),
            sealing: StateSealing::default(),
            extra: Vec::new(),
            experimental: None,
            has_subscriptions: false,
            has_changes: false,
            has_list_changed: false,
            handled_lists: Vec::new(),
            has_tasks: false,
            argument_checks: None,
            last: Last::Nothing,
            error: None,
        }
    }

    /// Changes the catalog. [`config`](Self::config) reports the first error.
    pub(crate) fn register(
        &mut self,
        register: impl FnOnce(&mut CatalogEdit<'_>) -> Result<(), EditError>,
    ) {
        let checks = self.changes.checks();
        let (registered, last) = self.changes.with_catalog(|catalog| {
            let mut edit = CatalogEdit::new(catalog, checks);
            (register(&mut edit), edit.take_last())
        });
        if let Some((what, required)) = last {
            self.last = Last::Entry(what, required);
        }
        if let Err(error) = registered {
            self.error.get_or_insert_with(|| error.to_string());
        }
    }

    /// Registers a handler of entries that are not registered. There must be only one of each kind.
    pub(crate) fn register_unregistered(&mut self, what: &'static str, is_second: bool) {
        if is_second {
            let error = || format!("{what} cannot be set: it exists already; remove one of them");
            self.error.get_or_insert_with(error);
        }
        self.last = Last::Unregistered(what);
    }

    /// Registers the handler of a request of an extension, which needs `scopes`.
    pub(crate) fn register_method(&mut self, method: &'static str, scopes: RequiredScopes) {
        self.extensions.handle(method);
        self.last = Last::Entry(format!("method {method:?}"), scopes);
    }

    /// Registers the handler of a request that belongs to no extension, which needs `scopes`.
    pub(crate) fn serve_method(&mut self, method: &'static str, scopes: RequiredScopes) {
        self.extensions.serve(method);
        self.config = self.config.clone().serve_method(method);
        self.last = Last::Entry(format!("method {method:?}"), scopes);
    }

    /// Makes requests for the entry that was registered last need scopes.
    pub(crate) fn require_scopes(&mut self, scopes: Vec<String>) {
        let set = match &self.last {
            Last::Entry(what, required) => {
                required.set(scopes).map_err(|why| format!("the scopes of {what}: {why}"))
            }
            Last::Unregistered(what) => Err(format!(
                "`Server::requires` follows {what}, which is no entry: call `Cx::needs_scopes` in \
                 its handler, or move `requires` directly after an entry"
            )),
            Last::Nothing => Err("`Server::requires` follows no entry: add one first".to_owned()),
        };
        if let Err(error) = set {
            self.error.get_or_insert(error);
        }
    }

    /// Returns the entry that was registered last.
    pub(crate) fn last_entry(&self) -> Option<&str> {
        match &self.last {
            Last::Entry(what, _) => Some(what),
            Last::Nothing | Last::Unregistered(_) => None,
        }
    }

    /// Makes the start of the server fail, unless something else does.
    pub(crate) fn refuse(&mut self, why: &str) {
        self.error.get_or_insert_with(|| why.to_owned());
    }

    /// Configures the catalog.
    pub(crate) fn configure(&self, configure: impl FnOnce(Catalog<Handler>) -> Catalog<Handler>) {
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
        let checked = self.extensions.check(Side::Client);
        checked.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        // CAP-01: declares what is offered, and nothing else.
        let mut capabilities = self.changes.catalog().capabilities();
        if self.has_changes {
            capabilities = LISTS_CHANGED.into_iter().fold(capabilities, Capabilities::with);
        }
        for (list, list_changed) in &self.handled_lists {
            let capability = if self.has_list_changed { list_changed } else { list };
            capabilities = capabilities.with(*capability);
        }
        for capability in &self.extra {
            capabilities = capabilities.with(*capability);
        }
        if let Some(experimental) = &self.experimental {
            capabilities = capabilities.with_experimental(experimental.clone());
        }
        if self.has_subscriptions && capabilities.has(Capability::Resources) {
            capabilities = capabilities.with(Capability::ResourcesSubscribe);
        }
        let mut config = self.config.clone();
        if self.has_tasks {
            let declared = declare(config, capabilities);
            let invalid = |error: ExtensionError| {
                let why = format!("{error} (`Server::as_task` declares the extension of tasks)");
                io::Error::new(io::ErrorKind::InvalidInput, why)
            };
            (config, capabilities) = declared.map_err(invalid)?;
        }
        self.changes.set_announced(&capabilities);
        Ok(config.capabilities(capabilities).decide_subscriptions())
    }
}

/// The notifications of changed lists.
const LISTS_CHANGED: [Capability; 3] = [
    Capability::PromptsListChanged,
    Capability::ResourcesListChanged,
    Capability::ToolsListChanged,
];
