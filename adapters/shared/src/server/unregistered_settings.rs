//! Registration of the handlers of entries that are not registered themselves.

use std::sync::Arc;

use mcp_proto::schema::{
    CallTool, CallToolResult, GetPrompt, GetPromptResult, ListPromptsResult, ListResourcesResult,
    ListToolsResult,
};
use mcp_proto::{Capability, Raw};

use super::Server;
use crate::server::handler::HandlerFn;
use crate::server::visibility::CallerCx;

impl Server {
    /// Sets the handler that lists prompts after the registered ones.
    pub(super) fn with_prompt_lister(
        mut self,
        lister: HandlerFn<Option<String>, ListPromptsResult>,
    ) -> Self {
        const WHAT: &str = "the list of prompts";
        let earlier = self.unregistered.prompts.replace(Arc::new(lister.named(WHAT)));
        self.builder.register_unregistered(WHAT, earlier.is_some());
        self.declare_list(Capability::Prompts, Capability::PromptsListChanged)
    }

    /// Sets the handler that lists resources after the registered ones.
    pub(super) fn with_resource_lister(
        mut self,
        lister: HandlerFn<Option<String>, ListResourcesResult>,
    ) -> Self {
        const WHAT: &str = "the list of resources";
        let earlier = self.unregistered.resources.replace(Arc::new(lister.named(WHAT)));
        self.builder.register_unregistered(WHAT, earlier.is_some());
        self.declare_list(Capability::Resources, Capability::ResourcesListChanged)
    }

    /// Sets the handler that lists tools after the registered ones.
    pub(super) fn with_tool_lister(
        mut self,
        lister: HandlerFn<Option<String>, ListToolsResult>,
    ) -> Self {
        const WHAT: &str = "the list of tools";
        let earlier = self.unregistered.tools.replace(Arc::new(lister.named(WHAT)));
        self.builder.register_unregistered(WHAT, earlier.is_some());
        self.declare_list(Capability::Tools, Capability::ToolsListChanged)
    }

    /// Sets the handler that gets prompts that are not registered.
    pub(super) fn with_prompt_fallback(
        mut self,
        fallback: HandlerFn<GetPrompt, GetPromptResult>,
    ) -> Self {
        const WHAT: &str = "the prompt fallback";
        let earlier = self.unregistered.prompt_fallback.replace(Arc::new(fallback.named(WHAT)));
        self.builder.register_unregistered(WHAT, earlier.is_some());
        self.declare_list(Capability::Prompts, Capability::PromptsListChanged)
    }

    /// Sets the handler that calls tools that are not registered.
    pub(super) fn with_tool_fallback(
        mut self,
        fallback: HandlerFn<CallTool, CallToolResult>,
    ) -> Self {
        const WHAT: &str = "the tool fallback";
        let earlier = self.unregistered.tool_fallback.replace(Arc::new(fallback.named(WHAT)));
        self.builder.register_unregistered(WHAT, earlier.is_some());
        self.declare_list(Capability::Tools, Capability::ToolsListChanged)
    }

    /// Sets a function that returns the input schemas of tools that are not registered, for
    /// [`tool_fallback`](Self::tool_fallback).
    ///
    /// Over HTTP in revision 2026-07-28, clients repeat the arguments that a schema annotates with
    /// `x-mcp-header` in `Mcp-Param-*` headers, by which proxies may decide. With the schema, a
    /// call whose headers and arguments differ is refused with status 400, like that of a
    /// registered tool. Without it, and by default, these headers are not recognized: they are
    /// ignored.
    ///
    /// Needed only if tools with this annotation are listed. The function is called for each call
    /// of a tool that the caller does not see in the catalog, before its arguments are known, and
    /// must not block. It returns `None` for a tool that does not exist, or that the caller may not
    /// call.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::proto::Raw;
    ///
    /// let schema = r#"{"type":"object","properties":{
    ///     "region":{"type":"string","x-mcp-header":"Region"}}}"#;
    /// let schema = Raw::from_text(schema).unwrap();
    /// let server = Server::new("deploy", "1.0.0")
    ///     .tool_fallback(|call, _cx| Ok(format!("{} has run", call.name)))
    ///     .tool_fallback_schema(move |tool, _| (tool == "start").then(|| schema.clone()));
    /// # drop(server);
    /// ```
    // HTTP-50: headers are recognized by the schema of their tool.
    pub fn tool_fallback_schema(
        mut self,
        schema_of: impl Fn(&str, &CallerCx<'_>) -> Option<Raw> + Send + Sync + 'static,
    ) -> Self {
        self.unregistered.tool_schema = Some(Arc::new(schema_of));
        self
    }

    fn declare_list(mut self, list: Capability, list_changed: Capability) -> Self {
        self.builder.handled_lists.push((list, list_changed));
        self
    }
}

#[cfg(test)]
mod tests {
    use mcp_proto::schema::{PromptMessage, Role};

    use super::*;
    use crate::Page;

    fn refusal(server: &Server) -> String {
        server.builder.config().unwrap_err().to_string()
    }

    fn server() -> Server {
        with_tool(Server::new("s", "1"), "a")
    }

    fn with_tool(server: Server, name: &str) -> Server {
        let schema = serde_json::json!({"type": "object"});
        server.tool_raw(name, "A tool", schema, |_, _| Ok("done"))
    }

    #[test]
    fn scopes_after_a_handler_of_unregistered_entries_are_refused() {
        let servers = [
            server().tool_fallback(|_, _| Ok("any")),
            server().prompt_fallback(|_, _| Ok(PromptMessage::new(Role::User, "any"))),
            server().list_tools(|_, _| Ok(Page::new(Vec::new()))),
            server().list_prompts(|_, _| Ok(Page::new(Vec::new()))),
            server().list_resources(|_, _| Ok(Page::new(Vec::new()))),
        ];
        for server in servers {
            let refusal = refusal(&server.requires(["admin"]));
            assert!(refusal.contains("needs_scopes"), "{refusal}");
        }
        let server = server().tool_fallback(|_, _| Ok("any"));
        let later = with_tool(server, "b").requires(["admin"]);
        assert!(later.builder.config().is_ok());
    }

    #[test]
    fn a_second_handler_of_one_kind_is_refused() {
        let twice = server().tool_fallback(|_, _| Ok("1")).tool_fallback(|_, _| Ok("2"));
        assert!(refusal(&twice).contains("the tool fallback"), "{}", refusal(&twice));
        let list = || server().list_tools(|_, _| Ok(Page::new(Vec::new())));
        let twice = list().list_tools(|_, _| Ok(Page::new(Vec::new())));
        assert!(refusal(&twice).contains("the list of tools"), "{}", refusal(&twice));
        let one_each = list().list_prompts(|_, _| Ok(Page::new(Vec::new())));
        assert!(one_each.tool_fallback(|_, _| Ok("1")).builder.config().is_ok());
    }
}
