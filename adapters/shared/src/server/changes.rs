//! Changes to a running server: the catalog shared by all its connections, and the notifications
//! sent over them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use mcp_proto::catalog::{Catalog, CatalogError, ChangedList};
use mcp_proto::schema::Tool;
use mcp_proto::{Change, Misuse};
use serde::de::DeserializeOwned;

use crate::server::handler::Handler;
use crate::server::handler::context::{Cx, HandlerLink};
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::tool_result::{IntoToolResult, with_output_schema};

/// A handle that changes a running server's tools and notifies clients of changes.
///
/// In the modern era (from revision 2026-07-28), clients receive only the notifications that they
/// have subscribed to. In the legacy era (up to 2025-11-25), clients subscribe only to resources; a
/// changed list is announced to all connected clients. The handle is cheap to clone and can be used
/// from any thread at any time, even while no client is connected. No method blocks: a client that
/// does not read is notified later, once for each list or resource that changed.
///
/// A server sends only the notifications that it declares; see
/// [`Server::declare_list_changed`](crate::Server::declare_list_changed). Sending an undeclared
/// notification fails, but only while a client is connected.
#[derive(Clone)]
pub struct Changes {
    hub: Arc<Hub>,
}

struct Hub {
    catalog: RwLock<Catalog<Handler>>,
    connections: Mutex<Vec<Weak<dyn HandlerLink>>>,
}

impl Changes {
    /// Notifies clients that the list of tools changed.
    ///
    /// # Errors
    /// Fails with [`Misuse::Undeclared`] if the server does not declare this notification.
    pub fn tools_list_changed(&self) -> Result<(), Misuse> {
        self.send(Change::Tools)
    }

    /// Notifies clients that the list of prompts changed.
    ///
    /// # Errors
    /// Fails with [`Misuse::Undeclared`] if the server does not declare this notification.
    pub fn prompts_list_changed(&self) -> Result<(), Misuse> {
        self.send(Change::Prompts)
    }

    /// Notifies clients that the list of resources or resource templates changed.
    ///
    /// # Errors
    /// Fails with [`Misuse::Undeclared`] if the server does not declare this notification.
    pub fn resources_list_changed(&self) -> Result<(), Misuse> {
        self.send(Change::Resources)
    }

    /// Notifies the clients subscribed to the resource `uri` that it changed.
    ///
    /// All subscribers are notified, whatever principal they belong to. To keep changes of a
    /// resource from a principal, refuse its subscription with
    /// [`Server::accept_subscriptions`](crate::Server::accept_subscriptions).
    ///
    /// # Errors
    /// Fails with
    /// - [`Misuse::Undeclared`] if the server does not declare resource subscriptions;
    /// - [`Misuse::Blocked`] if a client does not read, and too many earlier notifications (1,024,
    ///   or 1 MiB of URIs) are still queued for it. That client misses this notification; all other
    ///   clients are notified.
    pub fn resource_updated(&self, uri: &str) -> Result<(), Misuse> {
        self.send(Change::Resource(uri))
    }

    /// Adds or replaces a tool and notifies clients.
    ///
    /// The parameters are those of [`Server::tool_with`](crate::Server::tool_with).
    ///
    /// If the server starts without tools, declare the notification by passing
    /// `Capability::ToolsListChanged` to [`Server::capability`](crate::Server::capability).
    ///
    /// # Errors
    /// Fails with a [`CatalogError`] if the tool definition is invalid.
    pub fn add_tool<A, R>(
        &self,
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Result<(), CatalogError>
    where
        A: DeserializeOwned,
        R: IntoToolResult,
    {
        let tool = with_output_schema::<R>(tool);
        let changed = self.catalog_mut().add_tool(tool, Handler::tool(handler))?;
        self.send_list_changed(changed);
        Ok(())
    }

    /// Removes a tool and notifies clients. Calls in flight complete normally.
    ///
    /// # Errors
    /// Fails with [`CatalogError::Unknown`] if there is no tool with this name.
    pub fn remove_tool(&self, name: &str) -> Result<(), CatalogError> {
        let (changed, _handler) = self.catalog_mut().remove_tool(name)?;
        self.send_list_changed(changed);
        Ok(())
    }

    pub(crate) fn new() -> Self {
        let catalog = RwLock::new(Catalog::new().replace_duplicates());
        Self { hub: Arc::new(Hub { catalog, connections: Mutex::default() }) }
    }

    pub(crate) fn catalog(&self) -> RwLockReadGuard<'_, Catalog<Handler>> {
        self.hub.catalog.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn catalog_mut(&self) -> RwLockWriteGuard<'_, Catalog<Handler>> {
        self.hub.catalog.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends notifications over `connection` as long as it is alive.
    pub(crate) fn join(&self, connection: &Arc<dyn HandlerLink>) {
        let mut connections = self.hub.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|connection| connection.strong_count() > 0);
        connections.push(Arc::downgrade(connection));
    }

    /// Sends a list-changed notification if the server declares it.
    fn send_list_changed(&self, changed: ChangedList) {
        let _undeclared = self.send(match changed {
            ChangedList::Prompts => Change::Prompts,
            ChangedList::Resources => Change::Resources,
            ChangedList::Tools => Change::Tools,
        });
    }

    fn send(&self, change: Change<'_>) -> Result<(), Misuse> {
        // The lock is released first: handling a change may cause another one.
        let connections =
            self.hub.connections.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut outcome = Ok(());
        for connection in connections.iter().filter_map(Weak::upgrade) {
            match connection.send_change(change) {
                // A closed connection needs no notification.
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
