//! Handlers of requests that the catalog does not serve: for entries that are not registered, and
//! of extensions.

use std::sync::Arc;

use mcp_proto::catalog::CatalogView;
use mcp_proto::schema::{
    AnyObject, CallTool, CallToolResult, ClientRequest as _, Decode, GetPrompt, GetPromptResult,
    ListPrompts, ListPromptsResult, ListResources, ListResourcesResult, ListTools, ListToolsResult,
};
use mcp_proto::{Caller, Context, ErrorObject, Raw, Request};

use crate::server::catalog::extension_methods::ExtensionMethods;
use crate::server::catalog::visibility::{CallerView, UNKNOWN};
use crate::server::handler::list_handler::{Lister, list};
use crate::server::handler::mirrored_headers::check_headers;
use crate::server::handler::{EntryHandler, HandlerFn, Resolution};

/// The handlers of entries that are not in the catalog, which come after those that are.
#[derive(Clone, Default)]
pub(crate) struct UnregisteredHandlers {
    pub(in crate::server) methods: ExtensionMethods,
    pub(in crate::server) prompts: Option<Lister<ListPromptsResult>>,
    pub(in crate::server) resources: Option<Lister<ListResourcesResult>>,
    pub(in crate::server) tools: Option<Lister<ListToolsResult>>,
    pub(in crate::server) prompt_fallback: Place<GetPrompt, GetPromptResult>,
    pub(in crate::server) tool_fallback: Place<CallTool, CallToolResult>,
    pub(in crate::server) tool_schema: Option<SchemaOf>,
    /// How requests are resolved; `None` while there are no handlers.
    resolve: Option<Resolve>,
}

/// Resolves a request with handlers of entries that are not registered.
type Resolve = fn(
    &UnregisteredHandlers,
    CatalogView<'_, EntryHandler>,
    &CallerView<'_>,
    &Request,
    &Context,
) -> Option<Result<Resolution, ErrorObject>>;

/// The place of a handler, which may be empty.
pub(in crate::server) type Place<P, R> = Option<Arc<HandlerFn<P, R>>>;

/// Returns the input schema of a tool for a caller.
pub(in crate::server) type SchemaOf = Arc<dyn Fn(&str, &Caller) -> Option<Raw> + Send + Sync>;

impl UnregisteredHandlers {
    /// Returns the handlers, to add one.
    ///
    /// Nothing else names the function that resolves requests: programs that add none do not link
    /// it.
    pub(in crate::server) fn edit(&mut self) -> &mut Self {
        self.resolve = Some(Self::resolve_with_handlers);
        self
    }

    /// Resolves a request that one of these handlers serves; returns `None` for any other.
    ///
    /// A fallback does not serve a registered entry for which the access token lacks scopes.
    pub(in crate::server) fn resolve(
        &self,
        view: CatalogView<'_, EntryHandler>,
        seen: &CallerView<'_>,
        request: &Request,
        context: &Context,
    ) -> Option<Result<Resolution, ErrorObject>> {
        (self.resolve?)(self, view, seen, request, context)
    }

    fn resolve_with_handlers(
        &self,
        view: CatalogView<'_, EntryHandler>,
        seen: &CallerView<'_>,
        request: &Request,
        context: &Context,
    ) -> Option<Result<Resolution, ErrorObject>> {
        let revision = context.peer.revision;
        match &*request.method {
            ListPrompts::METHOD => {
                self.prompts.as_ref().map(|lister| list(lister, view, request, revision))
            }
            ListResources::METHOD => {
                self.resources.as_ref().map(|lister| list(lister, view, request, revision))
            }
            ListTools::METHOD => {
                self.tools.as_ref().map(|lister| list(lister, view, request, revision))
            }
            CallTool::METHOD => {
                let fallback = self.tool_fallback.as_ref()?;
                let mut call: CallTool = params(request)?;
                if view.tool(&call.name).is_some() || seen.hides_tool(&call.name) {
                    return None;
                }
                let schema_of = self.tool_schema.as_ref();
                let arguments = || Some(call.arguments.as_ref()?.0.clone());
                let schema = || schema_of?(&call.name, seen.caller().unwrap_or(&UNKNOWN));
                if let Err(error) = check_headers(context, &arguments, schema) {
                    return Some(Err(error));
                }
                call.arguments.get_or_insert_with(|| AnyObject(Raw::empty_object()));
                Some(Ok(fallback.run(call, None)))
            }
            GetPrompt::METHOD => {
                let fallback = self.prompt_fallback.as_ref()?;
                let get: GetPrompt = params(request)?;
                if view.prompt(&get.name).is_some() || seen.hides_prompt(&get.name) {
                    return None;
                }
                Some(Ok(fallback.run(get, None)))
            }
            _ => self.methods.resolve(request, seen.caller()),
        }
    }
}

/// Decodes the params of a request. The catalog refuses those that are malformed.
fn params<T: Decode>(request: &Request) -> Option<T> {
    request.params.as_ref().and_then(|params| T::decode(params).ok())
}
