//! Handlers that are plain functions, of everything that a server can offer.

use mcp_proto::Raw;
use mcp_proto::catalog::Variables;
use mcp_proto::schema::{
    CallToolResult, Complete, CompleteResult, GetPrompt, GetPromptResult, Prompt, ReadResource,
    ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use serde::de::DeserializeOwned;

use super::Server;
#[cfg(feature = "schemars")]
use super::schema_of;
use crate::server::handler::context::Cx;
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::{Handler, Serves};

/// Handlers that are plain functions run on threads of the server's own, and may block.
impl Server {
    /// Adds a tool whose arguments are a Rust type; their schema is derived from it.
    ///
    /// Arguments that do not fit the type are answered with an error in the tool's result, for the
    /// model to mend.
    #[cfg(feature = "schemars")]
    pub fn tool<A, R>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema,
        R: Into<CallToolResult>,
    {
        let schema = schema_of::<A>();
        self.tool_with(Tool::new(name, schema).description(description), handler)
    }

    /// Adds a tool whose arguments are a Rust type, described by hand.
    pub fn tool_with<A, R>(
        self,
        tool: Tool,
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Into<CallToolResult>,
    {
        self.add_tool(tool, Handler::tool(handler))
    }

    /// Adds a tool that takes its arguments as they come: an object, described by `schema`.
    pub fn tool_raw<R>(
        self,
        name: &str,
        description: &str,
        schema: Raw,
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        R: Into<CallToolResult>,
    {
        self.add_tool(
            Tool::new(name, schema).description(description),
            Handler::Tool(Serves::plain(handler)),
        )
    }

    /// Adds a resource, and what reads it.
    pub fn resource<R: Into<ReadResourceResult>>(
        self,
        resource: Resource,
        handler: impl Fn(ReadResource, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.add_resource(resource, Serves::plain(move |(read, _), cx| handler(read, cx)))
    }

    /// Adds a pattern of resources, and what reads those that match.
    ///
    /// The handler is given what the pattern's variables stand for. They are the client's words:
    /// check them before they become part of a path. For what matches and is not there, it
    /// answers with [`Cx::no_resource`].
    pub fn resource_template<R: Into<ReadResourceResult>>(
        self,
        template: ResourceTemplate,
        handler: impl Fn(ReadResource, Variables, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        let serves = Serves::plain(move |(read, variables), cx| handler(read, variables, cx));
        self.add_template(template, serves)
    }

    /// Has `handler` complete a variable of a resource template that was added before, named by its
    /// pattern.
    pub fn template_completion<R: Into<CompleteResult>>(
        self,
        uri_template: &str,
        variable: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.complete_template(uri_template, variable, Serves::plain(handler))
    }

    /// Adds a prompt, and what fills it in. The arguments that it requires are there when the
    /// handler runs.
    pub fn prompt<R: Into<GetPromptResult>>(
        self,
        prompt: Prompt,
        handler: impl Fn(GetPrompt, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.add_prompt(prompt, Serves::plain(handler))
    }

    /// Has `handler` complete an argument of a prompt that was added before.
    pub fn prompt_completion<R: Into<CompleteResult>>(
        self,
        prompt: &str,
        argument: &str,
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.complete_prompt(prompt, argument, Serves::plain(handler))
    }
}
