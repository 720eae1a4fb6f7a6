//! Handlers of every kind under one type, and the job that one of them is for a request; knows nothing of threads.

use std::sync::Arc;

use mcp_proto::Raw;
use mcp_proto::catalog::{Answer, Found, Variables};
use mcp_proto::schema::{
    CallToolResult, Complete, CompleteResult, Encode, GetPrompt, GetPromptResult, ReadResource,
    ReadResourceResult,
};
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::outcome::Done;
use crate::tool_error::ToolError;

/// A function of what was asked for.
type Serves<P, R> = Arc<dyn Fn(P, Cx) -> Result<R, ToolError> + Send + Sync>;

/// What serves one thing of the catalogue.
pub(crate) enum Handler {
    Completion(Serves<Complete, CompleteResult>),
    Prompt(Serves<GetPrompt, GetPromptResult>),
    Resource(Serves<(ReadResource, Variables), ReadResourceResult>),
    Tool(Serves<Raw, CallToolResult>),
}

/// What is left to do once it is known who is to do it.
pub(crate) type Job = Box<dyn FnOnce(Cx) -> Result<Done, ToolError> + Send>;

/// What a request comes to.
pub(crate) enum Step {
    /// The catalogue's own answer.
    Answer(Answer),
    /// A handler's.
    Run(Job),
    /// Nobody's: no such method.
    Unknown,
}

impl Step {
    pub(crate) fn new(found: Found<'_, Handler>) -> Self {
        match found {
            Found::Answer(answer) => Self::Answer(answer),
            Found::Completion { handler: Handler::Completion(serves), complete } => job(serves, complete),
            Found::Prompt { handler: Handler::Prompt(serves), get, .. } => job(serves, get),
            Found::Resource { handler: Handler::Resource(serves), read, .. } => {
                job(serves, (read, Variables::new()))
            }
            Found::Template { handler: Handler::Resource(serves), variables, read, .. } => {
                job(serves, (read, variables))
            }
            Found::Tool { handler: Handler::Tool(serves), call, .. } => {
                job(serves, call.arguments.map_or_else(Raw::empty_object, |arguments| arguments.0))
            }
            // A method of another catalogue than ours.
            _ => Self::Unknown,
        }
    }
}

fn job<P: Send + 'static, R: Encode + Send + 'static>(serves: &Serves<P, R>, asked: P) -> Step {
    let serves = Arc::clone(serves);
    Step::Run(Box::new(move |cx| serves(asked, cx).map(|result| Box::new(result) as Done)))
}

impl Handler {
    /// A tool that takes its arguments as they come.
    pub(crate) fn tool<R: Into<CallToolResult>>(
        handler: impl Fn(Raw, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Tool(Arc::new(move |arguments, cx| handler(arguments, cx).map(Into::into)))
    }

    /// A tool whose arguments are a Rust type.
    pub(crate) fn typed_tool<A: DeserializeOwned, R: Into<CallToolResult>>(
        handler: impl Fn(A, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::tool(move |arguments, cx| {
            let arguments = arguments.parse();
            let arguments =
                arguments.map_err(|error| ToolError::failed(format!("invalid arguments: {error}")))?;
            handler(arguments, cx)
        })
    }

    /// What reads one resource.
    pub(crate) fn resource<R: Into<ReadResourceResult>>(
        handler: impl Fn(ReadResource, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Resource(Arc::new(move |(read, _), cx| handler(read, cx).map(Into::into)))
    }

    /// What reads the resources of a template.
    pub(crate) fn template<R: Into<ReadResourceResult>>(
        handler: impl Fn(ReadResource, Variables, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Resource(Arc::new(move |(read, variables), cx| handler(read, variables, cx).map(Into::into)))
    }

    /// What fills in a prompt.
    pub(crate) fn prompt<R: Into<GetPromptResult>>(
        handler: impl Fn(GetPrompt, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Prompt(Arc::new(move |get, cx| handler(get, cx).map(Into::into)))
    }

    /// What completes an argument.
    pub(crate) fn completion<R: Into<CompleteResult>>(
        handler: impl Fn(Complete, Cx) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self::Completion(Arc::new(move |complete, cx| handler(complete, cx).map(Into::into)))
    }
}
