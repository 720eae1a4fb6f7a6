//! The configuration of a server while it is being built.

use std::io;
use std::mem;

use mcp_proto::Capability;
use mcp_proto::catalog::Catalog;
use mcp_proto::schema::Capabilities;
use mcp_proto::server::Config;

use crate::server::catalog_edit::{CatalogEdit, EditError};
use crate::server::changes::Changes;
use crate::server::handler::Handler;
use crate::server::handler::round_state::StateSealing;

/// The catalog of a server, its further capabilities, and the first error so far.
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) config: Config,
    pub(crate) changes: Changes,
    pub(crate) sealing: StateSealing,
    /// Capabilities declared in addition to those of the catalog.
    pub(crate) extra: Vec<Capability>,
    /// Resource subscriptions are declared.
    pub(crate) has_subscriptions: bool,
    /// Lists of all kinds are declared, because a handle may add their first entries later.
    pub(crate) has_changes: bool,
    /// Change notifications are declared for lists with entries.
    pub(crate) has_list_changed: bool,
    /// A handler lists resources.
    pub(crate) has_resource_lister: bool,
    /// The first invalid entry, and what is wrong with it.
    error: Option<String>,
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            changes: Changes::new(),
            sealing: StateSealing::default(),
            extra: Vec::new(),
            has_subscriptions: false,
            has_changes: false,
            has_list_changed: false,
            has_resource_lister: false,
            error: None,
        }
    }

    /// Changes the catalog. [`config`](Self::config) reports the first error.
    pub(crate) fn register(
        &mut self,
        register: impl FnOnce(&mut CatalogEdit<'_>) -> Result<(), EditError>,
    ) {
        let checks = self.changes.checks();
        let registered =
            self.changes.with_catalog(|catalog| register(&mut CatalogEdit::new(catalog, checks)));
        if let Err(error) = registered {
            self.error.get_or_insert_with(|| error.to_string());
        }
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
        // CAP-01: declares what is offered, and nothing else.
        let mut capabilities = self.changes.catalog().capabilities();
        if self.has_changes {
            capabilities = LISTS_CHANGED.into_iter().fold(capabilities, Capabilities::with);
        }
        if self.has_resource_lister {
            let capability = match self.has_list_changed {
                true => Capability::ResourcesListChanged,
                false => Capability::Resources,
            };
            capabilities = capabilities.with(capability);
        }
        for capability in &self.extra {
            capabilities = capabilities.with(*capability);
        }
        if self.has_subscriptions && capabilities.has(Capability::Resources) {
            capabilities = capabilities.with(Capability::ResourcesSubscribe);
        }
        Ok(self.config.clone().capabilities(capabilities).decide_subscriptions())
    }
}

/// The notifications of changed lists.
const LISTS_CHANGED: [Capability; 3] = [
    Capability::PromptsListChanged,
    Capability::ResourcesListChanged,
    Capability::ToolsListChanged,
];
