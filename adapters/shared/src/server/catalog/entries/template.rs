//! Resource templates with their handlers.

use mcp_proto::catalog::{Catalog, UriTemplate};
use mcp_proto::schema::{Icon, ReadResourceResult, ResourceTemplate};

use super::common_setters;
use crate::server::catalog::catalog_edit::{
    CatalogEdit, Completions, EditError, Put, PutEntry, check_completions,
};
use crate::server::handler::function::{Handler, Prepared};
use crate::server::handler::kind::{CompletionRequest, ResourceRead};
use crate::server::handler::needs::NeededState;
use crate::server::handler::{EntryHandler, HandlerFn, ResourceParams};

/// A resource template with its handlers.
///
/// The handler reads all resources whose URIs match. It takes the values of the template's
/// variables as [`Variables`](mcp_proto::catalog::Variables): they come from the client, so
/// validate them before using them in a file path. If the resource does not exist, it returns
/// [`HandlerError::not_found`](crate::HandlerError::not_found).
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::catalog::Variables;
/// use mcp_tokio::{HandlerError, Server, Template};
///
/// fn note(of: Variables) -> Result<&'static str, HandlerError> {
///     match of.text("day") {
///         Some("today") => Ok("buy milk"),
///         _ => Err(HandlerError::not_found()),
///     }
/// }
///
/// let notes = Template::new("note://{day}", "notes", note)
///     .completion("day", || vec!["today".to_owned()]);
/// let server = Server::new("notes", "1.0.0").add(notes);
/// # drop(server);
/// ```
#[must_use = "an entry does nothing until it is added"]
pub struct Template {
    definition: ResourceTemplate,
    handler: HandlerFn<ResourceParams, ReadResourceResult>,
    completions: Completions,
    scopes: Vec<String>,
    states: Vec<NeededState>,
}

common_setters!(Template, ResourceTemplate, "template");

impl Template {
    /// Creates a template.
    pub fn new<M>(uri_template: &str, name: &str, handler: impl Handler<ResourceRead, M>) -> Self {
        Self::define(ResourceTemplate::new(uri_template, name), handler)
    }

    /// Creates a template with an explicit definition.
    pub fn define<M>(definition: ResourceTemplate, handler: impl Handler<ResourceRead, M>) -> Self {
        let Prepared { handler, needs } = handler.prepare();
        let (completions, scopes) = (Completions::default(), Vec::new());
        Self { definition, handler, completions, scopes, states: needs.states }
    }

    /// Sets the description.
    pub fn description(self, description: &str) -> Self {
        self.describe(|definition| definition.description(description))
    }

    /// Sets the media type of the contents.
    pub fn mime_type(self, mime_type: &str) -> Self {
        self.describe(|definition| definition.mime_type(mime_type))
    }

    /// Sets the completion handler of a variable.
    ///
    /// Clients use completions only if the server declares them; see
    /// [`Changes::edit`](crate::Changes::edit).
    pub fn completion<M>(
        mut self,
        variable: &str,
        handler: impl Handler<CompletionRequest, M>,
    ) -> Self {
        let Prepared { handler, needs } = handler.prepare();
        self.completions.push((variable.to_owned(), handler));
        self.states.extend(needs.states);
        self
    }
}

impl PutEntry for Template {
    fn put(self, edit: &mut CatalogEdit<'_>, put: Put) -> Result<(), EditError> {
        let Self { definition: template, handler, completions, scopes, states } = self;
        let uri_template = template.uri_template.clone();
        let what = format!("the resource template `{uri_template}`");
        if let Ok(pattern) = UriTemplate::parse(&uri_template) {
            let is_variable = |name: &str| pattern.names().any(|variable| variable == name);
            check_completions(&what, &completions, is_variable)?;
        }
        edit.set_scopes(handler.scopes(), scopes, &what, put.done())?;
        let required = handler.scopes().clone();
        let handler = EntryHandler::Resource(handler.named(&what));
        let calls = (Catalog::add_template as _, Catalog::replace_template as _);
        edit.put(&what, put, template, handler, states, calls)?;
        completions.into_iter().try_for_each(|(variable, completion)| {
            let what = format!("a completion of `{variable}` in `{uri_template}`");
            let completion = completion.sharing_scopes(&required).named(&what);
            edit.put_completion(&what, completion, |catalog, handler| {
                catalog.add_template_completion(&uri_template, &variable, handler)
            })
        })
    }
}
