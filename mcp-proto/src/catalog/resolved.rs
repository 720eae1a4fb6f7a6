//! The results of a lookup: a handler with decoded params, or a result of the catalog itself.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::uri_template::Variables;
use crate::error::Unencodable;
use crate::revision::Revision;
use crate::schema::{
    CallTool, CallToolResult, Complete, CompleteResult, Completion, Encode, GetPrompt,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    ReadResource, Resource, ResourceTemplate, Tool,
};

/// The result of [`Catalog::lookup`](super::Catalog::lookup).
///
/// The params in a variant are decoded and checked. They contain the requested name or URI.
///
/// ```
/// use mcp_proto::catalog::{Catalog, Resolved};
/// use mcp_proto::schema::{CallTool, CallToolResult, Encode, Tool};
/// use mcp_proto::{ErrorObject, Raw, Revision};
///
/// type Handler = fn(&CallTool) -> CallToolResult;
///
/// fn serve(
///     catalog: &Catalog<Handler>,
///     method: &str,
///     params: &Raw,
/// ) -> Result<Box<dyn Encode>, ErrorObject> {
///     Ok(match catalog.lookup_raw(method, Some(params), Revision::V2025_11_25)? {
///         Resolved::Answer(answer) => Box::new(answer),
///         Resolved::Tool { handler, call, .. } => Box::new(handler(&call)),
///         _ => return Err(ErrorObject::method_not_found(method)),
///     })
/// }
///
/// let mut catalog: Catalog<Handler> = Catalog::new();
/// let schema = Raw::from_text(r#"{"type":"object"}"#).unwrap();
/// let echo: Handler = |call| CallToolResult::text(call.name.clone());
/// catalog.add_tool(Tool::new("echo", schema), echo).unwrap();
///
/// let mut out = Vec::new();
/// let call = Raw::from_text(r#"{"name":"echo"}"#).unwrap();
/// serve(&catalog, "tools/call", &call).unwrap().encode(Revision::V2025_11_25, &mut out).unwrap();
/// assert_eq!(out, br#"{"content":[{"type":"text","text":"echo"}]}"#);
///
/// let error = serve(&catalog, "prompts/get", &call).err().unwrap();
/// assert_eq!(error.to_string(), "no prompt `echo` (-32602)");
/// ```
#[non_exhaustive]
pub enum Resolved<'a, H> {
    /// A result that the catalog produced itself, ready to be sent as the response.
    Answer(CatalogResult),
    /// A request to complete an argument.
    ///
    /// Get the values from `handler` and pass them to the function [`completion`], which creates
    /// the result to respond with.
    Completion {
        /// The handler that completes the argument.
        handler: &'a H,
        /// The decoded params.
        complete: Complete,
    },
    /// A request whose method the catalog does not handle.
    Other,
    /// A request for a prompt. All required arguments are present.
    Prompt {
        /// The prompt.
        prompt: &'a Prompt,
        /// The prompt's handler.
        handler: &'a H,
        /// The decoded params.
        get: GetPrompt,
    },
    /// A request to read a resource.
    Resource {
        /// The resource.
        resource: &'a Resource,
        /// The resource's handler.
        handler: &'a H,
        /// The decoded params.
        read: ReadResource,
    },
    /// A request to read a URI that matches a resource template.
    ///
    /// The values in `variables` come from the peer. The handler must check that they are safe to
    /// use, and that the resource exists.
    // SEC-02: the values come from the peer.
    Template {
        /// The most specific template that matches the URI.
        ///
        /// See [`Catalog::add_template`](super::Catalog::add_template).
        template: &'a ResourceTemplate,
        /// The template's handler.
        handler: &'a H,
        /// The values of the template's variables in the requested URI.
        variables: Variables,
        /// The decoded params.
        read: ReadResource,
    },
    /// A tool call.
    Tool {
        /// The tool.
        tool: &'a Tool,
        /// The tool's handler.
        handler: &'a H,
        /// The decoded params. `arguments` is always `Some`; absent arguments become `{}`.
        call: CallTool,
    },
}

/// Omits handlers, because their type need not implement `Debug`.
impl<H> fmt::Debug for Resolved<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(answer) => f.debug_tuple("Answer").field(answer).finish(),
            Self::Completion { complete, .. } => {
                f.debug_tuple("Completion").field(complete).finish()
            }
            Self::Other => f.write_str("Other"),
            Self::Prompt { get, .. } => f.debug_tuple("Prompt").field(get).finish(),
            Self::Resource { read, .. } => f.debug_tuple("Resource").field(read).finish(),
            Self::Template { template, variables, read, .. } => f
                .debug_struct("Template")
                .field("template", &template.uri_template)
                .field("variables", variables)
                .field("read", read)
                .finish(),
            Self::Tool { call, .. } => f.debug_tuple("Tool").field(call).finish(),
        }
    }
}

/// A result that a catalog produces without a handler.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CatalogResult {
    /// A tool error: the arguments failed the check that was set with
    /// [`Catalog::check_arguments`](super::Catalog::check_arguments).
    // T-117: invalid arguments are a tool error.
    Call(CallToolResult),
    /// A completion without values: the argument has no completion handler.
    Complete(CompleteResult),
    /// A page of the list of prompts.
    Prompts(ListPromptsResult),
    /// A page of the list of resources.
    Resources(ListResourcesResult),
    /// A page of the list of resource templates.
    Templates(ListResourceTemplatesResult),
    /// A page of the list of tools.
    Tools(ListToolsResult),
}

impl From<CallToolResult> for CatalogResult {
    fn from(result: CallToolResult) -> Self {
        Self::Call(result)
    }
}

impl Encode for CatalogResult {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Call(result) => result.encode(revision, out),
            Self::Complete(result) => result.encode(revision, out),
            Self::Prompts(page) => page.encode(revision, out),
            Self::Resources(page) => page.encode(revision, out),
            Self::Templates(page) => page.encode(revision, out),
            Self::Tools(page) => page.encode(revision, out),
        }
    }
}

/// Creates a completion result that contains at most the first 100 of `values`.
///
/// Sort `values` by relevance, most relevant first. If there are more matches than `values`
/// contains, `total` is their total number. A `total` that does not exceed the number of `values`
/// is ignored.
///
/// ```
/// use mcp_proto::catalog::completion;
///
/// // Two of seven matches.
/// let result = completion(vec!["Oslo".to_owned(), "Osaka".to_owned()], Some(7));
/// assert_eq!(result.completion.total, Some(7));
/// assert_eq!(result.completion.has_more, Some(true));
/// ```
// SEC-20: at most 100 values are sent.
#[must_use]
pub fn completion(values: Vec<String>, total: Option<u64>) -> CompleteResult {
    let given = values.len() as u64;
    let mut completion = Completion::from_values(values);
    if let Some(total) = total.filter(|total| *total > given) {
        completion = completion.total(i64::try_from(total).unwrap_or(i64::MAX)).has_more(true);
    }
    CompleteResult::new(completion)
}
