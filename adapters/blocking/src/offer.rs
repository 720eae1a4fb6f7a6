//! What a server offers, while it is being put together; knows nothing of how handlers run.

use std::io;
use std::mem;

use mcp_proto::Capability;
use mcp_proto::catalog::{Catalog, Refused};
use mcp_proto::server::Config;

use crate::carried::Sealing;
use crate::changes::Changes;
use crate::handlers::Handler;

/// The catalogue, what is declared besides, and what went wrong so far.
pub(crate) struct Offer {
    pub(crate) config: Config,
    pub(crate) changes: Changes,
    pub(crate) sealing: Sealing,
    /// Declared besides what is in the catalogue.
    pub(crate) also: Vec<Capability>,
    /// Clients are told when resources change.
    pub(crate) watching: bool,
    /// What was first refused, and why.
    problem: Option<String>,
}

impl Offer {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            changes: Changes::new(),
            sealing: Sealing::default(),
            also: Vec::new(),
            watching: false,
            problem: None,
        }
    }

    /// Adds to the catalogue; a refusal is kept for the end.
    pub(crate) fn add<T>(
        &mut self,
        what: &str,
        add: impl FnOnce(&mut Catalog<Handler>) -> Result<T, Refused>,
    ) {
        let added = add(&mut self.changes.catalog_mut());
        if let Err(refused) = added {
            self.problem.get_or_insert_with(|| format!("{what} cannot be offered: {refused}"));
        }
    }

    /// Sets up the catalogue.
    pub(crate) fn set(&self, set: impl FnOnce(Catalog<Handler>) -> Catalog<Handler>) {
        let mut catalog = self.changes.catalog_mut();
        *catalog = set(mem::take(&mut *catalog));
    }

    /// What to tell clients of the server. (CAP-01)
    pub(crate) fn declared(&self) -> io::Result<Config> {
        if let Some(problem) = &self.problem {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem.clone()));
        }
        let mut capabilities = self.changes.catalog().capabilities();
        for capability in &self.also {
            capabilities = capabilities.with(*capability);
        }
        if self.watching && capabilities.has(Capability::Resources) {
            capabilities = capabilities.with(Capability::ResourcesSubscribe);
        }
        Ok(self.config.clone().capabilities(capabilities))
    }
}
