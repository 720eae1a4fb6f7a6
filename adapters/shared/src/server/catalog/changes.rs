//! Changes to a running server: the catalog shared by all its connections, and the notifications
//! sent over them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};

use mcp_proto::catalog::{Catalog, ChangedList};
use mcp_proto::schema::Capabilities;
use mcp_proto::{Capability, Change, Misuse, Principal, Raw};

use crate::server::catalog::catalog_edit::{CatalogEdit, EditError, Entry, Started};
use crate::server::handler::EntryHandler;
use crate::server::handler::context::HandlerLink;
use crate::server::handler::needs::NeededState;
use crate::server::handler::state::States;
use crate::server::handler::task_service::OpenTasks;
#[cfg(feature = "jsonschema")]
use crate::validation::Schemas;
use crate::validation::ToolChecks;

/// A handle that changes the tools, resources and prompts of a running server, and notifies clients
/// of changes.
///
/// In the modern era (from revision 2026-07-28), clients receive only the notifications that they
/// have subscribed to. In the legacy era (up to 2025-11-25), clients subscribe only to resources; a
/// changed list is announced to all connected clients. The handle is cheap to clone and can be used
/// from any thread at any time, even while no client is connected. No method blocks: a client that
/// does not read is notified later, once for each list or resource that changed.
///
/// A server sends only the notifications that it declares; see
/// [`Server::changes`](crate::Server::changes) and
/// [`Lists::announce_changes`](crate::Lists::announce_changes). Sending an undeclared
/// notification fails, but only while a client is connected.
#[derive(Clone)]
pub struct Changes {
    hub: Arc<Hub>,
}

#[derive(Default)]
struct Hub {
    /// Exchanged as a whole: each request sees one state, and no user code runs under the lock.
    catalog: RwLock<Arc<Catalog<EntryHandler>>>,
    /// Held during an edit, so that none is lost.
    edits: Mutex<()>,
    /// An edit has added entries with scopes.
    has_added_scopes: AtomicBool,
    /// Some entries decide who sees them.
    has_hidden: Arc<AtomicBool>,
    checks: OnceLock<ToolChecks>,
    /// What handlers need of the server.
    needs: Mutex<ServerNeeds>,
    /// The settings that the server has started with; not set before its first connection.
    started: OnceLock<Started>,
    /// The lists whose changes the server announces; `None` before its first connection.
    announced: Mutex<Option<Vec<ChangedList>>>,
    connections: Mutex<Vec<Connected>>,
}

/// What handlers need of the server before it starts.
#[derive(Default)]
struct ServerNeeds {
    /// What creates tasks; `None` if no tool call becomes one.
    tasks: Option<OpenTasks>,
    /// The states that handlers take, with what they serve.
    states: Vec<(String, NeededState)>,
}

/// A connection that receives notifications as long as it is alive.
#[derive(Clone)]
struct Connected {
    link: Weak<dyn HandlerLink>,
    /// The authenticated sender of all its requests.
    principal: Option<Principal>,
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
    /// [`SubscriptionSettings::accept`](crate::SubscriptionSettings::accept).
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

    /// Sends a notification of an [extension](crate::Server::extension) to the clients subscribed
    /// to an element of a [listen key](mcp_proto::Extension::listen_key).
    ///
    /// `params` must be an object. Clients of the legacy era (up to revision 2025-11-25) that
    /// declared the extension receive the notification without a subscription. All subscribers are
    /// notified, whatever principal they belong to: refuse subscriptions with
    /// [`SubscriptionSettings::accept_elements`](crate::SubscriptionSettings::accept_elements). For
    /// a client that does not read, different notifications are queued in order, and equal ones
    /// once.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::{Extension, ExtensionMethod, Raw, Side};
    ///
    /// const DRAWN: &str = "notifications/com.example/drawn";
    ///
    /// let whiteboard = Extension::new("com.example/whiteboard")
    ///     .method(ExtensionMethod::notification(Side::Server, DRAWN))
    ///     .listen_key("boards");
    /// let changes = Server::new("boards", "1.0.0").extension(whiteboard).changes();
    /// let params = Raw::from_text(r#"{"board":"b1"}"#).unwrap();
    /// changes.element_changed("boards", "b1", DRAWN, Some(&params))?;
    /// # Ok::<(), mcp_tokio::proto::Misuse>(())
    /// ```
    ///
    /// # Errors
    /// Fails, but only while a client is connected, with
    /// - [`Misuse::Undeclared`] if no declared extension has the notification;
    /// - [`Misuse::Unencodable`] if `params` is not an object;
    /// - [`Misuse::Blocked`] if a client does not read, and too many earlier notifications (1,024,
    ///   or 1 MiB) are still queued for it. That client misses this notification; all other clients
    ///   are notified.
    pub fn element_changed(
        &self,
        key: &str,
        element: &str,
        method: &str,
        params: Option<&Raw>,
    ) -> Result<(), Misuse> {
        self.send(Change::Extension { method, key, element, params })
    }

