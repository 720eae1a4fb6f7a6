//! The results of a lookup: a handler with decoded params, or the catalog's own answer.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::quote::quoted;
use super::uri_template::Variables;
use crate::error::Unencodable;
use crate::json::{Object, Raw};
use crate::revision::Revision;
use crate::rpc::ErrorObject;
use crate::schema::{
    CallTool, CallToolResult, Complete, CompleteResult, Completion, Encode, GetPrompt,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Prompt,
    ReadResource, Resource, ResourceTemplate, Tool,
};

/// What a request resolved to.
///
/// The params are decoded and checked; they contain the URI or name.
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
    /// The catalog's own answer, ready to send.
    Answer(CatalogResult),
    /// An argument completion: answer with the result of [`completion`].
    Completion {
        /// Handler of this argument's completions.
        handler: &'a H,
        /// The decoded params.
        complete: Complete,
    },
    /// A method that the catalog does not handle.
    Other,
    /// A prompt request; all required arguments are present.
    Prompt {
        /// The prompt.
        prompt: &'a Prompt,
        /// Its handler.
        handler: &'a H,
        /// The decoded params.
        get: GetPrompt,
    },
    /// A read of a resource.
    Resource {
        /// The resource.
        resource: &'a Resource,
        /// Its handler.
        handler: &'a H,
        /// The decoded params.
        read: ReadResource,
    },
    /// A read of a URI that matches a resource template.
    ///
    /// The handler must check that the resource exists and that the values are safe.
    // SEC-02: the values come from the peer.
    Template {
        /// The most specific matching template; see
        /// [`add_template`](super::Catalog::add_template).
        template: &'a ResourceTemplate,
        /// Its handler.
        handler: &'a H,
        /// Values of the template's variables in the URI.
        variables: Variables,
        /// The decoded params.
        read: ReadResource,
    },
    /// A tool call.
    Tool {
        /// The tool.
        tool: &'a Tool,
        /// Its handler.
        handler: &'a H,
        /// The decoded params; `arguments` is always present, `{}` by default.
        call: CallTool,
    },
}

/// Omits the handler, whose type need not implement `Debug`.
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

/// An answer that the catalog produces itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CatalogResult {
    /// A tool error: the arguments failed the check.
    // T-117: invalid arguments are a tool error.
    Call(CallToolResult),
    /// An empty completion: the argument has no completion handler.
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

/// Creates a completion result from the first 100 of `values`, most relevant first.
///
/// Pass `total` if there are more matches than `values`.
///
/// ```
/// use mcp_proto::catalog::completion;
///
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

/// Creates the error for an unknown resource, with its URI, for a peer of `revision`.
///
/// A catalog returns it if nothing matches the URI; a template's handler returns it if the matching
/// resource does not exist.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::catalog::resource_not_found;
///
/// let error = resource_not_found("file:///nowhere", Revision::V2026_07_28);
/// assert_eq!(error.code, -32602);
/// assert_eq!(error.data.unwrap().as_str(), r#"{"uri":"file:///nowhere"}"#);
/// ```
// STL-46: the code depends on the revision.
#[must_use]
pub fn resource_not_found(uri: &str, revision: Revision) -> ErrorObject {
    let mut data = Vec::new();
    let mut object = Object::begin(&mut data);
    object.str("uri", uri);
    object.end();
    let message = alloc::format!("no resource `{}`", quoted(uri));
    let error = ErrorObject::new(revision.rules().resource_not_found, message);
    error.with_data(Raw::from_written(data))
}
