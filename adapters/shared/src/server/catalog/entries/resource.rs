//! Resources with their handlers.

use mcp_proto::catalog::Catalog;
use mcp_proto::schema::{self, Icon, ReadResourceResult};

use super::{common_setters, content_setters};
use crate::server::catalog::catalog_edit::{CatalogEdit, EditError, Put, PutEntry};
use crate::server::handler::function::{Handler, Prepared};
use crate::server::handler::kind::ResourceRead;
use crate::server::handler::needs::NeededState;
use crate::server::handler::{EntryHandler, HandlerFn, ResourceParams};

/// A [resource](https://modelcontextprotocol.io/specification/2025-11-25/server/resources) with the
/// handler that reads it.
///
/// Contents without a media type get that of the resource.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::schema::{Annotations, Icon};
/// use mcp_tokio::{Resource, Server};
///
/// let today = Resource::new("note://today", "today", || "buy milk")
///     .title("Today")
///     .description("The notes of today")
///     .icons([Icon::new("https://notes.example/today.png")])
///     .mime_type("text/plain")
///     .describe(|resource| resource.annotations(Annotations::new().priority(0.9)))
///     .requires(["notes:read"])
///     .visible_to(|caller| caller.principal().is_some());
/// let server = Server::new("notes", "1.0.0").add(today);
/// # drop(server);
/// ```
#[must_use = "an entry does nothing until it is added"]
pub struct Resource {
    definition: schema::Resource,
    handler: HandlerFn<ResourceParams, ReadResourceResult>,
    scopes: Vec<String>,
    states: Vec<NeededState>,
}

common_setters!(Resource, schema::Resource, "resource");
content_setters!(Resource);

impl Resource {
    /// Creates a resource.
    pub fn new<M>(uri: &str, name: &str, handler: impl Handler<ResourceRead, M>) -> Self {
        Self::define(schema::Resource::new(uri, name), handler)
    }

    /// Creates a resource with an explicit definition.
    pub fn define<M>(definition: schema::Resource, handler: impl Handler<ResourceRead, M>) -> Self {
        let Prepared { handler, needs } = handler.prepare();
        Self { definition, handler, scopes: Vec::new(), states: needs.states }
    }
}

impl PutEntry for Resource {
    fn put(self, edit: &mut CatalogEdit<'_>, put: Put) -> Result<(), EditError> {
        let Self { definition: resource, handler, scopes, states } = self;
        let what = format!("the resource `{}`", resource.uri);
        edit.set_scopes(handler.scopes(), scopes, &what, put.done())?;
        let handler = EntryHandler::Resource(handler.named(&what));
        let calls = (Catalog::add_resource as _, Catalog::replace_resource as _);
        edit.put(&what, put, resource, handler, states, calls)
    }
}
