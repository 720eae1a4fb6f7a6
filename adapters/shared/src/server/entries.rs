//! Entries of the catalog with their handlers, to be added by an edit.

use std::fmt;
use std::future::Future;

use mcp_proto::Raw;
use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    AnyObject, Complete, CompleteResult, GetPrompt, GetPromptResult, Prompt, ReadResource,
    ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use serde::de::DeserializeOwned;

#[cfg(feature = "schemars")]
use crate::server::derived_tool::derived_tool;
use crate::server::handler::arguments::is_closed;
#[cfg(feature = "schemars")]
use crate::server::handler::bounds::ToolArguments;
use crate::server::handler::bounds::{PromptResult, ResourceResult};
use crate::server::handler::context::{AsyncCx, Cx};
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::tool_result::{IntoToolResult, with_output_schema};
use crate::server::handler::{Handler, HandlerFn};

/// A tool with its handler, for [`CatalogEdit::add_tool`] and [`CatalogEdit::replace_tool`].
///
/// The constructors correspond to the registration methods of [`Server`](crate::Server). Handlers
/// run as described there.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::ToolEntry;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Today {
///     city: String,
/// }
///
/// let today = ToolEntry::new("today", "Today's weather", |it: Today, _cx| {
///     Ok(format!("sunny in {}", it.city))
/// });
/// # drop(today);
/// ```
///
/// [`CatalogEdit::add_tool`]: crate::CatalogEdit::add_tool
/// [`CatalogEdit::replace_tool`]: crate::CatalogEdit::replace_tool
#[must_use = "an entry does nothing until it is added"]
pub struct ToolEntry {
    /// The tool, or its name and why it cannot be offered.
    pub(super) tool: Result<Tool, (String, String)>,
    pub(super) handler: Handler,
    pub(super) scopes: Vec<String>,
}

