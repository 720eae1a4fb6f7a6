//! Types whose methods are handlers of a server.

use crate::server::Server;
use crate::server::handler::state::State;

/// A type whose methods are handlers.
///
/// The attribute `server` of the adapters (feature `macros`) implements this trait for an `impl`
/// block with marked methods. What the attribute cannot express, such as completions, is added with
/// the methods of [`Server`]. A type can have one such block.
///
/// | mark | method |
/// |---|---|
/// | `#[tool]` | `fn name(&self, arguments: A, cx: Cx)` |
/// | `#[resource("notes://all")]` | `fn name(&self, read: ReadResource, cx: Cx)` |
/// | `#[resource("notes://{id}")]` | `fn name(&self, read: ReadResource, of: Variables, cx: Cx)` |
/// | `#[prompt]` | `fn name(&self, arguments: A, cx: Cx)`, or with `get: GetPrompt` |
///
/// All parameters but `&self` may be left out. An `async` method takes
/// [`AsyncCx`](crate::AsyncCx) instead of [`Cx`](crate::Cx), and may take `self: Arc<Self>`.
/// Parameters are recognized by the names of their types. Methods return a `Result` with a
/// [`ToolError`](crate::ToolError), as all handlers do, or just the value if they cannot fail. A
/// return type is recognized as a `Result` by this name: an alias must have it, too.
///
/// The name of the method is that of the entry. Its doc comment is the description, which a tool
/// must have. All marks take the options `name = ".."`, `title = ".."`, `description = ".."`, and
/// `requires = ["scope", ..]` for the scopes that access tokens need; see [`Server::requires`].
///
/// - A tool also takes the hints `read_only`, `destructive`, `idempotent` and `open_world`, as in
///   `destructive = false`, and `blocking`, if it always runs on the thread pool; see
///   [`Server::tool_raw_blocking`].
/// - A resource also takes `mime_type = ".."`.
/// - A prompt with `get: GetPrompt` also takes its arguments: `required("city")` and
///   `optional("country", "language")`. With arguments of a type, its fields are the arguments; see
///   [`Server::prompt`].
///
/// Without the attribute:
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Cx, Handlers, Server, State, ToolError};
///
/// struct Clock;
///
/// impl Clock {
///     fn now(&self, (): (), _cx: Cx) -> Result<&'static str, ToolError> {
///         Ok("noon")
///     }
/// }
///
/// impl Handlers for Clock {
///     fn register(state: &State<Self>, server: Server) -> Server {
///         server.tool("now", "Tells the time", state.handler(Self::now))
///     }
/// }
///
/// let server = Server::new("clock", "1.0.0").handlers(&State::new(Clock));
/// # drop(server);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no handlers",
    label = "has no handlers",
    note = "mark its `impl` block with the attribute `server` of the adapter, with the feature \
            `macros`, and its methods with `#[tool]`, `#[resource(\"uri\")]` or `#[prompt]`"
)]
pub trait Handlers: Send + Sync + Sized + 'static {
    /// Adds the handlers to `server` and returns it.
    fn register(state: &State<Self>, server: Server) -> Server;
}

impl Server {
    /// Adds all handlers of a type, which share `state`.
    pub fn handlers<S: Handlers>(self, state: &State<S>) -> Self {
        S::register(state, self)
    }
}

#[cfg(feature = "schemars")]
mod described {
    use std::future::Future;

    use mcp_proto::schema::{Prompt, Tool};
    use schemars::JsonSchema;
    use serde::de::DeserializeOwned;

    use crate::server::Server;
    use crate::server::entries::{PromptEntry, ToolEntry};
    use crate::server::handler::bounds::{PromptResult, ToolArguments};
    use crate::server::handler::context::{AsyncCx, Cx};
    use crate::server::handler::tool_error::ToolError;
    use crate::server::handler::tool_result::IntoToolResult;

    impl Server {
        /// Like [`tool`](Self::tool), but `describe` can add to the derived definition, such as a
        /// title and annotations.
        ///
        /// ```
        /// # use mcp_adapter as mcp_tokio;
        /// use mcp_tokio::Server;
        /// use mcp_tokio::proto::schema::ToolAnnotations;
        ///
        /// let server = Server::new("clock", "1.0.0").tool_described(
        ///     "now",
        ///     "Tells the time",
        ///     |tool| tool.title("Now").annotations(ToolAnnotations::new().read_only(true)),
        ///     |(), _cx| Ok("noon"),
        /// );
        /// # drop(server);
        /// ```
        pub fn tool_described<A, R>(
            self,
            name: &str,
            description: &str,
            describe: impl FnOnce(Tool) -> Tool,
            handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
        ) -> Self
        where
            A: ToolArguments,
            R: IntoToolResult,
        {
            let entry = ToolEntry::new(name, description, handler).describe(describe);
            self.register(|edit| edit.add_tool(entry))
        }

        /// Like [`tool_described`](Self::tool_described), but the handler always runs on the thread
        /// pool; see [`tool_raw_blocking`](Self::tool_raw_blocking).
        pub fn tool_described_blocking<A, R>(
            self,
            name: &str,
            description: &str,
            describe: impl FnOnce(Tool) -> Tool,
            handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
        ) -> Self
        where
            A: ToolArguments,
            R: IntoToolResult,
        {
            let entry = ToolEntry::new(name, description, handler).describe(describe).blocking();
            self.register(|edit| edit.add_tool(entry))
        }

        /// Like [`prompt`](Self::prompt), but `describe` can add to the derived definition, such as
        /// a title.
        pub fn prompt_described<A, R>(
            self,
            name: &str,
            description: &str,
            describe: impl FnOnce(Prompt) -> Prompt,
            handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
        ) -> Self
        where
            A: DeserializeOwned + JsonSchema,
            R: PromptResult,
        {
            let entry = PromptEntry::new(name, description, handler).describe(describe);
            self.register(|edit| edit.add_prompt(entry))
        }

        /// Like [`prompt_described`](Self::prompt_described), for an asynchronous handler.
        pub fn prompt_described_async<A, R, F>(
            self,
            name: &str,
            description: &str,
            describe: impl FnOnce(Prompt) -> Prompt,
            handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
        ) -> Self
        where
            A: DeserializeOwned + JsonSchema,
            R: PromptResult,
            F: Future<Output = Result<R, ToolError>> + Send + 'static,
        {
            let entry = PromptEntry::new_async(name, description, handler).describe(describe);
            self.register(|edit| edit.add_prompt(entry))
        }

        /// Like [`tool_described`](Self::tool_described), for an asynchronous handler.
        pub fn tool_described_async<A, R, F>(
            self,
            name: &str,
            description: &str,
            describe: impl FnOnce(Tool) -> Tool,
            handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
        ) -> Self
        where
            A: ToolArguments,
            R: IntoToolResult,
            F: Future<Output = Result<R, ToolError>> + Send + 'static,
        {
            let entry = ToolEntry::new_async(name, description, handler).describe(describe);
            self.register(|edit| edit.add_tool(entry))
        }
    }
}
