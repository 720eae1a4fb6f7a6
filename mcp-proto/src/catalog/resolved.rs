//! What a request asks the catalogue for, once it is found; knows nothing of how it was found.

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

/// What a request asks for, and who is to answer.
///
/// The params are read and checked; the URI and the name are in them.
///
/// ```
/// use mcp_proto::catalog::{Catalog, Found};
/// use mcp_proto::schema::{CallTool, CallToolResult, Encode, Tool};
/// use mcp_proto::{ErrorObject, Raw, Revision};
///
/// type Handler = fn(&CallTool) -> CallToolResult;
///
/// fn serve(catalog: &Catalog<Handler>, method: &str, params: &Raw) -> Result<Box<dyn Encode>, ErrorObject> {
///     Ok(match catalog.find_raw(method, Some(params), Revision::V2025_11_25)? {
///         Found::Answer(answer) => Box::new(answer),
///         Found::Tool { handler, call, .. } => Box::new(handler(&call)),
///         _ => return Err(ErrorObject::method_not_found(method)),
///     })
/// }
///
/// let mut catalog: Catalog<Handler> = Catalog::new();
/// let schema = Raw::from_text(r#"{"type":"object"}"#).unwrap();
/// catalog.add_tool(Tool::new("echo", schema), |call| CallToolResult::text(call.name.clone())).unwrap();
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
pub enum Found<'a, H> {
    /// The catalogue's own answer: send it.
    Answer(Answer),
    /// An argument is to be completed: answer with what [`completion`] makes.
    Completion {
        /// Who completes this argument.
        handler: &'a H,
        /// The params.
        complete: Complete,
    },
    /// The catalogue does not know the method.
    Other,
    /// A prompt is to be filled in. Every argument that it requires is there.
    Prompt {
        /// Which one.
        prompt: &'a Prompt,
        /// Who fills it in.
        handler: &'a H,
        /// The params.
        get: GetPrompt,
    },
    /// A resource is to be read.
    Resource {
        /// Which one.
        resource: &'a Resource,
        /// Who reads it.
        handler: &'a H,
        /// The params.
        read: ReadResource,
    },
    /// A resource is to be read whose URI matches a template.
    ///
    /// Whether it exists is for the handler to find out, and whether the values are safe. (SEC-02)
    Template {
        /// Which template: the most specific one, see
        /// [`add_template`](super::Catalog::add_template).
        template: &'a ResourceTemplate,
        /// Who reads such resources.
        handler: &'a H,
        /// What its variables stand for in the URI.
        variables: Variables,
        /// The params.
        read: ReadResource,
    },
    /// A tool is to be called.
    Tool {
        /// Which one.
        tool: &'a Tool,
        /// Who runs it.
        handler: &'a H,
        /// The params. The arguments are there, `{}` where the client gave none.
        call: CallTool,
    },
}

/// Without the handler, which may be anything.
impl<H> fmt::Debug for Found<'_, H> {
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

/// An answer that the catalogue gives by itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// A tool's error: the arguments did not pass the check. (T-117)
    Call(CallToolResult),
    /// No completions, for an argument that nobody completes.
    Complete(CompleteResult),
    /// A page of the prompts.
    Prompts(ListPromptsResult),
    /// A page of the resources.
    Resources(ListResourcesResult),
    /// A page of the resource templates.
    Templates(ListResourceTemplatesResult),
    /// A page of the tools.
    Tools(ListToolsResult),
}

impl Encode for Answer {
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

/// The result of a completion: the first 100 of `values`, the best first, and whether there are
/// more. (SEC-20)
///
/// `total` is how many there are in all, where the handler knows of more than it gives.
///
/// ```
/// use mcp_proto::catalog::completion;
///
/// let result = completion(vec!["Oslo".to_owned(), "Osaka".to_owned()], Some(7));
/// assert_eq!(result.completion.total, Some(7));
/// assert_eq!(result.completion.has_more, Some(true));
/// ```
#[must_use]
pub fn completion(values: Vec<String>, total: Option<u64>) -> CompleteResult {
    let given = values.len() as u64;
    let mut completion = Completion::of(values);
    if let Some(total) = total.filter(|total| *total > given) {
        completion = completion.total(i64::try_from(total).unwrap_or(i64::MAX)).has_more(true);
    }
    CompleteResult::new(completion)
}

/// The error for a resource that does not exist, as peers of `revision` know it: with its URI.
/// (STL-46)
///
/// A catalogue makes it where nothing matches; a handler of a template, where something matches
/// that is not there.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::catalog::no_resource;
///
/// let error = no_resource("file:///nowhere", Revision::V2026_07_28);
/// assert_eq!(error.code, -32602);
/// assert_eq!(error.data.unwrap().as_str(), r#"{"uri":"file:///nowhere"}"#);
/// ```
#[must_use]
pub fn no_resource(uri: &str, revision: Revision) -> ErrorObject {
    let mut data = Vec::new();
    let mut object = Object::begin(&mut data);
    object.str("uri", uri);
    object.end();
    let message = alloc::format!("no resource `{}`", quoted(uri));
    let error = ErrorObject::new(revision.rules().resource_not_found, message);
    error.with_data(Raw::from_written(data))
}
