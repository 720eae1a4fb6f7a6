//! The handlers of entries that are not registered themselves.

use std::sync::Arc;

use mcp_proto::schema::{ListPromptsResult, ListResourcesResult, ListToolsResult};
use mcp_proto::{Caller, Capability, Raw};

use crate::server::catalog::unregistered::{Place, UnregisteredHandlers};
use crate::server::handler::function::{Handler, Prepared};
use crate::server::handler::kind::{Listing, PromptGet, RequestKind, UnknownToolCall};
use crate::server::settings::additions::AddTo;
use crate::server::settings::{ServerSettings, Setting};

/// Handlers of tools, resources and prompts that are too many or too changeable to be registered,
/// for [`Server::add`](crate::Server::add).
///
/// Requests reach them after the registered entries. The start of the server fails if a server has
/// two handlers of one kind.
#[derive(Default)]
#[must_use = "handlers have no effect until they are added"]
pub struct Unregistered {
    settings: Vec<Setting>,
}

impl Unregistered {
    /// Creates an empty set of handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lists resources that are too many or too changeable to be registered.
    ///
    /// Clients receive the registered resources first, then the pages of `handler`, which receives
    /// `None` for its first page and then the cursor of its previous page. Clients can read and
    /// forge a cursor: put no secrets into it, and check it. Keep pages well below the message size
    /// that clients accept. Resources that the caller may not [see](crate::Lists::visible_to) are
    /// removed from a page. All pages of the list are private to the user; those of `handler` are
    /// not cached.
    ///
    /// Requests to read the listed resources need a resource template that matches their URIs, such
    /// as `{+uri}`, which matches any URI. Its handler must check whether the caller may read the
    /// resource. Resources are declared, even if none is registered.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{ReadResource, Resource};
    /// use mcp_tokio::{HandlerError, Page, Server, Unregistered};
    ///
    /// const END: u64 = 1000;
    ///
    /// fn list(cursor: Option<String>) -> Result<Page<Resource>, HandlerError> {
    ///     let first = cursor.map_or(Ok(0), |cursor| cursor.parse::<u64>());
    ///     let first = first.map_err(|_| HandlerError::invalid("/cursor", "not a number"))?;
    ///     let next = first.saturating_add(10).min(END);
    ///     let numbers = (first..next).map(|number| {
    ///         Resource::new(format!("number://{number}"), number.to_string())
    ///     });
    ///     let page = Page::new(numbers.collect());
    ///     Ok(if next < END { page.next(next.to_string()) } else { page })
    /// }
    ///
    /// fn read(read: ReadResource) -> Result<String, HandlerError> {
    ///     let number = read.uri.strip_prefix("number://").and_then(|it| it.parse().ok());
    ///     let number = number.filter(|number: &u64| *number < END);
    ///     Ok(number.ok_or_else(HandlerError::not_found)?.to_string())
    /// }
    ///
    /// let server = Server::new("numbers", "1.0.0")
    ///     .add(Unregistered::new().list_resources(list))
    ///     .template("{+uri}", "any", read);
    /// # drop(server);
    /// ```
    pub fn list_resources<M>(self, handler: impl Handler<Listing<ListResourcesResult>, M>) -> Self {
        let lists = (Capability::Resources, Capability::ResourcesListChanged);
        self.serve("the list of resources", handler.prepare(), lists, |it| &mut it.resources)
    }

