//! State that the handlers of a server share, so that handlers can be methods.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use mcp_proto::catalog::Variables;
use mcp_proto::schema::ReadResource;

use crate::server::handler::context::{AsyncCx, Cx};
use crate::server::handler::tool_error::ToolError;

/// State that the handlers of a server share, such as a database.
///
/// Turns methods of `S` into handlers, for all registrations of a [`Server`](crate::Server) and of
/// [`Changes`](crate::Changes). Cheap to clone; clones share the state. Dereferences to `S`.
///
/// Handlers run concurrently: protect what they change with a lock.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::sync::{Arc, Mutex};
///
/// use mcp_tokio::{AsyncCx, Cx, Server, State, ToolError};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Default)]
/// struct Notes(Mutex<Vec<String>>);
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     text: String,
/// }
///
/// impl Notes {
///     fn add(&self, add: Add, _cx: Cx) -> Result<(), ToolError> {
///         self.0.lock().unwrap().push(add.text);
///         Ok(())
///     }
///
///     async fn list(self: Arc<Self>, (): (), _cx: AsyncCx) -> Result<String, ToolError> {
///         Ok(self.0.lock().unwrap().join("\n"))
///     }
/// }
///
/// let notes = State::new(Notes::default());
/// let server = Server::new("notes", "1.0.0")
///     .tool("add", "Adds a note", notes.handler(Notes::add))
///     .tool_async("list", "Lists all notes", notes.handler_async(Notes::list))
///     .tool("count", "Counts the notes", notes.handler(|notes, (), _cx| {
///         Ok(notes.0.lock().unwrap().len())
///     }));
/// # drop(server);
/// ```
pub struct State<S>(Arc<S>);

impl<S: Send + Sync + 'static> State<S> {
    /// Creates state for handlers.
    pub fn new(state: S) -> Self {
        Self(Arc::new(state))
    }

    /// Turns a method that may block into a handler with parameters `P`.
    ///
    /// The method is declared as `fn method(&self, params: P, cx: Cx) -> Result<R, ToolError>`.
    pub fn handler<P, R, M>(
        &self,
        method: M,
    ) -> impl Fn(P, Cx) -> Result<R, ToolError> + Send + Sync + use<S, P, R, M>
    where
        M: Fn(&S, P, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        let state = Arc::clone(&self.0);
        move |params, cx| method(&state, params, cx)
    }

    /// Turns an asynchronous method into a handler with parameters `P`.
    ///
    /// The method is declared as `async fn method(self: Arc<Self>, params: P, cx: AsyncCx)`; it
    /// receives an `Arc` because its future outlives the call.
    pub fn handler_async<P, F, M>(
        &self,
        method: M,
    ) -> impl Fn(P, AsyncCx) -> F + Send + Sync + use<S, P, F, M>
    where
        F: Future,
        M: Fn(Arc<S>, P, AsyncCx) -> F + Send + Sync + 'static,
    {
        let state = Arc::clone(&self.0);
        move |params, cx| method(Arc::clone(&state), params, cx)
    }

    /// Like [`handler`](Self::handler), for
    /// [`Server::resource_template`](crate::Server::resource_template).
    pub fn template_handler<R, M>(
        &self,
        method: M,
    ) -> impl Fn(ReadResource, Variables, Cx) -> Result<R, ToolError> + Send + Sync + use<S, R, M>
    where
        M: Fn(&S, ReadResource, Variables, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    {
        let state = Arc::clone(&self.0);
        move |read, variables, cx| method(&state, read, variables, cx)
    }

    /// Like [`handler_async`](Self::handler_async), for
    /// [`Server::resource_template_async`](crate::Server::resource_template_async).
    pub fn template_handler_async<F, M>(
        &self,
        method: M,
    ) -> impl Fn(ReadResource, Variables, AsyncCx) -> F + Send + Sync + use<S, F, M>
    where
        F: Future,
        M: Fn(Arc<S>, ReadResource, Variables, AsyncCx) -> F + Send + Sync + 'static,
    {
        let state = Arc::clone(&self.0);
        move |read, variables, cx| method(Arc::clone(&state), read, variables, cx)
    }
}

impl<S> Clone for State<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Deref for State<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

// State may contain secrets.
impl<S> fmt::Debug for State<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}
