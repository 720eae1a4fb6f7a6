//! Handlers that are futures, of everything that a server can offer.

use std::future::Future;

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
use crate::server::handler::context::AsyncCx;
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::{Handler, Serves};

/// Handlers that are futures run on the adapter's runtime, and must not block. Each is dropped,
/// where it waits, once its request is cancelled or the connection has ended. Where there is no
/// runtime, as with `mcp-blocking`, each runs on a thread until its end.
impl Server {
    /// As [`tool`](Self::tool), with a future.
    #[cfg(feature = "schemars")]
    pub fn tool_async<A, R, F>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + schemars::JsonSchema,
        R: Into<CallToolResult>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let schema = schema_of::<A>();
        self.tool_with_async(Tool::new(name, schema).description(description), handler)
    }

    /// As [`tool_with`](Self::tool_with), with a future.
    pub fn tool_with_async<A, R, F>(
        self,
        tool: Tool,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Into<CallToolResult>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add_tool(tool, Handler::tool_async(handler))
    }

    /// As [`tool_raw`](Self::tool_raw), with a future.
    pub fn tool_raw_async<R, F>(
        self,
        name: &str,
        description: &str,
        schema: Raw,
        handler: impl Fn(Raw, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: Into<CallToolResult>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add_tool(
            Tool::new(name, schema).description(description),
            Handler::Tool(Serves::future(handler)),
        )
    }

    /// As [`resource`](Self::resource), with a future.
    pub fn resource_async<R: Into<ReadResourceResult>, F>(
        self,
        resource: Resource,
        handler: impl Fn(ReadResource, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add_resource(resource, Serves::future(move |(read, _), cx| handler(read, cx)))
    }

    /// As [`resource_template`](Self::resource_template), with a future.
    pub fn resource_template_async<R: Into<ReadResourceResult>, F>(
        self,
        template: ResourceTemplate,
        handler: impl Fn(ReadResource, Variables, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let serves = Serves::future(move |(read, variables), cx| handler(read, variables, cx));
        self.add_template(template, serves)
    }

    /// As [`template_completion`](Self::template_completion), with a future.
    pub fn template_completion_async<R: Into<CompleteResult>, F>(
        self,
        uri_template: &str,
        variable: &str,
        handler: impl Fn(Complete, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.complete_template(uri_template, variable, Serves::future(handler))
    }

    /// As [`prompt`](Self::prompt), with a future.
    pub fn prompt_async<R: Into<GetPromptResult>, F>(
        self,
        prompt: Prompt,
        handler: impl Fn(GetPrompt, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add_prompt(prompt, Serves::future(handler))
    }

    /// As [`prompt_completion`](Self::prompt_completion), with a future.
    pub fn prompt_completion_async<R: Into<CompleteResult>, F>(
        self,
        prompt: &str,
        argument: &str,
        handler: impl Fn(Complete, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.complete_prompt(prompt, argument, Serves::future(handler))
    }
}
