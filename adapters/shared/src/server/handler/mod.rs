//! Handlers of every kind as one type, and the job that a handler does for a request.

pub(crate) mod asking;
pub(crate) mod bounds;
pub(crate) mod context;
pub(crate) mod extensions;
mod once;
pub(crate) mod reply;
pub(crate) mod round_state;
mod sampling;
pub(crate) mod state;
pub(crate) mod tool_error;
pub(crate) mod tool_result;
#[cfg(feature = "schemars")]
pub(crate) mod typed_form;

use std::future::Future;
use std::sync::Arc;

use mcp_proto::Raw;
use mcp_proto::catalog::{Resolved, Variables};
use mcp_proto::schema::{
    CallToolResult, Complete, CompleteResult, Encode, GetPrompt, GetPromptResult, ReadResource,
    ReadResourceResult,
};
use serde::de::DeserializeOwned;

use self::context::{AsyncCx, Cx};
use self::reply::{BoxedResult, without_ignored_question};
use self::tool_error::ToolError;
use self::tool_result::IntoToolResult;
use crate::BoxFuture;
use crate::exec::pace::Pace;
use crate::validation::{ResultCheck, ToolChecks};

/// The future of an asynchronous handler.
type HandlerFuture = BoxFuture<'static, Result<BoxedResult, ToolError>>;

/// An asynchronous handler: a function that returns the future.
type AsyncFn<P, R> = dyn Fn(P, AsyncCx, Option<ResultCheck<R>>) -> HandlerFuture + Send + Sync;

/// A handler with parameters `P` and result `R`.
pub(crate) struct HandlerFn<P, R> {
    pace: Arc<Pace>,
    function: HandlerKind<P, R>,
}

/// A function or a future.
enum HandlerKind<P, R> {
    Async(Arc<AsyncFn<P, R>>),
    Sync(Arc<dyn Fn(P, Cx) -> Result<R, ToolError> + Send + Sync>),
}

impl<P, R> Clone for HandlerFn<P, R> {
    fn clone(&self) -> Self {
        let function = match &self.function {
            HandlerKind::Async(handler) => HandlerKind::Async(Arc::clone(handler)),
            HandlerKind::Sync(handler) => HandlerKind::Sync(Arc::clone(handler)),
        };
        Self { pace: Arc::clone(&self.pace), function }
    }
}

/// The handler of an entry of the catalog. Clones share their pace.
#[derive(Clone)]
pub(crate) enum Handler {
    Completion(HandlerFn<Complete, CompleteResult>),
    Prompt(HandlerFn<GetPrompt, GetPromptResult>),
    Resource(HandlerFn<(ReadResource, Variables), ReadResourceResult>),
    Tool(HandlerFn<Raw, CallToolResult>),
}

/// The work of a handler for one request.
pub(crate) enum Job {
    Async(Box<dyn FnOnce(AsyncCx) -> HandlerFuture + Send>),
    Sync(Box<dyn FnOnce(Cx) -> Result<BoxedResult, ToolError> + Send>),
}

/// How a request is served.
pub(crate) enum Resolution {
    /// The catalog answers it.
    Answer(BoxedResult),
    /// A handler serves it.
    Run(Job, Arc<Pace>),
    /// Its method is unknown.
    Unknown,
}

impl Resolution {
    pub(crate) fn new(found: Resolved<'_, Handler>, checks: &ToolChecks) -> Self {
        match found {
            Resolved::Answer(answer) => Self::Answer(Box::new(answer)),
            Resolved::Completion { handler: Handler::Completion(handler), complete } => {
                handler.run(complete, None)
            }
            Resolved::Prompt { handler: Handler::Prompt(handler), get, .. } => {
                handler.run(get, None)
            }
            Resolved::Resource { handler: Handler::Resource(handler), read, .. } => {
                handler.run((read, Variables::new()), None)
            }
            Resolved::Template { handler: Handler::Resource(handler), variables, read, .. } => {
                handler.run((read, variables), None)
            }
            Resolved::Tool { handler: Handler::Tool(handler), call, tool } => {
                let arguments =
                    call.arguments.map_or_else(Raw::empty_object, |arguments| arguments.0);
                let check = checks.result_check(tool.output_schema.as_ref());
                handler.run(arguments, check)
            }
            // Kinds of entries that this crate never registers.
            _ => Self::Unknown,
        }
    }
}

