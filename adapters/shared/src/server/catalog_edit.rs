//! The editor of a catalog, used by the builder and while the server runs.

use std::collections::BTreeSet;
use std::fmt;

use mcp_proto::catalog::{Catalog, CatalogError, ChangedList, UriTemplate};
use mcp_proto::schema::{Complete, CompleteResult, Prompt, Resource, ResourceTemplate, Tool};

use crate::server::entries::{Completions, PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use crate::server::handler::{Handler, HandlerFn};
use crate::server::required_scopes::RequiredScopes;
#[cfg(feature = "tracing")]
use crate::server::unreadable_schema::unreadable_fields;
#[cfg(feature = "tracing")]
use crate::trace::unreadable_schema;
use crate::trace::unusual_tool_name;
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
    catalog: &'a mut Catalog<Handler>,
    checks: ToolChecks,
    changed: BTreeSet<ChangedList>,
    /// An entry that was added or replaced has scopes.
    adds_scopes: bool,
    /// The entry that was added or replaced last.
    last: Option<(String, RequiredScopes)>,
}

impl<'a> CatalogEdit<'a> {
    pub(super) const fn new(catalog: &'a mut Catalog<Handler>, checks: ToolChecks) -> Self {
        Self { catalog, checks, changed: BTreeSet::new(), adds_scopes: false, last: None }
    }

    /// Returns whether entries with scopes were added.
    pub(super) const fn adds_scopes(&self) -> bool {
        self.adds_scopes
    }

    /// Returns the lists that have changed.
    pub(super) fn into_changed(self) -> BTreeSet<ChangedList> {
        self.changed
    }

    /// Returns the name and the scopes of the entry that was added or replaced last.
    pub(super) fn take_last(&mut self) -> Option<(String, RequiredScopes)> {
        self.last.take()
    }

    /// Adds a tool at the end of the list.
    ///
    /// # Errors
    /// Fails if a tool of this name exists, or if the tool is invalid.
    pub fn add_tool(&mut self, entry: ToolEntry) -> Result<(), EditError> {
        self.put_tool(entry, "offered", Catalog::add_tool)
    }

    /// Replaces the tool of this name.
    ///
    /// # Errors
    /// Fails if there is no tool of this name, or if the new tool is invalid.
    pub fn replace_tool(&mut self, entry: ToolEntry) -> Result<(), EditError> {
        self.put_tool(entry, "replaced", Catalog::replace_tool)
    }

    /// Removes a tool.
    ///
    /// # Errors
    /// Fails if there is no tool of this name.
    pub fn remove_tool(&mut self, name: &str) -> Result<(), EditError> {
        let removed = self.catalog.remove_tool(name).map(|(changed, _)| changed);
        self.changed(removed, &format!("the tool `{name}`"), "removed")
    }

    /// Adds a resource at the end of the list.
    ///
    /// # Errors
    /// Fails if a resource with this URI exists, or if the resource is invalid.
    pub fn add_resource(&mut self, entry: ResourceEntry) -> Result<(), EditError> {
        self.put_resource(entry, "offered", Catalog::add_resource)
    }

    /// Replaces the resource with this URI.
    ///
    /// Clients that subscribed to the resource are not notified; use
    /// [`Changes::resource_updated`](crate::Changes::resource_updated).
    ///
    /// # Errors
    /// Fails if there is no resource with this URI, or if the new resource is invalid.
    pub fn replace_resource(&mut self, entry: ResourceEntry) -> Result<(), EditError> {
        self.put_resource(entry, "replaced", Catalog::replace_resource)
    }

    /// Removes a resource. Subscriptions to it continue.
    ///
    /// # Errors
    /// Fails if there is no resource with this URI.
    pub fn remove_resource(&mut self, uri: &str) -> Result<(), EditError> {
        let removed = self.catalog.remove_resource(uri).map(|(changed, _)| changed);
        self.changed(removed, &format!("the resource `{uri}`"), "removed")
    }

    /// Adds a resource template at the end of the list.
    ///
    /// # Errors
    /// Fails if a resource template with this URI template exists, if it is invalid, or if it has
    /// no variable of the name of a completion.
    pub fn add_template(&mut self, entry: TemplateEntry) -> Result<(), EditError> {
        self.put_template(entry, "offered", Catalog::add_template)
    }

    /// Replaces the resource template with this URI template.
    ///
    /// # Errors
    /// Fails if there is no resource template with this URI template, if the new one is invalid, or
    /// if it has no variable of the name of a completion.
    pub fn replace_template(&mut self, entry: TemplateEntry) -> Result<(), EditError> {
        self.put_template(entry, "replaced", Catalog::replace_template)
    }

