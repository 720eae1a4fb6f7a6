//! What a server offers, while it is being put together; knows nothing of how handlers run.

use std::io;
use std::mem;

use mcp_proto::Capability;
use mcp_proto::catalog::{Catalog, Refused};
use mcp_proto::server::Config;

use crate::server::changes::Changes;
use crate::server::handler::Handler;
use crate::server::handler::round_state::Sealing;
use crate::validation::Checks;

/// The catalogue, what is declared besides, and what went wrong so far.
#[derive(Clone)]
pub(crate) struct Offer {
    pub(crate) config: Config,
    pub(crate) changes: Changes,
    pub(crate) sealing: Sealing,
    pub(crate) checks: Checks,
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
            checks: Checks::default(),
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
        if let Some(problem) = self.problem.clone().or_else(|| self.unusable()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
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

    /// A tool whose schema is to be checked and cannot be. (JSON-26)
    #[cfg(feature = "jsonschema")]
    fn unusable(&self) -> Option<String> {
        let schemas = self.checks.schemas.as_ref()?;
        let catalog = self.changes.catalog();
        catalog.tools().find_map(|(tool, _)| {
            let output = tool.output_schema.as_ref().map(|schema| &schema.0);
            let mut all = std::iter::once(&*tool.input_schema).chain(output);
            let wrong = all.find_map(|schema| schemas.compile(schema).err())?;
            Some(format!("the tool `{}` cannot be offered: {wrong}", tool.name))
        })
    }

    #[cfg(not(feature = "jsonschema"))]
    #[allow(clippy::unused_self, reason = "as with the feature")]
    const fn unusable(&self) -> Option<String> {
        None
    }
}