    /// Lists tools that are too many or too changeable to be registered.
    ///
    /// Clients receive the registered tools first, then the pages of `handler`, which receives
    /// `None` for its first page and then the cursor of its previous page. The cursor comes from
    /// the client, and the pages are private, as those of [`list_resources`](Self::list_resources).
    /// Tools that the caller may not [see](crate::Lists::visible_to) are removed from a page.
    ///
    /// To notify clients of changes with [`Cx::changes`](crate::Cx::changes), also set
    /// [`Lists::announce_changes`](crate::Lists::announce_changes), which declares the
    /// notification.
    ///
    /// Calls of the listed tools are served by [`tool_fallback`](Self::tool_fallback). Tools are
    /// declared, even if none is registered.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{CallTool, Tool};
    /// use mcp_tokio::{HandlerError, Page, Server, Unregistered};
    /// use serde_json::json;
    ///
    /// // The plugins of an editor, which come and go.
    /// let plugins = || ["format", "lint"];
    ///
    /// let plugins = Unregistered::new()
    ///     .list_tools(move || {
    ///         let tool = |name| Tool::new(name, json!({"type": "object"}));
    ///         Page::new(plugins().into_iter().map(tool).collect())
    ///     })
    ///     .tool_fallback(move |call: CallTool| {
    ///         if !plugins().contains(&&*call.name) {
    ///             return Err(HandlerError::not_found());
    ///         }
    ///         Ok(format!("{} has run", call.name))
    ///     });
    /// let server = Server::new("editor", "1.0.0").add(plugins);
    /// # drop(server);
    /// ```
    pub fn list_tools<M>(self, handler: impl Handler<Listing<ListToolsResult>, M>) -> Self {
        let lists = (Capability::Tools, Capability::ToolsListChanged);
        self.serve("the list of tools", handler.prepare(), lists, |it| &mut it.tools)
    }

    /// Sets the handler for calls of all tools that are not registered, such as those that
    /// [`list_tools`](Self::list_tools) lists.
    ///
    /// The handler receives the name and the arguments of the call, and must check both, and
    /// whether the caller may call the tool: a call of a registered tool that
    /// [`Lists::visible_to`](crate::Lists::visible_to) hides from the caller also reaches it, but
    /// not one for which only [scopes](crate::Tool::requires) are missing. For a tool that does not
    /// exist, return [`HandlerError::not_found`](crate::HandlerError::not_found). The arguments are
    /// always present, as a JSON object. Neither
    /// [`Server::check_arguments`](crate::Server::check_arguments) nor `checked` applies to them or
    /// to the result. If tools annotate arguments with `x-mcp-header`, set
    /// [`tool_fallback_schema`](Self::tool_fallback_schema). Tools are declared, even if none is
    /// registered.
    pub fn tool_fallback<M>(self, handler: impl Handler<UnknownToolCall, M>) -> Self {
        let lists = (Capability::Tools, Capability::ToolsListChanged);
        self.serve("the tool fallback", handler.prepare(), lists, |it| &mut it.tool_fallback)
    }

    /// Lists prompts that are too many or too changeable to be registered.
    ///
    /// Works like [`list_tools`](Self::list_tools). The listed prompts are rendered by
    /// [`prompt_fallback`](Self::prompt_fallback). Prompts are declared, even if none is
    /// registered.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::proto::schema::{GetPrompt, Prompt};
    /// use mcp_tokio::{HandlerError, Page, Server, Unregistered};
    ///
    /// // The snippets that users have saved.
    /// let snippets = || ["greeting", "farewell"];
    ///
    /// let handlers = Unregistered::new()
    ///     .list_prompts(move || Page::new(snippets().into_iter().map(Prompt::new).collect()))
    ///     .prompt_fallback(move |get: GetPrompt| {
    ///         if !snippets().contains(&&*get.name) {
    ///             return Err(HandlerError::not_found());
    ///         }
    ///         Ok(format!("Write a {}", get.name))
    ///     });
    /// let server = Server::new("snippets", "1.0.0").add(handlers);
    /// # drop(server);
    /// ```
    pub fn list_prompts<M>(self, handler: impl Handler<Listing<ListPromptsResult>, M>) -> Self {
        let lists = (Capability::Prompts, Capability::PromptsListChanged);
        self.serve("the list of prompts", handler.prepare(), lists, |it| &mut it.prompts)
    }

    /// Sets the handler that renders all prompts that are not registered, such as those that
    /// [`list_prompts`](Self::list_prompts) lists.
    ///
    /// The handler receives the name and the arguments, and must check both, and whether the caller
    /// may get the prompt: a request for a registered prompt that
    /// [`Lists::visible_to`](crate::Lists::visible_to) hides from the caller also reaches it, but
    /// not one for which only [scopes](crate::Tool::requires) are missing. Arguments that are not
    /// text are left out. For a prompt that does not exist, return
    /// [`HandlerError::not_found`](crate::HandlerError::not_found). Prompts are declared, even if
    /// none is registered.
    pub fn prompt_fallback<M>(self, handler: impl Handler<PromptGet, M>) -> Self {
        let lists = (Capability::Prompts, Capability::PromptsListChanged);
        self.serve("the prompt fallback", handler.prepare(), lists, |it| &mut it.prompt_fallback)
    }