impl ToolEntry {
    /// Creates a tool with arguments of type `A`; see [`Server::tool`](crate::Server::tool).
    ///
    /// If `A` is never an object in JSON, adding the entry fails.
    #[cfg(feature = "schemars")]
    pub fn new<A, R>(
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: ToolArguments,
        R: IntoToolResult,
    {
        let (tool, handler) =
            derived_tool::<A, R>(name, description, |is_closed| Handler::tool(is_closed, handler));
        Self { tool, handler, scopes: Vec::new() }
    }

    /// Like [`new`](Self::new), with an asynchronous handler.
    #[cfg(feature = "schemars")]
    pub fn new_async<A, R, F>(
        name: &str,
        description: &str,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: ToolArguments,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let (tool, handler) = derived_tool::<A, R>(name, description, |is_closed| {
            Handler::tool_async(is_closed, handler)
        });
        Self { tool, handler, scopes: Vec::new() }
    }

    /// Creates a tool with an explicit definition and arguments of type `A`.
    ///
    /// See [`Server::tool_with`](crate::Server::tool_with).
    pub fn with<A, R>(
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: IntoToolResult,
    {
        let handler = Handler::tool(is_closed(&tool), handler);
        Self { tool: Ok(with_output_schema::<R>(tool)), handler, scopes: Vec::new() }
    }

    /// Like [`with`](Self::with), with an asynchronous handler.
    pub fn with_async<A, R, F>(
        tool: Tool,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = Handler::tool_async(is_closed(&tool), handler);
        Self { tool: Ok(with_output_schema::<R>(tool)), handler, scopes: Vec::new() }
    }

    /// Creates a tool that receives its arguments as raw JSON.
    ///
    /// See [`Server::tool_raw`](crate::Server::tool_raw).
    pub fn raw<R: IntoToolResult>(
        name: &str,
        description: &str,
        schema: impl Into<AnyObject>,
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let tool = Tool::new(name, schema).description(description);
        Self {
            tool: Ok(with_output_schema::<R>(tool)),
            handler: Handler::tool_raw(handler),
            scopes: Vec::new(),
        }
    }

    /// Like [`raw`](Self::raw), with an asynchronous handler.
    pub fn raw_async<R, F>(
        name: &str,
        description: &str,
        schema: impl Into<AnyObject>,
        handler: impl Fn(Raw, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let tool = Tool::new(name, schema).description(description);
        Self {
            tool: Ok(with_output_schema::<R>(tool)),
            handler: Handler::tool_raw_async(handler),
            scopes: Vec::new(),
        }
    }

    /// Adds to the definition of the tool, such as a title and annotations.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::ToolEntry;
    ///
    /// let now = ToolEntry::new("now", "Tells the time", |(), _cx| Ok("noon"))
    ///     .describe(|tool| tool.title("Now"));
    /// # drop(now);
    /// ```
    pub fn describe(mut self, describe: impl FnOnce(Tool) -> Tool) -> Self {
        self.tool = self.tool.map(describe);
        self
    }

    /// Makes a handler that is a function always run on the thread pool.
    ///
    /// See [`Server::tool_raw_blocking`](crate::Server::tool_raw_blocking).
    pub fn blocking(mut self) -> Self {
        self.handler = self.handler.always_on_pool();
        self
    }

    /// Makes requests for the tool need these scopes; see
    /// [`Server::requires`](crate::Server::requires). Can be called again to add more.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::ToolEntry;
    ///
    /// let reset = ToolEntry::new("reset", "Deletes all notes", |(), _cx| Ok(()))
    ///     .requires(["notes:write"]);
    /// # drop(reset);
    /// ```
    pub fn requires<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.scopes.extend(scopes.into_iter().map(str::to_owned));
        self
    }
}

/// A resource with its handler, for [`CatalogEdit::add_resource`] and
/// [`CatalogEdit::replace_resource`].
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::ResourceEntry;
/// use mcp_tokio::proto::schema::{Resource, ResourceContents};
///
/// let note = ResourceEntry::new(Resource::new("note://today", "today"), |read, _cx| {
///     Ok(ResourceContents::text(read.uri, "buy milk"))
/// });
/// # drop(note);
/// ```
///
/// [`CatalogEdit::add_resource`]: crate::CatalogEdit::add_resource
/// [`CatalogEdit::replace_resource`]: crate::CatalogEdit::replace_resource
#[must_use = "an entry does nothing until it is added"]
pub struct ResourceEntry {
    pub(super) resource: Resource,
    pub(super) handler: HandlerFn<(ReadResource, Variables), ReadResourceResult>,
    pub(super) scopes: Vec<String>,
}

impl ResourceEntry {
    /// Creates a resource that `handler` reads; see [`Server::resource`](crate::Server::resource).
    pub fn new<R: ResourceResult>(
        resource: Resource,
        handler: impl Fn(ReadResource, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let handler = HandlerFn::function(move |(read, _), cx| handler(read, cx));
        Self { resource, handler, scopes: Vec::new() }
    }

    /// Like [`new`](Self::new), with an asynchronous handler.
    pub fn new_async<R: ResourceResult, F>(
        resource: Resource,
        handler: impl Fn(ReadResource, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = HandlerFn::future(move |(read, _), cx| handler(read, cx));
        Self { resource, handler, scopes: Vec::new() }
    }

    /// Makes requests for the resource need these scopes; see
    /// [`Server::requires`](crate::Server::requires). Can be called again to add more.
    pub fn requires<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.scopes.extend(scopes.into_iter().map(str::to_owned));
        self
    }
}

/// A resource template with its handlers, for [`CatalogEdit::add_template`] and
/// [`CatalogEdit::replace_template`].
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::TemplateEntry;
/// use mcp_tokio::proto::schema::{ResourceContents, ResourceTemplate};
///
/// let template = ResourceTemplate::new("note://{day}", "notes");
/// let notes = TemplateEntry::new(template, |read, variables, cx| {
///     match variables.text("day") {
///         Some("today") => Ok(ResourceContents::text(read.uri, "buy milk")),
///         _ => Err(cx.resource_not_found(&read.uri)),
///     }
/// })
/// .completion("day", |_complete, _cx| Ok(vec!["today".to_owned()]));
/// # drop(notes);
/// ```
///
/// [`CatalogEdit::add_template`]: crate::CatalogEdit::add_template
/// [`CatalogEdit::replace_template`]: crate::CatalogEdit::replace_template
#[must_use = "an entry does nothing until it is added"]
pub struct TemplateEntry {
    pub(super) template: ResourceTemplate,
    pub(super) handler: HandlerFn<(ReadResource, Variables), ReadResourceResult>,
    pub(super) completions: Completions,
    pub(super) scopes: Vec<String>,
}

impl TemplateEntry {
    /// Creates a template whose resources `handler` reads.
    ///
    /// See [`Server::resource_template`](crate::Server::resource_template).
    pub fn new<R, F>(template: ResourceTemplate, handler: F) -> Self
    where
        R: ResourceResult,
        F: Fn(ReadResource, Variables, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        let handler =
            HandlerFn::function(move |(read, variables), cx| handler(read, variables, cx));
        Self { template, handler, completions: Completions::default(), scopes: Vec::new() }
    }

    /// Like [`new`](Self::new), with an asynchronous handler.
    pub fn new_async<R: ResourceResult, F>(
        template: ResourceTemplate,
        handler: impl Fn(ReadResource, Variables, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = HandlerFn::future(move |(read, variables), cx| handler(read, variables, cx));
        Self { template, handler, completions: Completions::default(), scopes: Vec::new() }
    }

    /// Sets the completion handler of a variable.
    ///
    /// Clients use completions only if the server declares them; see
    /// [`Changes::edit`](crate::Changes::edit).
    pub fn completion<R: Into<CompleteResult>>(
        mut self,
        variable: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.completions.push((variable.to_owned(), HandlerFn::function(handler)));
        self
    }

    /// Like [`completion`](Self::completion), with an asynchronous handler.
    pub fn completion_async<R: Into<CompleteResult>, F>(
        mut self,
        variable: &str,
        handler: impl Fn(Complete, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.completions.push((variable.to_owned(), HandlerFn::future(handler)));
        self
    }

    /// Makes requests for the resources of the template need these scopes; see
    /// [`Server::requires`](crate::Server::requires). Can be called again to add more.
    pub fn requires<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.scopes.extend(scopes.into_iter().map(str::to_owned));
        self
    }
}

/// A prompt with its handlers, for [`CatalogEdit::add_prompt`] and [`CatalogEdit::replace_prompt`].
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::PromptEntry;
/// use mcp_tokio::proto::schema::{Prompt, PromptMessage, Role};
///
/// let greet = PromptEntry::with(Prompt::new("greet"), |_get, _cx| {
///     Ok(PromptMessage::new(Role::User, "Greet me"))
/// });
/// # drop(greet);
/// ```
///
/// [`CatalogEdit::add_prompt`]: crate::CatalogEdit::add_prompt
/// [`CatalogEdit::replace_prompt`]: crate::CatalogEdit::replace_prompt
#[must_use = "an entry does nothing until it is added"]
pub struct PromptEntry {
    /// The prompt, or its name and why it cannot be offered.
    pub(super) prompt: Result<Prompt, (String, String)>,
    pub(super) handler: HandlerFn<GetPrompt, GetPromptResult>,
    pub(super) completions: Completions,
    pub(super) scopes: Vec<String>,
}

impl PromptEntry {
    /// Creates a prompt with an explicit definition.
    ///
    /// See [`Server::prompt_with`](crate::Server::prompt_with).
    pub fn with<R: PromptResult>(
        prompt: Prompt,
        handler: impl Fn(GetPrompt, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let handler = HandlerFn::function(handler);
        Self {
            prompt: Ok(prompt),
            handler,
            completions: Completions::default(),
            scopes: Vec::new(),
        }
    }

    /// Like [`with`](Self::with), with an asynchronous handler.
    pub fn with_async<R: PromptResult, F>(
        prompt: Prompt,
        handler: impl Fn(GetPrompt, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = HandlerFn::future(handler);
        Self {
            prompt: Ok(prompt),
            handler,
            completions: Completions::default(),
            scopes: Vec::new(),
        }
    }

    /// Adds to the definition of the prompt, such as a title.
    pub fn describe(mut self, describe: impl FnOnce(Prompt) -> Prompt) -> Self {
        self.prompt = self.prompt.map(describe);
        self
    }

    /// Makes adding the entry fail.
    #[cfg(feature = "schemars")]
    pub(super) fn invalid(mut self, reason: String) -> Self {
        self.prompt = self.prompt.and_then(|prompt| Err((prompt.name, reason)));
        self
    }

    /// Sets the completion handler of an argument.
    ///
    /// Clients use completions only if the server declares them; see
    /// [`Changes::edit`](crate::Changes::edit).
    pub fn completion<R: Into<CompleteResult>>(
        mut self,
        argument: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.completions.push((argument.to_owned(), HandlerFn::function(handler)));
        self
    }

    /// Like [`completion`](Self::completion), with an asynchronous handler.
    pub fn completion_async<R: Into<CompleteResult>, F>(
        mut self,
        argument: &str,
        handler: impl Fn(Complete, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.completions.push((argument.to_owned(), HandlerFn::future(handler)));
        self
    }

    /// Makes requests for the prompt need these scopes; see
    /// [`Server::requires`](crate::Server::requires). Can be called again to add more.
    pub fn requires<'a>(mut self, scopes: impl IntoIterator<Item = &'a str>) -> Self {
        self.scopes.extend(scopes.into_iter().map(str::to_owned));
        self
    }
}

/// The completion handlers of an entry, with the names of their arguments.
pub(super) type Completions = Vec<(String, HandlerFn<Complete, CompleteResult>)>;

impl fmt::Debug for ToolEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolEntry").field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl fmt::Debug for ResourceEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceEntry").field("resource", &self.resource).finish_non_exhaustive()
    }
}

impl fmt::Debug for TemplateEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateEntry").field("template", &self.template).finish_non_exhaustive()
    }
}

impl fmt::Debug for PromptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptEntry").field("prompt", &self.prompt).finish_non_exhaustive()
    }
}
