//! The editor of a catalog, used by the builder and while the server runs.

use std::collections::BTreeSet;
use std::fmt;

use mcp_proto::catalog::{Catalog, CatalogError, ChangedList};
use mcp_proto::schema::{Complete, CompleteResult, Prompt, Resource, ResourceTemplate, Tool};

use crate::server::handler::needs::NeededState;
use crate::server::handler::required_scopes::RequiredScopes;
use crate::server::handler::state::States;
use crate::server::handler::task_service::OpenTasks;
use crate::server::handler::{EntryHandler, HandlerFn};
use crate::validation::ToolChecks;

/// The tools, resources and prompts of a server during an edit.
///
/// [`Changes::edit`](crate::Changes::edit) passes it to its closure. Clients see none of the
/// changes before the closure returns, and all of them afterwards.
///
/// A method that fails changes nothing. An entry that is replaced keeps its position in the list
/// but not its completion handlers. Requests in flight complete with the handlers that they started
/// with.
pub struct CatalogEdit<'a> {
    catalog: &'a mut Catalog<EntryHandler>,
    checks: ToolChecks,
    changed: Vec<ChangedList>,
    /// The settings that the server has started with.
    started: Option<&'a Started>,
    /// What the entries that were added or replaced need.
    pub(in crate::server) adds_scopes: bool,
    /// What creates tasks, if calls of some tools become them.
    pub(in crate::server) tasks: Option<OpenTasks>,
    pub(in crate::server) adds_hidden: bool,
    pub(in crate::server) states: Vec<(String, NeededState)>,
}

/// The settings that a server has started with.
#[derive(Clone)]
pub(crate) struct Started {
    pub(crate) states: States,
    pub(crate) has_tasks: bool,
}

impl Started {
    /// Checks that handlers of `what` find the states that they take.
    pub(crate) fn check(&self, what: &str, needed: &[NeededState]) -> Result<(), String> {
        match needed.iter().find(|needed| !self.states.has(needed)) {
            Some(NeededState { name, .. }) => Err(format!(
                "{what} takes the state `{name}`, which the server does not have: set it with \
                 `Server::state`, or take it by value if it is no state"
            )),
            None => Ok(()),
        }
    }
}

impl<'a> CatalogEdit<'a> {
    pub(in crate::server) const fn new(
        catalog: &'a mut Catalog<EntryHandler>,
        checks: ToolChecks,
        started: Option<&'a Started>,
    ) -> Self {
        Self {
            catalog,
            checks,
            changed: Vec::new(),
            started,
            adds_scopes: false,
            tasks: None,
            adds_hidden: false,
            states: Vec::new(),
        }
    }

    /// Returns the lists that have changed.
    pub(in crate::server) fn into_changed(self) -> Vec<ChangedList> {
        self.changed
    }

    /// Adds an entry at the end of its list.
    ///
    /// # Errors
    /// Fails if the name, URI or URI template is taken, if the entry is invalid, if a completion
    /// names an argument or variable that the entry does not have, or if a handler takes a
    /// [`State`](crate::State) that the server does not have.
    pub fn add(&mut self, entry: impl Entry) -> Result<(), EditError> {
        entry.put(self, Put::Add)
    }

    /// Replaces the entry of this name, URI or URI template.
    ///
    /// Clients that subscribed to a resource are not notified; use
    /// [`Changes::resource_updated`](crate::Changes::resource_updated).
    ///
    /// # Errors
    /// Fails if there is no such entry, and under the conditions of [`add`](Self::add).
    pub fn replace(&mut self, entry: impl Entry) -> Result<(), EditError> {
        entry.put(self, Put::Replace)
    }

    /// Removes a tool.
    ///
    /// # Errors
    /// Fails if there is no tool of this name.
    pub fn remove_tool(&mut self, name: &str) -> Result<(), EditError> {
        let removed = self.catalog.remove_tool(name).map(|(changed, _)| changed);
        self.changed(removed, &format!("the tool `{name}`"), "removed")
    }

    /// Removes a resource. Subscriptions to it continue.
    ///
    /// # Errors
    /// Fails if there is no resource with this URI.
    pub fn remove_resource(&mut self, uri: &str) -> Result<(), EditError> {
        let removed = self.catalog.remove_resource(uri).map(|(changed, _)| changed);
        self.changed(removed, &format!("the resource `{uri}`"), "removed")
    }