    /// Sets a function that returns the input schemas of tools that are not registered, for
    /// [`tool_fallback`](Self::tool_fallback).
    ///
    /// Over HTTP in revision 2026-07-28, clients repeat the arguments that a schema annotates with
    /// `x-mcp-header` in `Mcp-Param-*` headers, which proxies may use for their decisions. With the
    /// schema, a call whose headers and arguments differ is refused with status 400, like that of a
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
    /// use mcp_tokio::proto::Raw;
    /// use mcp_tokio::proto::schema::CallTool;
    /// use mcp_tokio::{Server, Unregistered};
    ///
    /// let schema = r#"{"type":"object","properties":{
    ///     "region":{"type":"string","x-mcp-header":"Region"}}}"#;
    /// let schema = Raw::from_text(schema).unwrap();
    /// let handlers = Unregistered::new()
    ///     .tool_fallback(|call: CallTool| format!("{} has run", call.name))
    ///     .tool_fallback_schema(move |tool, _| (tool == "start").then(|| schema.clone()));
    /// let server = Server::new("deploy", "1.0.0").add(handlers);
    /// # drop(server);
    /// ```
    // HTTP-50: headers are recognized by the schema of their tool.
    pub fn tool_fallback_schema(
        self,
        schema_of: impl Fn(&str, &Caller) -> Option<Raw> + Send + Sync + 'static,
    ) -> Self {
        self.set(|server| server.unregistered.tool_schema = Some(Arc::new(schema_of)))
    }

    /// Sets the handler of what is not registered, in its place, and declares the list of `what`
    /// without and with notifications.
    fn serve<K: RequestKind>(
        self,
        what: &'static str,
        Prepared { handler, needs }: Prepared<K>,
        lists: (Capability, Capability),
        place: fn(&mut UnregisteredHandlers) -> &mut Place<K::Params, K::Result>,
    ) -> Self {
        self.set(move |server| {
            let place = place(server.unregistered.edit());
            let earlier = place.replace(Arc::new(handler.named(what)));
            server.builder.register_unregistered(what, earlier.is_some(), needs);
            server.builder.handled_lists.push(lists);
        })
    }

    fn set(mut self, setting: impl FnOnce(&mut ServerSettings) + Send + 'static) -> Self {
        self.settings.push(Box::new(setting));
        self
    }
}

impl AddTo for Unregistered {
    fn add_to(self, server: &mut ServerSettings) {
        self.settings.into_iter().for_each(|setting| setting(server));
    }
}

opaque_debug!(Unregistered);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Page, Server};

    fn refusal(server: &Server) -> String {
        server.settings.builder.config().unwrap_err().to_string()
    }

    fn server() -> Server {
        Server::new("s", "1")
    }

    #[test]
    fn a_second_handler_of_one_kind_is_refused() {
        let twice = server()
            .add(Unregistered::new().tool_fallback(|| "1"))
            .add(Unregistered::new().tool_fallback(|| "2"));
        assert!(refusal(&twice).contains("the tool fallback"), "{}", refusal(&twice));
        let list = || Unregistered::new().list_tools(|| Page::new(Vec::new()));
        let twice = server().add(list().list_tools(|| Page::new(Vec::new())));
        assert!(refusal(&twice).contains("the list of tools"), "{}", refusal(&twice));
        let one_each = list().list_prompts(|| Page::new(Vec::new())).tool_fallback(|| "1");
        assert!(server().add(one_each).settings.builder.config().is_ok());
    }

    #[test]
    fn a_state_that_is_missing_is_named_at_the_start() {
        let count = |count: crate::State<u8>| *count;
        let without = server().tool("count", "Counts", count);
        let refused = refusal(&without);
        assert!(refused.contains("`count`") && refused.contains("`u8`"), "{refused}");
        assert!(without.state(1_u8).settings.builder.config().is_ok());
        let fallback = server().add(Unregistered::new().tool_fallback(count));
        assert!(refusal(&fallback).contains("the tool fallback"), "{}", refusal(&fallback));
        assert!(fallback.state(Arc::new(1_u8)).settings.builder.config().is_ok());
    }
}
