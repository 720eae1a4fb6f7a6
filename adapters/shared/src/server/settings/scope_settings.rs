//! The scopes that access tokens need for entries.

#[cfg(feature = "http")]
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "http")]
use mcp_proto::catalog::CatalogEntry;
#[cfg(feature = "http")]
use mcp_proto::schema::{ClientRequest as _, ReadResource, Subscribe};
#[cfg(feature = "http")]
use mcp_proto::{Caller, ErrorObject, Raw, Revision};

#[cfg(feature = "http")]
use crate::server::handler::EntryHandler;
use crate::server::handler::context::Cx;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::required_scopes::check_scopes;
#[cfg(feature = "http")]
use crate::server::settings::ServerSettings;

#[cfg(feature = "http")]
impl ServerSettings {
    /// Returns the name of an entry that requires scopes, if there is one.
    pub(crate) fn entry_with_scopes(&self) -> Option<String> {
        let catalog = self.builder.changes.catalog();
        let tools = catalog.tools().map(|(tool, handler)| (&*tool.name, handler));
        let resources = catalog.resources().map(|(resource, handler)| (&*resource.uri, handler));
        let templates =
            catalog.templates().map(|(template, handler)| (&*template.uri_template, handler));
        let prompts = catalog.prompts().map(|(prompt, handler)| (&*prompt.name, handler));
        let mut entries = tools.chain(resources).chain(templates).chain(prompts);
        let entry = entries.find(|(_, handler)| !handler.scopes().get().is_empty());
        let name = entry.map(|(name, _)| name);
        name.or_else(|| self.unregistered.methods.method_with_scopes()).map(str::to_owned)
    }

    /// Returns the scopes that a request needs.
    pub(crate) fn scopes_for(
        &self,
        method: &str,
        params: Option<&Raw>,
        caller: &Caller,
    ) -> Vec<String> {
        if let Some(scopes) = self.unregistered.methods.scopes(method) {
            return scopes.to_vec();
        }
        let catalog = self.builder.changes.catalog();
        let find = || {
            self.visibility.view(&catalog, Some(caller)).read(|view| {
                if [ReadResource::METHOD, Subscribe::METHOD].contains(&method) {
                    let uri = params?.member("uri")?;
                    let uri = uri.to_text()?;
                    let lookalikes = view.lookalike_handlers(&uri).into_iter();
                    let handlers = view.resource_handler(&uri).into_iter().chain(lookalikes);
                    return Some(handlers.flat_map(|it| it.scopes().get()).cloned().collect());
                }
                let mut scopes = None;
                let mut admit = |_: CatalogEntry<'_>, handler: &EntryHandler| {
                    scopes = Some(handler.scopes().get().to_vec());
                    // The arguments are not looked at.
                    Err(ErrorObject::invalid_params("not looked up further"))
                };
                // The revision decides about codes of errors only, which are dropped.
                let _error =
                    view.lookup_admitted(method, params, Revision::V2025_03_26, &mut admit);
                scopes
            })
        };
        // A panic is reported when the request itself is decided on.
        catch_unwind(AssertUnwindSafe(find)).ok().flatten().unwrap_or_default()
    }
}

impl Cx {
    /// Checks that the access token of the request has these scopes, for scopes that depend on the
    /// arguments.
    ///
    /// Return the error with `?`. If nothing has been sent for this request yet, the client
    /// receives status 403 with a challenge that names the scopes. Therefore, call this method
    /// before the handler sends progress or log messages, or asks the client. Later, in a batch,
    /// and over HTTP+SSE, the client receives only an error of the request.
    ///
    /// Name all scopes of the operation in one call, with those that the entry
    /// [requires](crate::Tool::requires). Over stdio and other byte streams, this method always
    /// succeeds, except for clients of [`Server::manual`](crate::Server::manual), which have
    /// no scopes. The handler of a task that runs again after a restart of the server has the
    /// scopes of the call that created the task.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Cx, Server};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Read {
    ///     folder: String,
    /// }
    ///
    /// let server = Server::new("notes", "1.0.0").tool("read", "A folder", |it: Read, cx: Cx| {
    ///     if it.folder == "private" {
    ///         cx.needs_scopes(["notes:private"])?;
    ///     }
    ///     Ok("buy milk")
    /// });
    /// # drop(server);
    /// ```
    ///
    /// # Errors
    /// Fails if a scope is missing.
    pub fn needs_scopes<'a>(
        &self,
        scopes: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), HandlerError> {
        check_scopes(self.context().caller.as_deref(), scopes)
    }
}