    /// Notifies the clients of `principal` that other entries of `lists` are visible to it.
    ///
    /// Call this method when [`Lists::visible_to`](crate::Lists::visible_to) starts to decide
    /// differently. Clients of other principals and clients that are not authenticated are not
    /// notified.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::Principal;
    /// use mcp_tokio::proto::catalog::ChangedList;
    ///
    /// let changes = Server::new("notes", "1.0.0").changes();
    /// let ada = Principal::new("ada").unwrap();
    /// // Ada has become an administrator.
    /// changes.visibility_changed(&ada, &[ChangedList::Tools, ChangedList::Prompts])?;
    /// # Ok::<(), mcp_tokio::proto::Misuse>(())
    /// ```
    ///
    /// # Errors
    /// Fails with [`Misuse::Undeclared`] if the server does not declare one of the notifications.
    /// The others are sent.
    pub fn visibility_changed(
        &self,
        principal: &Principal,
        lists: &[ChangedList],
    ) -> Result<(), Misuse> {
        let mut outcome = Ok(());
        for list in lists {
            let sent = self.send_where(list_change(*list), |connected| {
                connected.principal.as_ref() == Some(principal)
            });
            outcome = outcome.and(sent);
        }
        outcome
    }

    /// Changes tools, resources, resource templates and prompts, all together.
    ///
    /// Each request sees the state before the edit or the state after it. Once the edit is
    /// complete, clients are notified, once for each kind of list that changed: clients of all
    /// principals, also if [`Lists::visible_to`](crate::Lists::visible_to) hides the changed
    /// entries from them. If `edit` fails or panics, nothing changes. Requests in flight complete
    /// with the handlers that they started with.
    ///
    /// Edits run one at a time. `edit` must therefore not call this method for its own server: that
    /// would wait forever. Requests do not wait for edits. An edit takes time proportional to the
    /// number of entries, because it changes a copy of them. Handlers that are no longer needed are
    /// dropped after the edit.
    ///
    /// With [`Server::changes`](crate::Server::changes), lists may be empty when the server starts.
    /// Completions are declared only if an entry has some when the connection is opened; otherwise
    /// pass `Capability::Completions` to [`Server::configure`](crate::Server::configure).
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Resource, Server, Tool};
    ///
    /// let mut server = Server::new("notes", "1.0.0").tool("login", "Logs in", || ());
    /// let changes = server.changes();
    ///
    /// // Later, while clients are connected:
    /// changes.edit(|edit| {
    ///     edit.remove_tool("login")?;
    ///     edit.add(Tool::new("logout", || ()).description("Logs out"))?;
    ///     edit.add(Resource::new("note://1", "1", || "buy milk"))
    /// })?;
    /// # Ok::<(), mcp_tokio::EditError>(())
    /// ```
    ///
    /// # Errors
    /// Fails with the error of `edit`. Fails without a change, once the server has served a
    /// connection, if a changed list is not declared with its notification: clients would not
    /// notice.
    pub fn edit<T>(
        &self,
        edit: impl FnOnce(&mut CatalogEdit<'_>) -> Result<T, EditError>,
    ) -> Result<T, EditError> {
        // Dropped without the lock, with all handlers of the copy or of the old state.
        let mut catalog;
        let (edited, changed) = {
            let _editing = self.lock_edits();
            catalog = self.catalog();
            let started = self.hub.started.get();
            let mut editor = CatalogEdit::new(Arc::make_mut(&mut catalog), self.checks(), started);
            let edited = edit(&mut editor)?;
            self.note_needs(&mut editor);
            if editor.adds_scopes {
                // Before the entries can be found.
                self.hub.has_added_scopes.store(true, Ordering::SeqCst);
            }
            let mut changed = editor.into_changed();
            let is_edited = !changed.is_empty();
            let before = self.catalog();
            // An entry that was removed and added again looks as before.
            changed.retain(|list| differs(*list, &before, &catalog));
            self.check_announced(&changed)?;
            if is_edited {
                self.swap_catalog(&mut catalog);
            }
            (edited, changed)
        };
        drop(catalog);
        self.send_lists_changed(changed);
        Ok(edited)
    }

    /// Adds an entry and notifies clients.
    ///
    /// To change more than one entry, use [`edit`](Self::edit).
    ///
    /// # Errors
    /// Fails under the conditions of [`CatalogEdit::add`].
    pub fn add(&self, entry: impl Entry) -> Result<(), EditError> {
        self.edit(|edit| edit.add(entry))
    }

    pub(crate) fn new() -> Self {
        Self { hub: Arc::default() }
    }

    /// Returns whether an edit has added entries with scopes. Without an authorization, no other
    /// entry has scopes.
    pub(crate) fn has_added_scopes(&self) -> bool {
        self.hub.has_added_scopes.load(Ordering::SeqCst)
    }

    /// Returns a flag that is set once an entry decides who sees it.
    pub(crate) fn has_hidden(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.hub.has_hidden)
    }

    /// Returns the current state of the catalog.
    pub(crate) fn catalog(&self) -> Arc<Catalog<EntryHandler>> {
        Arc::clone(&self.hub.catalog.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the catalog in place, without notifications: clients may not be connected yet.
    pub(crate) fn with_catalog<T>(
        &self,
        change: impl FnOnce(&mut Catalog<EntryHandler>) -> T,
    ) -> T {
        let _editing = self.lock_edits();
        let mut catalog = self.hub.catalog.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut catalog))
    }

    /// Edits the catalog in place, without notifications.
    pub(crate) fn register<T>(&self, edit: impl FnOnce(&mut CatalogEdit<'_>) -> T) -> T {
        let checks = self.checks();
        self.with_catalog(|catalog| {
            let mut editor = CatalogEdit::new(catalog, checks, None);
            let edited = edit(&mut editor);
            self.note_needs(&mut editor);
            edited
        })
    }

    /// Notes what the entries of an edit need of the server.
    fn note_needs(&self, editor: &mut CatalogEdit<'_>) {
        let mut needs = self.hub.needs.lock().unwrap_or_else(PoisonError::into_inner);
        needs.tasks = needs.tasks.or(editor.tasks);
        // Before the entries can be found.
        self.hub.has_hidden.fetch_or(editor.adds_hidden, Ordering::SeqCst);
        // They were checked already if the server has started.
        if self.hub.started.get().is_none() {
            needs.states.append(&mut editor.states);
        }
    }

    /// Notes the states that the handler of `what` takes.
    pub(crate) fn need_states(&self, what: &str, states: Vec<NeededState>) {
        let mut needs = self.hub.needs.lock().unwrap_or_else(PoisonError::into_inner);
        needs.states.extend(states.into_iter().map(|state| (what.to_owned(), state)));
    }

    /// Returns what creates tasks; `None` if no tool call becomes one.
    pub(crate) fn open_tasks(&self) -> Option<OpenTasks> {
        self.hub.needs.lock().unwrap_or_else(PoisonError::into_inner).tasks
    }

    /// Notes that the server starts with these states.
    ///
    /// # Errors
    /// Fails if a handler takes another one.
    pub(crate) fn start(&self, states: &States) -> Result<(), String> {
        let needs = self.hub.needs.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Started { states: states.clone(), has_tasks: needs.tasks.is_some() };
        for (what, state) in &needs.states {
            started.check(what, std::slice::from_ref(state))?;
        }
        // An earlier connection has started with the states of an equal server.
        let _started_already = self.hub.started.set(started);
        Ok(())
    }

    /// Returns the checks of tools, which are off by default.
    pub(crate) fn checks(&self) -> ToolChecks {
        self.hub.checks.get().cloned().unwrap_or_default()
    }

    /// Sets the lists whose changes the server announces.
    pub(crate) fn set_announced(&self, capabilities: &Capabilities) {
        let lists = [ChangedList::Prompts, ChangedList::Resources, ChangedList::Tools];
        let announced = lists.into_iter().filter(|list| capabilities.has(announcement(*list)));
        *self.hub.announced.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(announced.collect());
    }

    /// Fails if clients would not notice a change.
    fn check_announced(&self, changed: &[ChangedList]) -> Result<(), EditError> {
        let announced = self.hub.announced.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(announced) = &*announced else { return Ok(()) };
        let unannounced = changed.iter().find(|list| !announced.contains(list));
        unannounced.map_or(Ok(()), |list| {
            let list = list_name(*list);
            Err(EditError::new(format!(
                "the list of {list} cannot be changed: its notification is not declared, so \
                 clients would not notice; set `Lists::announce_changes`, or \
                 `Server::changes` if the list starts empty"
            )))
        })
    }

    /// Turns the checks of tools on; returns the compiled schemas.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn enable_checks(&self) -> Arc<Schemas> {
        let (checks, schemas) = ToolChecks::enabled();
        // Checks that were turned on before have their own schemas, which are equal.
        let _already_on = self.hub.checks.set(checks);
        schemas
    }

    fn lock_edits(&self) -> MutexGuard<'_, ()> {
        self.hub.edits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Swaps the current catalog with `catalog`.
    fn swap_catalog(&self, catalog: &mut Arc<Catalog<EntryHandler>>) {
        let mut current = self.hub.catalog.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut *current, catalog);
    }

    /// Sends notifications over `connection` as long as it is alive.
    pub(crate) fn join(&self, connection: &Arc<dyn HandlerLink>, principal: Option<Principal>) {
        let mut connections = self.hub.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.retain(|connected| connected.link.strong_count() > 0);
        connections.push(Connected { link: Arc::downgrade(connection), principal });
    }

    /// Sends the list-changed notifications that the server declares.
    fn send_lists_changed(&self, changed: Vec<ChangedList>) {
        for list in changed {
            let _undeclared = self.send(list_change(list));
        }
    }

    fn send(&self, change: Change<'_>) -> Result<(), Misuse> {
        self.send_where(change, |_| true)
    }

    /// Sends a notification over the connections for which `is_meant` returns true.
    fn send_where(
        &self,
        change: Change<'_>,
        is_meant: impl Fn(&Connected) -> bool,
    ) -> Result<(), Misuse> {
        // The lock is released first: handling a change may cause another one.
        let mut connections =
            self.hub.connections.lock().unwrap_or_else(PoisonError::into_inner).clone();
        connections.retain(is_meant);
        let mut outcome = Ok(());
        for link in connections.iter().filter_map(|connected| connected.link.upgrade()) {
            match link.send_change(change) {
                // A closed connection needs no notification.
                Ok(()) | Err(Misuse::Closed) => {}
                Err(misuse) => outcome = Err(misuse),
            }
        }
        outcome
    }
}

