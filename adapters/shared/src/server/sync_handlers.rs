//! Registration of handlers that are blocking functions.

use mcp_proto::Raw;
use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    AnyObject, CallTool, Complete, CompleteResult, GetPrompt, ListPromptsResult,
    ListResourcesResult, ListToolsResult, Prompt, ReadResource, Resource, ResourceTemplate, Tool,
};
use serde::de::DeserializeOwned;

use super::Server;
use crate::server::entries::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use crate::server::handler::HandlerFn;
#[cfg(feature = "schemars")]
use crate::server::handler::bounds::ToolArguments;
use crate::server::handler::bounds::{PromptResult, ResourceResult};
use crate::server::handler::context::Cx;
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::tool_result::IntoToolResult;
use crate::server::list_handler::{Page, listed};

/// Registration of handlers that are functions. They may block; see [`Server`] for where they run.
impl Server {
    /// Adds a [tool](https://modelcontextprotocol.io/specification/2025-11-25/server/tools) with
    /// arguments of type `A`.
    ///
    /// The input schema is derived from `A`, a struct with named fields. For a tool without
    /// arguments, `A` is `()` or a unit struct. A type whose JSON form is never an object, such as
    /// a number or a tuple, is reported as an error when the server starts.
    ///
    /// Arguments that do not match `A` produce a tool error that the model can correct.
    ///
    /// For a handler that is a future, use [`tool_async`](Self::tool_async).
    ///
    /// # Hosts
    /// Hosts pass the schema on to the API of a model, which may refuse it. A derived schema
    /// therefore has only what the common hosts accept:
    ///
    /// | in Rust | in the schema of arguments |
    /// |---|---|
    /// | a field of type `Option<T>` | the schema of `T`, not required; `null` is accepted, too |
    /// | `u8`, `i32` and other integers | `minimum` and `maximum` up to 32 bits, no `format` |
    /// | a tuple | an array with `items`, which all drafts of JSON Schema have |
    /// | a map whose keys are numbers | `additionalProperties` with the schema of the values |
    /// | `serde_json::Value` | `{}`; no schema is a boolean |
    /// | `deny_unknown_fields` | nothing: unknown fields are refused when arguments are decoded |
    ///
    /// With the feature `tracing`, a warning names each tool and field that some hosts still
    /// cannot read: enums as the whole arguments, and types that contain themselves.
    ///
    /// All tools are on one page of the list if they fit into 15 MiB, because many hosts read only
    /// the first; see [`page_max`](Self::page_max).
    #[cfg(feature = "schemars")]
    pub fn tool<A, R>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: ToolArguments,
        R: IntoToolResult,
    {
        self.register(|edit| edit.add_tool(ToolEntry::new(name, description, handler)))
    }