    /// Removes a resource template.
    ///
    /// # Errors
    /// Fails if there is no resource template with this URI template.
    pub fn remove_template(&mut self, uri_template: &str) -> Result<(), EditError> {
        let removed = self.catalog.remove_template(uri_template).map(|(changed, _)| changed);
        self.changed(removed, &format!("the resource template `{uri_template}`"), "removed")
    }

    /// Removes a prompt.
    ///
    /// # Errors
    /// Fails if there is no prompt of this name.
    pub fn remove_prompt(&mut self, name: &str) -> Result<(), EditError> {
        let removed = self.catalog.remove_prompt(name).map(|(changed, _)| changed);
        self.changed(removed, &format!("the prompt `{name}`"), "removed")
    }

    /// Iterates over the tools in the order of the list.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.catalog.tools().map(|(tool, _)| tool)
    }

    /// Iterates over the resources in the order of the list.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.catalog.resources().map(|(resource, _)| resource)
    }

    /// Iterates over the resource templates in the order of the list.
    pub fn templates(&self) -> impl Iterator<Item = &ResourceTemplate> {
        self.catalog.templates().map(|(template, _)| template)
    }

    /// Iterates over the prompts in the order of the list.
    pub fn prompts(&self) -> impl Iterator<Item = &Prompt> {
        self.catalog.prompts().map(|(prompt, _)| prompt)
    }

    /// Checks the schemas of a tool, if the server checks arguments and results.
    pub(in crate::server) fn check_schemas(&self, tool: &Tool) -> Result<(), EditError> {
        match self.checks.first_invalid(std::iter::once(tool)) {
            Some(invalid) => Err(EditError::new(invalid)),
            None => Ok(()),
        }
    }

    /// Checks that calls of the tool `what` can become tasks.
    pub(in crate::server) fn check_tasks(&self, what: &str) -> Result<(), EditError> {
        if self.started.is_some_and(|started| !started.has_tasks) {
            return Err(EditError::new(format!(
                "{what} cannot become a task: the server started without tasks; add a tool with \
                 tasks before it starts"
            )));
        }
        Ok(())
    }

    /// Sets the scopes of the entry `what`, if it has any.
    pub(in crate::server) fn set_scopes(
        &mut self,
        required: &RequiredScopes,
        scopes: Vec<String>,
        what: &str,
        done: &str,
    ) -> Result<(), EditError> {
        if !scopes.is_empty() {
            let explain = |why| EditError::new(format!("{what} cannot be {done}: {why}"));
            required.set(scopes).map_err(explain)?;
            self.adds_scopes = true;
        }
        Ok(())
    }

    /// Adds or replaces the entry `what`, whose handlers need these states.
    pub(in crate::server) fn put<T>(
        &mut self,
        what: &str,
        put: Put,
        definition: T,
        handler: EntryHandler,
        states: Vec<NeededState>,
        (add, replace): (PutFn<T>, PutFn<T>),
    ) -> Result<(), EditError> {
        if let Some(started) = self.started {
            started.check(what, &states).map_err(EditError::new)?;
        }
        let call = match put {
            Put::Add => add,
            Put::Replace => replace,
        };
        self.adds_hidden |= handler.visible_to().is_some();
        let changed = call(self.catalog, definition, handler);
        self.changed(changed, what, put.done())?;
        self.states.extend(states.into_iter().map(|state| (what.to_owned(), state)));
        Ok(())
    }

    /// Adds completions to the entry `what`, whose scopes they need.
    pub(in crate::server) fn put_completions(
        &mut self,
        what: &str,
        completions: Completions,
        scopes: &RequiredScopes,
        put: impl Fn(&mut Catalog<EntryHandler>, &str, EntryHandler) -> Result<(), CatalogError>,
    ) -> Result<(), EditError> {
        completions.into_iter().try_for_each(|(argument, completion)| {
            let what = format!("a completion of `{argument}` of {what}");
            let completion = completion.sharing_scopes(scopes).named(&what);
            put(self.catalog, &argument, EntryHandler::Completion(completion))
                .map_err(|reason| EditError::completion(&what, reason))
        })
    }

    /// Records the changed list, or explains why the entry `what` could not be changed.
    fn changed(
        &mut self,
        changed: Result<ChangedList, CatalogError>,
        what: &str,
        done: &str,
    ) -> Result<(), EditError> {
        let changed = changed.map_err(|reason| EditError::entry(what, done, reason))?;
        if !self.changed.contains(&changed) {
            self.changed.push(changed);
        }
        Ok(())
    }
}

