//! Registration of handlers that are futures.

use std::future::Future;

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
use crate::server::handler::context::AsyncCx;
use crate::server::handler::tool_error::ToolError;
use crate::server::handler::tool_result::IntoToolResult;
use crate::server::list_handler::{Page, listed};

/// Registration of asynchronous handlers.
///
/// Their futures run on the adapter's runtime and must not block. A future is dropped when its
/// request is cancelled or the connection ends. `mcp-blocking` has no runtime and runs each future
/// to completion on one thread.
impl Server {
    /// Adds a tool with an asynchronous handler; see [`tool`](Self::tool).
    #[cfg(feature = "schemars")]
    pub fn tool_async<A, R, F>(
        self,
        name: &str,
        description: &str,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: ToolArguments,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.register(|edit| edit.add_tool(ToolEntry::new_async(name, description, handler)))
    }

    /// Adds a tool with an explicit definition and an asynchronous handler.
    ///
    /// See [`tool_with`](Self::tool_with).
    pub fn tool_with_async<A, R, F>(
        self,
        tool: Tool,
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.register(|edit| edit.add_tool(ToolEntry::with_async(tool, handler)))
    }

    /// Adds a tool with raw JSON arguments and an asynchronous handler.
    ///
    /// See [`tool_raw`](Self::tool_raw).
    pub fn tool_raw_async<R, F>(
        self,
        name: &str,
        description: &str,
        schema: impl Into<AnyObject>,
        handler: impl Fn(Raw, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let entry = ToolEntry::raw_async(name, description, schema, handler);
        self.register(|edit| edit.add_tool(entry))
    }

    /// Adds a resource with an asynchronous handler; see [`resource`](Self::resource).
    pub fn resource_async<R: ResourceResult, F>(
        self,
        resource: Resource,
        handler: impl Fn(ReadResource, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.register(|edit| edit.add_resource(ResourceEntry::new_async(resource, handler)))
    }

    /// Adds a resource template with an asynchronous handler.
    ///
    /// See [`resource_template`](Self::resource_template).
    pub fn resource_template_async<R: ResourceResult, F>(
        self,
        template: ResourceTemplate,
        handler: impl Fn(ReadResource, Variables, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.register(|edit| edit.add_template(TemplateEntry::new_async(template, handler)))
    }

    /// Lists resources with an asynchronous handler; see [`list_resources`](Self::list_resources).
    pub fn list_resources_async<F>(
        self,
        handler: impl Fn(Option<String>, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Page<Resource>, ToolError>> + Send + 'static,
    {
        self.with_resource_lister(HandlerFn::future(move |cursor, cx: AsyncCx| {
            let page = handler(cursor, cx.clone());
            async move { Ok(listed::<ListResourcesResult>(page.await?, &cx)) }
        }))
    }

    /// Lists tools with an asynchronous handler; see [`list_tools`](Self::list_tools).
    pub fn list_tools_async<F>(
        self,
        handler: impl Fn(Option<String>, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Page<Tool>, ToolError>> + Send + 'static,
    {
        self.with_tool_lister(HandlerFn::future(move |cursor, cx: AsyncCx| {
            let page = handler(cursor, cx.clone());
            async move { Ok(listed::<ListToolsResult>(page.await?, &cx)) }
        }))
    }

    /// Sets an asynchronous handler for calls of all tools that are not registered.
    ///
    /// See [`tool_fallback`](Self::tool_fallback).
    pub fn tool_fallback_async<R: IntoToolResult, F>(
        self,
        handler: impl Fn(CallTool, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.with_tool_fallback(HandlerFn::future(move |call, cx| {
            let served = handler(call, cx);
            async move { served.await?.into_tool_result() }
        }))
    }

    /// Lists prompts with an asynchronous handler; see [`list_prompts`](Self::list_prompts).
    pub fn list_prompts_async<F>(
        self,
        handler: impl Fn(Option<String>, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Page<Prompt>, ToolError>> + Send + 'static,
    {
        self.with_prompt_lister(HandlerFn::future(move |cursor, cx: AsyncCx| {
            let page = handler(cursor, cx.clone());
            async move { Ok(listed::<ListPromptsResult>(page.await?, &cx)) }
        }))
    }

    /// Sets an asynchronous handler that renders all prompts that are not registered.
    ///
    /// See [`prompt_fallback`](Self::prompt_fallback).
    pub fn prompt_fallback_async<R: PromptResult, F>(
        self,
        handler: impl Fn(GetPrompt, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.with_prompt_fallback(HandlerFn::future(handler))
    }

    /// Sets an asynchronous completion handler for a variable of a resource template.
    ///
    /// See [`template_completion`](Self::template_completion).
    pub fn template_completion_async<R: Into<CompleteResult>, F>(
        self,
        uri_template: &str,
        variable: &str,
        handler: impl Fn(Complete, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = HandlerFn::future(handler);
        self.register(|edit| edit.add_template_completion(uri_template, variable, handler))
    }

    /// Adds a prompt with an asynchronous handler; see [`prompt_with`](Self::prompt_with).
    pub fn prompt_with_async<R: PromptResult, F>(
        self,
        prompt: Prompt,
        handler: impl Fn(GetPrompt, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.register(|edit| edit.add_prompt(PromptEntry::with_async(prompt, handler)))
    }

    /// Sets an asynchronous completion handler for an argument of a prompt.
    ///
    /// See [`prompt_completion`](Self::prompt_completion).
    pub fn prompt_completion_async<R: Into<CompleteResult>, F>(
        self,
        prompt: &str,
        argument: &str,
        handler: impl Fn(Complete, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let handler = HandlerFn::future(handler);
        self.register(|edit| edit.add_prompt_completion(prompt, argument, handler))
    }
}
