//! Handlers of every kind as one type, and the job that a handler does for a request.

pub(crate) mod context;
pub(crate) mod reply;
pub(crate) mod round_state;
pub(crate) mod tool_error;
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
use self::reply::BoxedResult;
use self::tool_error::ToolError;
use crate::BoxFuture;
use crate::validation::{ResultCheck, ToolChecks};

/// The future of an asynchronous handler.
type HandlerFuture = BoxFuture<'static, Result<BoxedResult, ToolError>>;

/// An asynchronous handler: a function that returns the future.
type AsyncFn<P, R> = dyn Fn(P, AsyncCx, Option<ResultCheck<R>>) -> HandlerFuture + Send + Sync;

/// A handler with parameters `P` and result `R`: a blocking function or a future.
pub(crate) enum HandlerFn<P, R> {
    Async(Arc<AsyncFn<P, R>>),
    Blocking(Arc<dyn Fn(P, Cx) -> Result<R, ToolError> + Send + Sync>),
}

/// The handler of an entry of the catalog.
pub(crate) enum Handler {
    Completion(HandlerFn<Complete, CompleteResult>),
    Prompt(HandlerFn<GetPrompt, GetPromptResult>),
    Resource(HandlerFn<(ReadResource, Variables), ReadResourceResult>),
    Tool(HandlerFn<Raw, CallToolResult>),
}

/// The work of a handler for one request.
pub(crate) enum Job {
    Async(Box<dyn FnOnce(AsyncCx) -> HandlerFuture + Send>),
    Blocking(Box<dyn FnOnce(Cx) -> Result<BoxedResult, ToolError> + Send>),
}

/// How a request is served.
pub(crate) enum Resolution {
    /// The catalog answers it.
    Answer(BoxedResult),
    /// A handler serves it.
    Run(Job),
    /// Its method is unknown.
    Unknown,
}

impl Resolution {
    pub(crate) fn new(found: Resolved<'_, Handler>, checks: &ToolChecks) -> Self {
        match found {
            Resolved::Answer(answer) => Self::Answer(Box::new(answer)),
            Resolved::Completion { handler: Handler::Completion(handler), complete } => {
                Self::Run(handler.job(complete, None))
            }
            Resolved::Prompt { handler: Handler::Prompt(handler), get, .. } => {
                Self::Run(handler.job(get, None))
            }
            Resolved::Resource { handler: Handler::Resource(handler), read, .. } => {
                Self::Run(handler.job((read, Variables::new()), None))
            }
            Resolved::Template { handler: Handler::Resource(handler), variables, read, .. } => {
                Self::Run(handler.job((read, variables), None))
            }
            Resolved::Tool { handler: Handler::Tool(handler), call, tool } => {
                let arguments =
                    call.arguments.map_or_else(Raw::empty_object, |arguments| arguments.0);
                let check = checks.result_check(tool.output_schema.as_ref());
                Self::Run(handler.job(arguments, check))
            }
            // Kinds of entries that this crate never registers.
            _ => Self::Unknown,
        }
    }
}

impl<P: Send + 'static, R: Encode + Send + 'static> HandlerFn<P, R> {
    pub(crate) fn blocking<I: Into<R>>(
        handler: impl Fn(P, Cx) -> Result<I, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Blocking(Arc::new(move |params, cx| handler(params, cx).map(Into::into)))
    }

    pub(crate) fn future<I: Into<R>, F>(
        handler: impl Fn(P, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<I, ToolError>> + Send + 'static,
    {
        let handler = Arc::new(handler);
        Self::Async(Arc::new(move |params, cx, check| {
            let handler = Arc::clone(&handler);
            // Called inside the future: the code before its first wait runs where the future does.
            Box::pin(async move {
                let result = handler(params, cx).await?;
                checked(result.into(), check)
            })
        }))
    }

    fn job(&self, params: P, check: Option<ResultCheck<R>>) -> Job {
        match self {
            Self::Blocking(handler) => {
                let handler = Arc::clone(handler);
                Job::Blocking(Box::new(move |cx| checked(handler(params, cx)?, check)))
            }
            Self::Async(handler) => {
                let handler = Arc::clone(handler);
                Job::Async(Box::new(move |cx| handler(params, cx, check)))
            }
        }
    }
}

fn checked<R: Encode + Send + 'static>(
    result: R,
    check: Option<ResultCheck<R>>,
) -> Result<BoxedResult, ToolError> {
    Ok(Box::new(match check {
        Some(check) => check(result)?,
        None => result,
    }))
}

/// Deserializes the arguments of a tool.
fn parse<A: DeserializeOwned>(arguments: &Raw) -> Result<A, ToolError> {
    arguments.parse().map_err(|error| ToolError::failed(format!("invalid arguments: {error}")))
}

impl Handler {
    /// Returns the handler of a tool whose arguments are a Rust type.
    pub(crate) fn tool<A: DeserializeOwned, R: Into<CallToolResult>>(
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Tool(HandlerFn::blocking(move |arguments: Raw, cx| handler(parse(&arguments)?, cx)))
    }

    /// Like [`tool`](Self::tool), for an asynchronous handler.
    pub(crate) fn tool_async<A, R, F>(
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Into<CallToolResult>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::Tool(HandlerFn::future(move |arguments: Raw, cx| {
            let served = parse(&arguments).map(|arguments| handler(arguments, cx));
            async move { served?.await }
        }))
    }
}