/// A method of the catalog that adds or replaces an entry.
type PutFn<T> =
    fn(&mut Catalog<EntryHandler>, T, EntryHandler) -> Result<ChangedList, CatalogError>;

/// Checks the completions of an entry before it is added, so that a failure changes nothing.
pub(in crate::server) fn check_completions(
    what: &str,
    completions: &Completions,
    is_known: impl Fn(&str) -> bool,
) -> Result<(), EditError> {
    let mut seen = BTreeSet::new();
    completions.iter().try_for_each(|(argument, _)| {
        let reason = match () {
            () if !is_known(argument) => CatalogError::Unknown,
            () if !seen.insert(argument) => CatalogError::Duplicate,
            () => return Ok(()),
        };
        Err(EditError::completion(&format!("a completion of `{argument}` of {what}"), reason))
    })
}

opaque_debug!(CatalogEdit<'_>, it => catalog: it.catalog, changed: it.changed);

/// A [`Tool`](crate::Tool), [`Resource`](crate::Resource), [`Template`](crate::Template) or
/// [`Prompt`](crate::Prompt) with its handler.
///
/// [`Server::add`](crate::Server::add) adds it to a server that is being built, and
/// [`Changes::edit`](crate::Changes::edit) to one that runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entry of a server",
    label = "not an entry",
    note = "an entry has a handler: `Tool::define(definition, handler)` makes one of a definition, \
            as do `Resource`, `Template` and `Prompt`"
)]
#[expect(private_bounds, reason = "the trait is sealed")]
pub trait Entry: PutEntry {}

/// Adds or replaces an entry.
pub(crate) trait PutEntry {
    fn put(self, edit: &mut CatalogEdit<'_>, put: Put) -> Result<(), EditError>;
}

#[diagnostic::do_not_recommend]
impl<E: PutEntry> Entry for E {}

/// The change to an entry.
#[derive(Clone, Copy)]
pub(crate) enum Put {
    Add,
    Replace,
}

impl Put {
    /// Returns the participle, for errors.
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Add => "offered",
            Self::Replace => "replaced",
        }
    }
}

/// The completion handlers of an entry, with the names of their arguments.
pub(in crate::server) type Completions = Vec<(String, HandlerFn<Complete, CompleteResult>)>;

/// The reason why an edit of a server's tools, resources and prompts failed.
///
/// The message names the entry.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::catalog::CatalogError;
/// use mcp_tokio::{EditError, Server};
///
/// let changes = Server::new("notes", "1.0.0").changes();
/// let error = changes.edit(|edit| edit.remove_tool("today")).unwrap_err();
/// assert_eq!(error.to_string(), "the tool `today` cannot be removed: it does not exist");
/// assert_eq!(error.reason(), Some(CatalogError::Unknown));
///
/// // An edit can fail for a reason that it names.
/// let stopped = changes.edit(|_edit| Err::<(), _>(EditError::new("the license has expired")));
/// assert_eq!(stopped.unwrap_err().reason(), None);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EditError {
    message: String,
    reason: Option<CatalogError>,
}

impl EditError {
    /// Creates an error with this message. An edit that returns it changes nothing.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), reason: None }
    }

    /// Returns why the catalog refused the change.
    ///
    /// Returns `None` if the error has another cause, such as a schema that cannot be used.
    #[must_use]
    pub const fn reason(&self) -> Option<CatalogError> {
        self.reason
    }

    fn entry(what: &str, done: &str, reason: CatalogError) -> Self {
        let why = match reason {
            CatalogError::Duplicate => "it exists already: choose another name, or replace the \
                                        existing one with `Changes::edit`"
                .to_owned(),
            CatalogError::Unknown => "it does not exist".to_owned(),
            other => other.to_string(),
        };
        Self { message: format!("{what} cannot be {done}: {why}"), reason: Some(reason) }
    }

    fn completion(what: &str, reason: CatalogError) -> Self {
        let why = match reason {
            CatalogError::Duplicate => "it exists already: remove one of them".to_owned(),
            CatalogError::Unknown => "add an entry with this argument or variable first".to_owned(),
            other => other.to_string(),
        };
        Self { message: format!("{what} cannot be offered: {why}"), reason: Some(reason) }
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EditError {}
