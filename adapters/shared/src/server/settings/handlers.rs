//! Types whose methods are handlers of a server.

use std::sync::Arc;

use crate::server::Server;
use crate::server::catalog::catalog_edit::{CatalogEdit, EditError};

/// A type whose methods are handlers.
///
/// The attribute `server` of the adapters (feature `schemars`) implements this trait for an `impl`
/// block with marked methods. An entry that the attribute cannot express, such as one that only
/// some callers see, is added to the server beside it. A type can have one such block.
///
/// | mark | entry |
/// |---|---|
/// | `#[tool]` | a [`Tool`](crate::Tool) |
/// | `#[resource("notes://all")]` | a [`Resource`](crate::Resource) |
/// | `#[resource("notes://{id}")]` | a [`Template`](crate::Template) |
/// | `#[prompt]` | a [`Prompt`](crate::Prompt) |
/// | `#[completion(note, "id")]` | the completion of the argument or variable `id` of `note` |
///
/// A method takes `&self`, or `self: Arc<Self>` if it is `async`, and returns what any
/// [handler](crate::Handler) takes and returns.
///
/// The name of the method is that of the entry. Its doc comment is the description, which a tool
/// must have. All marks of entries take the options `name = ".."`, `title = ".."`,
/// `description = ".."`, and `requires = ["scope", ..]` for the scopes that access tokens need; see
/// [`Tool::requires`](crate::Tool::requires).
///
/// - A tool also takes the hints `read_only`, `destructive`, `idempotent` and `open_world`, as in
///   `destructive = false`, and `blocking`, if it always runs on the thread pool; see
///   [`Tool::always_on_pool`](crate::Tool::always_on_pool).
/// - A resource also takes `mime_type = ".."`.
/// - A prompt with `get: GetPrompt` also takes its arguments: `required("city")` and
///   `optional("country", "language")`. With arguments of a type, its fields are the arguments; see
///   [`Prompt`](crate::Prompt).
/// - A completion names the method of a prompt or a template, and its argument or variable.
///
/// Without the attribute:
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{CatalogEdit, EditError, Handlers, Server, Tool};
///
/// struct Clock;
///
/// impl Clock {
///     fn now(&self) -> &'static str {
///         "noon"
///     }
/// }
///
/// impl Handlers for Clock {
///     fn register(edit: &mut CatalogEdit<'_>) -> Result<(), EditError> {
///         edit.add(Tool::new("now", Self::now).description("Tells the time"))
///     }
/// }
///
/// let server = Server::new("clock", "1.0.0").handlers(Clock);
/// # drop(server);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no handlers",
    label = "has no handlers",
    note = "mark its `impl` block with the attribute `server` of the adapter, and its methods with \
            `#[tool]`, `#[resource(\"uri\")]` or `#[prompt]`"
)]
pub trait Handlers: Send + Sync + Sized + 'static {
    /// Adds the handlers, which take the state that the server has.
    ///
    /// # Errors
    /// Fails if an entry is invalid or exists already.
    fn register(edit: &mut CatalogEdit<'_>) -> Result<(), EditError>;
}

impl<S: Handlers> Handlers for Arc<S> {
    fn register(edit: &mut CatalogEdit<'_>) -> Result<(), EditError> {
        S::register(edit)
    }
}

impl<R> Server<R> {
    /// Adds all handlers of a type, and sets their [`state`](Self::state).
    pub fn handlers<S: Handlers>(self, state: S) -> Self {
        let mut server = self.state(state);
        server.settings.builder.register(S::register);
        server
    }
}
