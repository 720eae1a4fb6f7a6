//! Handlers of every kind under one type, and the job that one of them is for a request; knows
//! nothing of what runs it.

pub(crate) mod context;
pub(crate) mod reply;
pub(crate) mod round_state;
pub(crate) mod tool_error;

use std::future::Future;
use std::sync::Arc;

use mcp_proto::Raw;
use mcp_proto::catalog::{Found, Variables};
use mcp_proto::schema::{
    CallToolResult, Complete, CompleteResult, Encode, GetPrompt, GetPromptResult, ReadResource,
    ReadResourceResult,
};
use serde::de::DeserializeOwned;

use crate::BoxFuture;
use crate::server::handler::context::{AsyncCx, Cx};
use crate::server::handler::reply::Done;
use crate::server::handler::tool_error::ToolError;
use crate::validation::{Checks, Then};

/// The future of a handler.
type Served = BoxFuture<'static, Result<Done, ToolError>>;

/// A function of what was asked for, or one that gives a future.
pub(crate) enum Serves<P, R> {
    Future(Arc<dyn Fn(P, AsyncCx, Then<R>) -> Served + Send + Sync>),
    Plain(Arc<dyn Fn(P, Cx) -> Result<R, ToolError> + Send + Sync>),
}

/// What serves one thing of the catalogue.
pub(crate) enum Handler {
    Completion(Serves<Complete, CompleteResult>),
    Prompt(Serves<GetPrompt, GetPromptResult>),
    Resource(Serves<(ReadResource, Variables), ReadResourceResult>),
    Tool(Serves<Raw, CallToolResult>),
}

/// What is left to do once it is known who is to do it.
pub(crate) enum Job {
    Future(Box<dyn FnOnce(AsyncCx) -> Served + Send>),
    Plain(Box<dyn FnOnce(Cx) -> Result<Done, ToolError> + Send>),
}

/// What a request comes to.
pub(crate) enum Step {
    /// The catalogue's own answer.
    Answer(Done),
    /// A handler's.
    Run(Job),
    /// Nobody's: no such method.
    Unknown,
}

impl Step {
    pub(crate) fn new(found: Found<'_, Handler>, checks: &Checks) -> Self {
        match found {
            Found::Answer(answer) => Self::Answer(Box::new(answer)),
            Found::Completion { handler: Handler::Completion(serves), complete } => {
                job(serves, complete)
            }
            Found::Prompt { handler: Handler::Prompt(serves), get, .. } => job(serves, get),
            Found::Resource { handler: Handler::Resource(serves), read, .. } => {
                job(serves, (read, Variables::new()))
            }
            Found::Template { handler: Handler::Resource(serves), variables, read, .. } => {
                job(serves, (read, variables))
            }
            Found::Tool { handler: Handler::Tool(serves), call, tool } => {
                let arguments =
                    call.arguments.map_or_else(Raw::empty_object, |arguments| arguments.0);
                job_then(serves, arguments, checks.of(tool.output_schema.as_ref()))
            }
            // A method of another catalogue than ours.
            _ => Self::Unknown,
        }
    }
}

fn job<P: Send + 'static, R: Encode + Send + 'static>(serves: &Serves<P, R>, asked: P) -> Step {
    job_then(serves, asked, None)
}

fn job_then<P: Send + 'static, R: Encode + Send + 'static>(
    serves: &Serves<P, R>,
    asked: P,
    then: Then<R>,
) -> Step {
    Step::Run(match serves {
        Serves::Plain(serves) => {
            let serves = Arc::clone(serves);
            Job::Plain(Box::new(move |cx| done(serves(asked, cx)?, then)))
        }
        Serves::Future(serves) => {
            let serves = Arc::clone(serves);
            Job::Future(Box::new(move |cx| serves(asked, cx, then)))
        }
    })
}

fn done<R: Encode + Send + 'static>(result: R, then: Then<R>) -> Result<Done, ToolError> {
    Ok(Box::new(match then {
        Some(then) => then(result)?,
        None => result,
    }))
}

impl<P: Send + 'static, R: Encode + Send + 'static> Serves<P, R> {
    pub(crate) fn plain<I: Into<R>>(
        serves: impl Fn(P, Cx) -> Result<I, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Plain(Arc::new(move |asked, cx| serves(asked, cx).map(Into::into)))
    }

    pub(crate) fn future<I: Into<R>, F>(
        serves: impl Fn(P, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<I, ToolError>> + Send + 'static,
    {
        let serves = Arc::new(serves);
        Self::Future(Arc::new(move |asked, cx, then| {
            let serves = Arc::clone(&serves);
            // Whatever the handler does before its first wait is done by whoever runs the future.
            Box::pin(async move {
                let result = serves(asked, cx).await?;
                done(result.into(), then)
            })
        }))
    }
}

/// What a tool's arguments are as a Rust type.
fn typed<A: DeserializeOwned>(arguments: &Raw) -> Result<A, ToolError> {
    arguments.parse().map_err(|error| ToolError::failed(format!("invalid arguments: {error}")))
}

impl Handler {
    /// A tool whose arguments are a Rust type.
    pub(crate) fn tool<A: DeserializeOwned, R: Into<CallToolResult>>(
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Tool(Serves::plain(move |arguments: Raw, cx| handler(typed(&arguments)?, cx)))
    }

    /// The same, whose handler gives a future.
    pub(crate) fn tool_async<A, R, F>(
        handler: impl Fn(A, AsyncCx) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Into<CallToolResult>,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::Tool(Serves::future(move |arguments: Raw, cx| {
            let served = typed(&arguments).map(|arguments| handler(arguments, cx));
            async move { served?.await }
        }))
    }
}