impl<P: Send + 'static, R: Encode + Send + 'static> HandlerFn<P, R> {
    pub(crate) fn function<I: Into<R>>(
        handler: impl Fn(P, Cx) -> Result<I, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::with(HandlerKind::Sync(Arc::new(move |params, cx| {
            handler(params, cx).map(Into::into)
        })))
    }

    fn with(function: HandlerKind<P, R>) -> Self {
        Self { pace: Arc::default(), function }
    }

    /// Sets what the handler serves, for warnings.
    pub(crate) fn named(self, name: &str) -> Self {
        self.pace.set_name(name);
        self
    }

    pub(crate) fn future<I: Into<R>, F>(
        handler: impl Fn(P, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<I, ToolError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        Self::with(HandlerKind::Async(Arc::new(move |params, cx, check| {
            let handler = Arc::clone(&handler);
            // Called inside the future: the code before its first wait runs where the future does.
            Box::pin(async move {
                let outcome = handler(params, cx.clone()).await.map(Into::into);
                checked(outcome, &cx, check)
            })
        })))
    }

    /// Prepares a run of the handler.
    pub(crate) fn run(&self, params: P, check: Option<ResultCheck<R>>) -> Resolution {
        let job = match &self.function {
            HandlerKind::Sync(handler) => {
                let handler = Arc::clone(handler);
                Job::Sync(Box::new(move |cx| checked(handler(params, cx.clone()), &cx, check)))
            }
            HandlerKind::Async(handler) => {
                let handler = Arc::clone(handler);
                Job::Async(Box::new(move |cx| handler(params, cx, check)))
            }
        };
        Resolution::Run(job, Arc::clone(&self.pace))
    }
}

/// Checks the outcome of a handler, before layers see it.
fn checked<R: Encode + Send + 'static>(
    outcome: Result<R, ToolError>,
    cx: &Cx,
    check: Option<ResultCheck<R>>,
) -> Result<BoxedResult, ToolError> {
    let result = without_ignored_question(outcome, &cx.rounds())?;
    Ok(Box::new(match check {
        Some(check) => check(result)?,
        None => result,
    }))
}

/// Deserializes the arguments of a tool. An empty object is also accepted as `()`, a unit struct
/// and `None`, which are `null` in JSON.
fn parse<A: DeserializeOwned>(arguments: &Raw) -> Result<A, ToolError> {
    arguments.parse().or_else(|error| {
        let mut tokens = arguments.as_bytes().iter().filter(|byte| !byte.is_ascii_whitespace());
        let is_empty = tokens.next() == Some(&b'{') && tokens.next() == Some(&b'}');
        let nothing = is_empty.then(|| serde_json::from_str("null").ok()).flatten();
        nothing.ok_or_else(|| ToolError::failed(format!("invalid arguments: {error}")))
    })
}

impl Handler {
    fn pace(&self) -> &Pace {
        match self {
            Self::Completion(handler) => &handler.pace,
            Self::Prompt(handler) => &handler.pace,
            Self::Resource(handler) => &handler.pace,
            Self::Tool(handler) => &handler.pace,
        }
    }

    /// Sets what the handler serves, for warnings.
    pub(crate) fn named(self, name: &str) -> Self {
        self.pace().set_name(name);
        self
    }

    /// Declares that the handler blocks.
    pub(crate) fn always_on_pool(self) -> Self {
        self.pace().disprove();
        self
    }

    /// Returns the handler of a tool whose arguments are a Rust type.
    pub(crate) fn tool<A: DeserializeOwned, R: IntoToolResult>(
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::tool_raw(move |arguments: Raw, cx| handler(parse(&arguments)?, cx))
    }

    /// Returns the handler of a tool whose arguments are JSON.
    pub(crate) fn tool_raw<R: IntoToolResult>(
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Tool(HandlerFn::function(move |arguments, cx| {
            handler(arguments, cx)?.into_tool_result()
        }))
    }

    /// Like [`tool`](Self::tool), for an asynchronous handler.
    pub(crate) fn tool_async<A, R, F>(
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::Tool(HandlerFn::future(move |arguments: Raw, cx| {
            let served = parse(&arguments).map(|arguments| handler(arguments, cx));
            async move { served?.await?.into_tool_result() }
        }))
    }

    /// Like [`tool_raw`](Self::tool_raw), for an asynchronous handler.
    pub(crate) fn tool_raw_async<R, F>(
        handler: impl Fn(Raw, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::Tool(HandlerFn::future(move |arguments, cx| {
            let served = handler(arguments, cx);
            async move { served.await?.into_tool_result() }
        }))
    }
}
