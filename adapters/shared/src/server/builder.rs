//! The configuration of a server while it is being built.

use std::io;
use std::mem;

use mcp_proto::Capability;
use mcp_proto::catalog::{Catalog, CatalogError};
use mcp_proto::server::Config;

use crate::server::changes::Changes;
use crate::server::handler::Handler;
use crate::server::handler::round_state::StateSealing;
use crate::validation::ToolChecks;

/// The catalog of a server, its further capabilities, and the first error so far.
#[derive(Clone)]
pub(crate) struct Builder {
    pub(crate) config: Config,
    pub(crate) changes: Changes,
    pub(crate) sealing: StateSealing,
    pub(crate) checks: ToolChecks,
    /// Capabilities declared in addition to those of the catalog.
    pub(crate) extra: Vec<Capability>,
    /// Resource subscriptions are declared.
    pub(crate) has_subscriptions: bool,
    /// The first invalid entry, and what is wrong with it.
    error: Option<String>,
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            changes: Changes::new(),
            sealing: StateSealing::default(),
            checks: ToolChecks::default(),
            extra: Vec::new(),
            has_subscriptions: false,
            error: None,
        }
    }

    /// Adds an entry to the catalog. [`config`](Self::config) reports the error if it is invalid.
    pub(crate) fn add<T>(
        &mut self,
        what: &str,
        add: impl FnOnce(&mut Catalog<Handler>) -> Result<T, CatalogError>,
    ) {
        let added = add(&mut self.changes.catalog_mut());
        if let Err(refused) = added {
            self.error.get_or_insert_with(|| format!("{what} cannot be offered: {refused}"));
        }
    }

    /// Records why an entry is invalid. [`config`](Self::config) reports it.
    #[cfg(feature = "schemars")]
    pub(crate) fn refuse(&mut self, reason: String) {
        self.error.get_or_insert(reason);
    }

    /// Configures the catalog.
    pub(crate) fn configure(&self, configure: impl FnOnce(Catalog<Handler>) -> Catalog<Handler>) {
        let mut catalog = self.changes.catalog_mut();
        *catalog = configure(mem::take(&mut *catalog));
    }

    /// Returns the configuration of the server's connections, with all capabilities.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::InvalidInput`] if a registered entry is invalid.
    pub(crate) fn config(&self) -> io::Result<Config> {
        let invalid_tool = || {
            let catalog = self.changes.catalog();
            self.checks.first_invalid(catalog.tools().map(|(tool, _)| tool))
        };
        if let Some(error) = self.error.clone().or_else(invalid_tool) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        // CAP-01: declares what is offered, and nothing else.
        let mut capabilities = self.changes.catalog().capabilities();
        for capability in &self.extra {
            capabilities = capabilities.with(*capability);
        }
        if self.has_subscriptions && capabilities.has(Capability::Resources) {
            capabilities = capabilities.with(Capability::ResourcesSubscribe);
        }
        Ok(self.config.clone().capabilities(capabilities).decide_subscriptions())
    }
}