const fn list_change(list: ChangedList) -> Change<'static> {
    match list {
        ChangedList::Prompts => Change::Prompts,
        ChangedList::Resources => Change::Resources,
        ChangedList::Tools => Change::Tools,
    }
}

/// Returns the capability to announce changes of a list.
const fn announcement(list: ChangedList) -> Capability {
    match list {
        ChangedList::Prompts => Capability::PromptsListChanged,
        ChangedList::Resources => Capability::ResourcesListChanged,
        ChangedList::Tools => Capability::ToolsListChanged,
    }
}

const fn list_name(list: ChangedList) -> &'static str {
    match list {
        ChangedList::Prompts => "prompts",
        ChangedList::Resources => "resources",
        ChangedList::Tools => "tools",
    }
}

opaque_debug!(Changes);

/// Returns whether clients see a difference between two states of a list.
fn differs(
    list: ChangedList,
    before: &Catalog<EntryHandler>,
    after: &Catalog<EntryHandler>,
) -> bool {
    match list {
        ChangedList::Prompts => {
            before.prompts().map(|(it, _)| it).ne(after.prompts().map(|(it, _)| it))
        }
        ChangedList::Resources => {
            before.resources().map(|(it, _)| it).ne(after.resources().map(|(it, _)| it))
                || before.templates().map(|(it, _)| it).ne(after.templates().map(|(it, _)| it))
        }
        ChangedList::Tools => before.tools().map(|(it, _)| it).ne(after.tools().map(|(it, _)| it)),
    }
}
