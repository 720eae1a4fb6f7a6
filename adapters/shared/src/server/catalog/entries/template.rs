//! Resource templates with their handlers.

use mcp_proto::catalog::{Catalog, UriTemplate};
use mcp_proto::schema::{Icon, ReadResourceResult, ResourceTemplate};

use super::{common_setters, completion_setters, content_setters};
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
/// use mcp_tokio::proto::schema::Icon;
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
///     .title("Notes")
///     .description("The notes of a day")
///     .icons([Icon::new("https://notes.example/day.png")])
///     .mime_type("text/plain")
///     .completion("day", || vec!["today".to_owned()])
///     .requires(["notes:read"])
///     .visible_to(|caller| caller.principal().is_some());
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
content_setters!(Template);
completion_setters!(Template, "a variable");

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
        edit.put_completions(&what, completions, &required, |catalog, variable, handler| {
            catalog.add_template_completion(&uri_template, variable, handler)
        })
    }
}