    /// Removes a resource template.
    ///
    /// # Errors
    /// Fails if there is no resource template with this URI template.
    pub fn remove_template(&mut self, uri_template: &str) -> Result<(), EditError> {
        let removed = self.catalog.remove_template(uri_template).map(|(changed, _)| changed);
        self.changed(removed, &format!("the resource template `{uri_template}`"), "removed")
    }

    /// Adds a prompt at the end of the list.
    ///
    /// # Errors
    /// Fails if a prompt of this name exists, if the prompt is invalid, or if it has no argument of
    /// the name of a completion.
    pub fn add_prompt(&mut self, entry: PromptEntry) -> Result<(), EditError> {
        self.put_prompt(entry, "offered", Catalog::add_prompt)
    }

    /// Replaces the prompt of this name.
    ///
    /// # Errors
    /// Fails if there is no prompt of this name, if the new prompt is invalid, or if it has no
    /// argument of the name of a completion.
    pub fn replace_prompt(&mut self, entry: PromptEntry) -> Result<(), EditError> {
        self.put_prompt(entry, "replaced", Catalog::replace_prompt)
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

    pub(super) fn add_template_completion(
        &mut self,
        uri_template: &str,
        variable: &str,
        handler: HandlerFn<Complete, CompleteResult>,
    ) -> Result<(), EditError> {
        let what = format!("a completion of `{variable}` in `{uri_template}`");
        let entry = self.catalog.templates().find(|(known, _)| known.uri_template == uri_template);
        let handler = with_scopes_of(handler, entry.map(|(_, handler)| handler));
        let handler = Handler::Completion(handler.named(&what));
        let added = self.catalog.add_template_completion(uri_template, variable, handler);
        added.map_err(|reason| EditError::completion(&what, reason))
    }

    pub(super) fn add_prompt_completion(
        &mut self,
        prompt: &str,
        argument: &str,
        handler: HandlerFn<Complete, CompleteResult>,
    ) -> Result<(), EditError> {
        let what = format!("a completion of `{argument}` of the prompt `{prompt}`");
        let entry = self.catalog.prompts().find(|(known, _)| known.name == prompt);
        let handler = with_scopes_of(handler, entry.map(|(_, handler)| handler));
        let handler = Handler::Completion(handler.named(&what));
        let added = self.catalog.add_prompt_completion(prompt, argument, handler);
        added.map_err(|reason| EditError::completion(&what, reason))
    }

    fn put_tool(&mut self, entry: ToolEntry, done: &str, put: Put<Tool>) -> Result<(), EditError> {
        let tool = entry.tool.map_err(|(name, reason)| {
            EditError::new(format!("the tool `{name}` cannot be {done}: {reason}"))
        })?;
        if let Some(invalid) = self.checks.first_invalid(std::iter::once(&tool)) {
            return Err(EditError::new(invalid));
        }
        let name = tool.name.clone();
        let what = format!("the tool `{name}`");
        let scopes = self.set_scopes(entry.handler.scopes(), entry.scopes, &what, done)?;
        #[cfg(feature = "tracing")]
        let unreadable = unreadable_fields(&tool);
        let put = put(self.catalog, tool, entry.handler.named(&what));
        self.changed(put, &what, done)?;
        self.last = Some((what, scopes));
        if !is_recommended_name(&name) {
            unusual_tool_name(&name);
        }
        #[cfg(feature = "tracing")]
        for (field, reason) in unreadable {
            unreadable_schema(&name, &field, reason);
        }
        Ok(())
    }

    fn put_resource(
        &mut self,
        entry: ResourceEntry,
        done: &str,
        put: Put<Resource>,
    ) -> Result<(), EditError> {
        let what = format!("the resource `{}`", entry.resource.uri);
        let handler = Handler::Resource(entry.handler.named(&what));
        let scopes = self.set_scopes(handler.scopes(), entry.scopes, &what, done)?;
        let put = put(self.catalog, entry.resource, handler);
        self.changed(put, &what, done)?;
        self.last = Some((what, scopes));
        Ok(())
    }

    fn put_template(
        &mut self,
        entry: TemplateEntry,
        done: &str,
        put: Put<ResourceTemplate>,
    ) -> Result<(), EditError> {
        let TemplateEntry { template, handler, completions, scopes } = entry;
        let uri_template = template.uri_template.clone();
        let what = format!("the resource template `{uri_template}`");
        if let Ok(pattern) = UriTemplate::parse(&uri_template) {
            let is_variable = |name: &str| pattern.names().any(|variable| variable == name);
            check_completions(&what, &completions, is_variable)?;
        }
        let handler = Handler::Resource(handler.named(&what));
        let scopes = self.set_scopes(handler.scopes(), scopes, &what, done)?;
        let put = put(self.catalog, template, handler);
        self.changed(put, &what, done)?;
        self.last = Some((what, scopes));
        completions.into_iter().try_for_each(|(variable, handler)| {
            self.add_template_completion(&uri_template, &variable, handler)
        })
    }

    fn put_prompt(
        &mut self,
        entry: PromptEntry,
        done: &str,
        put: Put<Prompt>,
    ) -> Result<(), EditError> {
        let PromptEntry { prompt, handler, completions, scopes } = entry;
        let prompt = prompt.map_err(|(name, reason)| {
            EditError::new(format!("the prompt `{name}` cannot be {done}: {reason}"))
        })?;
        let name = prompt.name.clone();
        let what = format!("the prompt `{name}`");
        let is_argument =
            |name: &str| prompt.arguments.iter().flatten().any(|argument| argument.name == name);
        check_completions(&what, &completions, is_argument)?;
        let handler = Handler::Prompt(handler.named(&what));
        let scopes = self.set_scopes(handler.scopes(), scopes, &what, done)?;
        let put = put(self.catalog, prompt, handler);
        self.changed(put, &what, done)?;
        self.last = Some((what, scopes));
        completions.into_iter().try_for_each(|(argument, handler)| {
            self.add_prompt_completion(&name, &argument, handler)
        })
    }

    /// Sets the scopes of the entry `what`, if it has any.
    fn set_scopes(
        &mut self,
        required: &RequiredScopes,
        scopes: Vec<String>,
        what: &str,
        done: &str,
    ) -> Result<RequiredScopes, EditError> {
        if !scopes.is_empty() {
            let explain = |why| EditError::new(format!("{what} cannot be {done}: {why}"));
            required.set(scopes).map_err(explain)?;
            self.adds_scopes = true;
        }
        Ok(required.clone())
    }

    /// Records the changed list, or explains why the entry `what` could not be changed.
    fn changed(
        &mut self,
        changed: Result<ChangedList, CatalogError>,
        what: &str,
        done: &str,
    ) -> Result<(), EditError> {
        self.changed.insert(changed.map_err(|reason| EditError::entry(what, done, reason))?);
        Ok(())
    }
}

/// Makes requests for a completion need the scopes of its entry.
fn with_scopes_of(
    completion: HandlerFn<Complete, CompleteResult>,
    entry: Option<&Handler>,
) -> HandlerFn<Complete, CompleteResult> {
    match entry {
        Some(entry) => completion.sharing_scopes(entry.scopes()),
        None => completion,
    }
}

/// A method of the catalog that adds or replaces an entry.
type Put<T> = fn(&mut Catalog<Handler>, T, Handler) -> Result<ChangedList, CatalogError>;

/// Checks the completions of an entry before it is added, so that a failure changes nothing.
fn check_completions(
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

/// Returns whether a tool name has the length and the characters that the specification
/// recommends.
fn is_recommended_name(name: &str) -> bool {
    let is_recommended = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(is_recommended)
}

impl fmt::Debug for CatalogEdit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogEdit")
            .field("catalog", &self.catalog)
            .field("changed", &self.changed)
            .finish_non_exhaustive()
    }
}

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
/// // An edit can fail for a reason of its own.
/// let stopped = changes.edit(|_edit| Err::<(), _>(EditError::new("the license has expired")));
/// assert_eq!(stopped.unwrap_err().reason(), None);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EditError {
    message: String,
    reason: Option<CatalogError>,
}

impl EditError {
    /// Creates an error with which an edit undoes its changes for a reason of its own.
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

#[cfg(test)]
mod tests {
    use super::is_recommended_name;

    #[test]
    fn recommended_names_have_ascii_letters_digits_and_three_marks() {
        for name in ["a", "get_user", "admin.tools-list", "DATA_export.v2", &"x".repeat(128)] {
            assert!(is_recommended_name(name), "{name}");
        }
        for name in ["", "a b", "a,b", "a/b", "café", &"x".repeat(129)] {
            assert!(!is_recommended_name(name), "{name}");
        }
    }
}