    /// Adds a tool with an explicit [`Tool`] definition and arguments of type `A`.
    ///
    /// Arguments that do not match `A` produce a tool error that the model can correct.
    ///
    /// The schemas are published as they are, except that
    /// [boolean schemas are replaced](Tool::with_readable_schemas), for which some clients refuse
    /// the whole list. See [`tool`](Self::tool) for what hosts accept beyond that.
    pub fn tool_with<A, R>(
        self,
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: IntoToolResult,
    {
        self.register(|edit| edit.add_tool(ToolEntry::with(tool, handler)))
    }

    /// Like [`tool`](Self::tool), but the handler always runs on the thread pool; see
    /// [`tool_raw_blocking`](Self::tool_raw_blocking).
    #[cfg(feature = "schemars")]
    pub fn tool_blocking<A, R>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: ToolArguments,
        R: IntoToolResult,
    {
        let entry = ToolEntry::new(name, description, handler).blocking();
        self.register(|edit| edit.add_tool(entry))
    }

    /// Like [`tool_with`](Self::tool_with), but the handler always runs on the thread pool; see
    /// [`tool_raw_blocking`](Self::tool_raw_blocking).
    pub fn tool_with_blocking<A, R>(
        self,
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: IntoToolResult,
    {
        self.register(|edit| edit.add_tool(ToolEntry::with(tool, handler).blocking()))
    }

    /// Like [`tool_raw`](Self::tool_raw), for a handler that waits for a disk, a network or a
    /// person, or that computes for a long time.
    ///
    /// The handler always runs on the thread pool. With [`tool_raw`](Self::tool_raw), a handler
    /// whose recent runs were quick may delay its whole connection when a run is slow. Use this
    /// method for handlers that are quick for some arguments and slow for others.
    pub fn tool_raw_blocking<R>(
        self,
        name: &str,
        description: &str,
        schema: impl Into<AnyObject>,
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoToolResult,
    {
        let entry = ToolEntry::raw(name, description, schema, handler).blocking();
        self.register(|edit| edit.add_tool(entry))
    }

    /// Adds a tool that receives its arguments as raw JSON.
    ///
    /// The arguments are always a JSON object. `schema` is the input schema shown to clients;
    /// arguments are not checked against it unless `checked` or
    /// [`check_arguments`](Self::check_arguments) is set.
    pub fn tool_raw<R>(
        self,
        name: &str,
        description: &str,
        schema: impl Into<AnyObject>,
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoToolResult,
    {
        self.register(|edit| edit.add_tool(ToolEntry::raw(name, description, schema, handler)))
    }

    /// Adds a [resource](https://modelcontextprotocol.io/specification/2025-11-25/server/resources)
    /// and the handler that reads it.
    ///
    /// Contents without a media type get that of the resource; so do those of a resource template.
    pub fn resource<R: ResourceResult>(
        self,
        resource: Resource,
        handler: impl Fn(ReadResource, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.register(|edit| edit.add_resource(ResourceEntry::new(resource, handler)))
    }

    /// Adds a resource template and the handler that reads matching resources.
    ///
    /// The handler receives the values of the template's variables. They come from the client, so
    /// validate them before using them in a file path. If the resource does not exist, return
    /// [`Cx::resource_not_found`].
    pub fn resource_template<R, F>(self, template: ResourceTemplate, handler: F) -> Self
    where
        R: ResourceResult,
        F: Fn(ReadResource, Variables, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        self.register(|edit| edit.add_template(TemplateEntry::new(template, handler)))
    }

    /// Lists resources that are too many or too changeable to be registered.
    ///
    /// Clients receive the registered resources first, then the pages of `handler`, which receives
    /// `None` for its first page and then the cursor of its previous page. Clients can read and
    /// forge a cursor: put no secrets into it, and check it. Keep pages well below the message size
    /// that clients accept.
    /// Resources that the caller may not [see](Self::visible_to) are removed from a page. All pages
    /// of the list are private to the user; those of `handler` are not cached.
    ///
    /// Requests to read the listed resources need a resource template that matches their URIs, such
    /// as `{+uri}`, which matches any URI. Its handler must check whether the caller may read the
    /// resource. Resources are declared, even if none is registered.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{Resource, ResourceContents, ResourceTemplate};
    /// use mcp_tokio::proto::ErrorObject;
    /// use mcp_tokio::{Page, Server, ToolError};
    ///
    /// const END: u64 = 1000;
    ///
    /// let server = Server::new("numbers", "1.0.0")
    ///     .list_resources(|cursor: Option<String>, _cx| {
    ///         let first = cursor.map_or(Ok(0), |cursor| cursor.parse::<u64>());
    ///         let invalid = || ToolError::refused(ErrorObject::invalid_params("invalid cursor"));
    ///         let first = first.map_err(|_| invalid())?;
    ///         let next = first.saturating_add(10).min(END);
    ///         let numbers = (first..next).map(|number| {
    ///             Resource::new(format!("number://{number}"), number.to_string())
    ///         });
    ///         let page = Page::new(numbers.collect());
    ///         Ok(if next < END { page.next(next.to_string()) } else { page })
    ///     })
    ///     .resource_template(ResourceTemplate::new("{+uri}", "any"), |read, _variables, cx| {
    ///         let number = read.uri.strip_prefix("number://").and_then(|it| it.parse().ok());
    ///         let number = number.filter(|number: &u64| *number < END);
    ///         let number = number.ok_or_else(|| cx.resource_not_found(&read.uri))?;
    ///         Ok(ResourceContents::text(read.uri, number.to_string()))
    ///     });
    /// # drop(server);
    /// ```
    pub fn list_resources(
        self,
        handler: impl Fn(Option<String>, Cx) -> Result<Page<Resource>, ToolError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.with_resource_lister(HandlerFn::function(move |cursor, cx: Cx| {
            Ok(listed::<ListResourcesResult>(handler(cursor, cx.clone())?, &cx))
        }))
    }

    /// Lists tools that are too many or too changeable to be registered.
    ///
    /// Clients receive the registered tools first, then the pages of `handler`, which receives
    /// `None` for its first page and then the cursor of its previous page. The cursor comes from
    /// the client, and the pages are private, as those of [`list_resources`](Self::list_resources).
    /// Tools that the caller may not [see](Self::visible_to) are removed from a page.
    ///
    /// Calls of the listed tools are served by [`tool_fallback`](Self::tool_fallback). Tools are
    /// declared, even if none is registered.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{CallTool, Tool};
    /// use mcp_tokio::{Page, Server};
    /// use serde_json::json;
    ///
    /// // The plugins of an editor, which come and go.
    /// let plugins = || ["format", "lint"];
    ///
    /// let server = Server::new("editor", "1.0.0")
    ///     .list_tools(move |_cursor, _cx| {
    ///         let tool = |name| Tool::new(name, json!({"type": "object"}));
    ///         Ok(Page::new(plugins().into_iter().map(tool).collect()))
    ///     })
    ///     .tool_fallback(move |call: CallTool, cx| {
    ///         if !plugins().contains(&&*call.name) {
    ///             return Err(cx.tool_not_found(&call.name));
    ///         }
    ///         Ok(format!("{} has run", call.name))
    ///     });
    /// # drop(server);
    /// ```
    pub fn list_tools<F>(self, handler: F) -> Self
    where
        F: Fn(Option<String>, Cx) -> Result<Page<Tool>, ToolError> + Send + Sync + 'static,
    {
        self.with_tool_lister(HandlerFn::function(move |cursor, cx: Cx| {
            Ok(listed::<ListToolsResult>(handler(cursor, cx.clone())?, &cx))
        }))
    }

    /// Sets the handler for calls of all tools that are not registered, such as those that
    /// [`list_tools`](Self::list_tools) lists.
    ///
    /// The handler receives the name and the arguments of the call, and must check both, and
    /// whether the caller may call the tool: a call of a registered tool that
    /// [`visible_to`](Self::visible_to) hides from the caller also reaches it, but not one for
    /// which only [scopes](Self::requires) are missing. For a tool that does not exist, return
    /// [`Cx::tool_not_found`]. The arguments are always present, as a JSON object. Neither
    /// [`check_arguments`](Self::check_arguments) nor `checked` applies to them or to the result.
    /// If tools annotate arguments with `x-mcp-header`, set
    /// [`tool_fallback_schema`](Self::tool_fallback_schema). Tools are declared, even if none is
    /// registered.
    pub fn tool_fallback<R: IntoToolResult>(
        self,
        handler: impl Fn(CallTool, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.with_tool_fallback(HandlerFn::function(move |call, cx| {
            handler(call, cx)?.into_tool_result()
        }))
    }

    /// Lists prompts that are too many or too changeable to be registered.
    ///
    /// Works like [`list_tools`](Self::list_tools). The listed prompts are rendered by
    /// [`prompt_fallback`](Self::prompt_fallback). Prompts are declared, even if none is
    /// registered.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{GetPrompt, Prompt, PromptMessage, Role};
    /// use mcp_tokio::{Page, Server};
    ///
    /// // The snippets that users have saved.
    /// let snippets = || ["greeting", "farewell"];
    ///
    /// let server = Server::new("snippets", "1.0.0")
    ///     .list_prompts(move |_cursor, _cx| {
    ///         Ok(Page::new(snippets().into_iter().map(Prompt::new).collect()))
    ///     })
    ///     .prompt_fallback(move |get: GetPrompt, cx| {
    ///         if !snippets().contains(&&*get.name) {
    ///             return Err(cx.prompt_not_found(&get.name));
    ///         }
    ///         Ok(PromptMessage::new(Role::User, format!("Write a {}", get.name)))
    ///     });
    /// # drop(server);
    /// ```
    pub fn list_prompts<F>(self, handler: F) -> Self
    where
        F: Fn(Option<String>, Cx) -> Result<Page<Prompt>, ToolError> + Send + Sync + 'static,
    {
        self.with_prompt_lister(HandlerFn::function(move |cursor, cx: Cx| {
            Ok(listed::<ListPromptsResult>(handler(cursor, cx.clone())?, &cx))
        }))
    }

    /// Sets the handler that renders all prompts that are not registered, such as those that
    /// [`list_prompts`](Self::list_prompts) lists.
    ///
    /// The handler receives the name and the arguments, and must check both, and whether the caller
    /// may get the prompt: a request for a registered prompt that [`visible_to`](Self::visible_to)
    /// hides from the caller also reaches it, but not one for which only [scopes](Self::requires)
    /// are missing. Arguments that are not text are left out. For a prompt that does not exist,
    /// return [`Cx::prompt_not_found`]. Prompts are declared, even if none is registered.
    pub fn prompt_fallback<R: PromptResult>(
        self,
        handler: impl Fn(GetPrompt, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.with_prompt_fallback(HandlerFn::function(handler))
    }

    /// Sets the completion handler for a variable of a resource template.
    ///
    /// `uri_template` must be the URI template of a resource template that was added before.
    pub fn template_completion<R: Into<CompleteResult>>(
        self,
        uri_template: &str,
        variable: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let handler = HandlerFn::function(handler);
        self.register(|edit| edit.add_template_completion(uri_template, variable, handler))
    }

    /// Adds a prompt with an explicit [`Prompt`] definition and the handler that renders it.
    ///
    /// A request that lacks a required argument fails before the handler runs.
    pub fn prompt_with<R: PromptResult>(
        self,
        prompt: Prompt,
        handler: impl Fn(GetPrompt, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.register(|edit| edit.add_prompt(PromptEntry::with(prompt, handler)))
    }

    /// Sets the completion handler for an argument of a prompt. Add the prompt first.
    pub fn prompt_completion<R: Into<CompleteResult>>(
        self,
        prompt: &str,
        argument: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let handler = HandlerFn::function(handler);
        self.register(|edit| edit.add_prompt_completion(prompt, argument, handler))
    }
}
