//! Handlers of requests that the catalog does not serve: for entries that are not registered, and
//! of extensions.

use std::sync::Arc;

use mcp_proto::catalog::CatalogView;
use mcp_proto::schema::{
    AnyObject, CallTool, CallToolResult, ClientRequest as _, Decode, GetPrompt, GetPromptResult,
    ListPrompts, ListPromptsResult, ListResources, ListResourcesResult, ListTools, ListToolsResult,
};
use mcp_proto::{Caller, ErrorObject, Raw, Request, Revision};

use crate::server::extension_methods::ExtensionMethods;
use crate::server::handler::{EntryHandler, HandlerFn, Resolution};
use crate::server::list_handler::{Lister, list};
use crate::server::visibility::CallerView;

/// The handlers of entries that are not in the catalog, which come after those that are.
#[derive(Clone, Default)]
pub(crate) struct UnregisteredHandlers {
    pub(super) methods: ExtensionMethods,
    pub(super) prompts: Option<Lister<ListPromptsResult>>,
    pub(super) resources: Option<Lister<ListResourcesResult>>,
    pub(super) tools: Option<Lister<ListToolsResult>>,
    pub(super) prompt_fallback: Place<GetPrompt, GetPromptResult>,
    pub(super) tool_fallback: Place<CallTool, CallToolResult>,
    pub(super) tool_schema: Option<SchemaOf>,
}

/// The place of a handler, which may be empty.
pub(super) type Place<P, R> = Option<Arc<HandlerFn<P, R>>>;

/// Returns the input schema of a tool for a caller.
pub(super) type SchemaOf = Arc<dyn Fn(&str, &Caller) -> Option<Raw> + Send + Sync>;

impl UnregisteredHandlers {
    /// Resolves a request that one of these handlers serves; returns `None` for any other.
    ///
    /// A fallback does not serve a registered entry for which the access token lacks scopes.
    pub(super) fn resolve(
        &self,
        view: CatalogView<'_, EntryHandler>,
        hidden: CallerView<'_>,
        request: &Request,
        revision: Revision,
    ) -> Option<Result<Resolution, ErrorObject>> {
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
                if view.tool(&call.name).is_some() || hidden.hides_tool(&call.name) {
                    return None;
                }
                call.arguments.get_or_insert_with(|| AnyObject(Raw::empty_object()));
                Some(Ok(fallback.run(call, None)))
            }
            GetPrompt::METHOD => {
                let fallback = self.prompt_fallback.as_ref()?;
                let get: GetPrompt = params(request)?;
                if view.prompt(&get.name).is_some() || hidden.hides_prompt(&get.name) {
                    return None;
                }
                Some(Ok(fallback.run(get, None)))
            }
            _ => self.methods.resolve(request, hidden.caller),
        }
    }
}

/// Decodes the params of a request. The catalog refuses those that are malformed.
fn params<T: Decode>(request: &Request) -> Option<T> {
    request.params.as_ref().and_then(|params| T::decode(params).ok())
}
