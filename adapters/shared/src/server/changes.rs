//! Telling of changes while serving: the catalogue that all connections of a server share, and the
//! connections.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use mcp_proto::catalog::{Catalog, Changed, Refused};
use mcp_proto::schema::{CallToolResult, Tool};
use mcp_proto::{Change, Misuse};
use serde::de::DeserializeOwned;

use crate::server::handler::Handler;
use crate::server::handler::context::{Cx, Wire};
use crate::server::handler::tool_error::ToolError;

/// Tells the clients of a server that something changed, of every open connection and every
/// revision.
///
/// Cheap to clone, and usable from anywhere, before the server serves and after it has ended:
/// nobody listening is fine. None of its methods waits. A client that does not read is told later,
/// once for each thing that changed.
///
/// A server tells only of what it declares: [`Server::changing`](crate::Server::changing) says what
/// that is.
#[derive(Clone)]
pub struct Changes {
    hub: Arc<Hub>,
}

struct Hub {
    catalog: RwLock<Catalog<Handler>>,
    wires: Mutex<Vec<Weak<dyn Wire>>>,
}

impl Changes {
    /// The list of tools changed.
    ///
    /// # Errors
    /// [`Misuse::Undeclared`] when the server does not tell of it; [`Misuse::Blocked`] when one of
    /// the clients does not read, more than 1,024 resources wait for it already, and it will
    /// not hear of this one. The others do.
    pub fn tools_list_changed(&self) -> Result<(), Misuse> {
        self.tell(Change::Tools)
    }

    /// The list of prompts changed.
    ///
    /// # Errors
    /// As [`tools_list_changed`](Self::tools_list_changed).
    pub fn prompts_list_changed(&self) -> Result<(), Misuse> {
        self.tell(Change::Prompts)
    }

    /// The list of resources changed, or that of their templates.
    ///
    /// # Errors
    /// As [`tools_list_changed`](Self::tools_list_changed).
    pub fn resources_list_changed(&self) -> Result<(), Misuse> {
        self.tell(Change::Resources)
    }

    /// The resource `uri` changed: those who subscribed to it are told.
    ///
    /// # Errors
    /// As [`tools_list_changed`](Self::tools_list_changed).
    pub fn resource_updated(&self, uri: &str) -> Result<(), Misuse> {
        self.tell(Change::Resource(uri))
    }

    /// Adds a tool, or replaces it, as [`Server::tool_with`](crate::Server::tool_with) does;
    /// clients are told.
    ///
    /// A server that has no tools when it begins to serve must declare by itself that it will:
    /// [`Server::capability`](crate::Server::capability) with `Capability::ToolsListChanged`.
    ///
    /// # Errors
    /// [`Refused`] when what describes it is not well formed.
    pub fn add_tool<A, R>(
        &self,
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Result<(), Refused>
    where
        A: DeserializeOwned,
        R: Into<CallToolResult>,
    {
        let changed = self.catalog_mut().add_tool(tool, Handler::tool(handler))?;
        self.tell_list(changed);
        Ok(())
    }

    /// Takes a tool out of the list; clients are told. Calls that are running end as they would
    /// have.
    ///
    /// # Errors
    /// [`Refused::Unknown`] when there is none of this name.
    pub fn remove_tool(&self, name: &str) -> Result<(), Refused> {
        let (changed, _handler) = self.catalog_mut().remove_tool(name)?;
        self.tell_list(changed);
        Ok(())
    }

    pub(crate) fn new() -> Self {
        let catalog = RwLock::new(Catalog::new().replacing());
        Self { hub: Arc::new(Hub { catalog, wires: Mutex::default() }) }
    }

    pub(crate) fn catalog(&self) -> RwLockReadGuard<'_, Catalog<Handler>> {
        self.hub.catalog.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn catalog_mut(&self) -> RwLockWriteGuard<'_, Catalog<Handler>> {
        self.hub.catalog.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on `wire` is told, for as long as it lives.
    pub(crate) fn join(&self, wire: &Arc<dyn Wire>) {
        let mut wires = self.hub.wires.lock().unwrap_or_else(PoisonError::into_inner);
        wires.retain(|wire| wire.strong_count() > 0);
        wires.push(Arc::downgrade(wire));
    }

    /// What the server does not declare is not told.
    fn tell_list(&self, changed: Changed) {
        let _nobody_hears = self.tell(match changed {
            Changed::Prompts => Change::Prompts,
            Changed::Resources => Change::Resources,
            Changed::Tools => Change::Tools,
        });
    }

    fn tell(&self, change: Change<'_>) -> Result<(), Misuse> {
        // Without the lock: those who are told may tell of changes themselves.
        let wires = self.hub.wires.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut outcome = Ok(());
        for wire in wires.iter().filter_map(Weak::upgrade) {
            match wire.tell(change) {
                // Whose connection is over need not be told.
                Ok(()) | Err(Misuse::Closed) => {}
                Err(misuse) => outcome = Err(misuse),
            }
        }
        outcome
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}
