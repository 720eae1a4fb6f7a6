//! Registration of handlers that are blocking functions.

use mcp_proto::Raw;
use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    AnyObject, Complete, CompleteResult, GetPrompt, Prompt, ReadResource, Resource,
    ResourceTemplate, Tool,
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
            Ok(listed(handler(cursor, cx.clone())?, &cx))
        }))
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
