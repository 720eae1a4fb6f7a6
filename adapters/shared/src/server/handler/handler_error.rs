//! The error type of handlers.

use std::fmt;

use mcp_proto::catalog::{prompt_not_found, resource_not_found, tool_not_found};
use mcp_proto::schema::{
    CallTool, CallToolResult, ClientRequest as _, GetPrompt, ReadResource, Subscribe,
};
use mcp_proto::{CallError, ErrorObject, NeededInput, Request, Revision, code};

use crate::error::Error;

/// The error type of tool, resource, prompt and completion handlers.
///
/// Every error type converts into `HandlerError`, so `?` works with all of them. A function that
/// returns another error type is not a handler itself; a closure around it is: `|| Ok(read()?)`.
///
/// A failed tool call returns a result with `isError` and the error's message, for the model to
/// read. Other requests have no such result; they fail with a JSON-RPC error that contains the
/// message. The [error](ErrorObject) with which another server has refused a call is passed on as
/// it is, with its code, message and data, as a gateway has to.
///
/// **Clients see the message.** Only the error's own text is sent, not that of its sources. If an
/// error may show what clients must not know, such as a path or a query, give it another text:
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::HandlerError;
///
/// fn read_notes() -> Result<String, HandlerError> {
///     std::fs::read_to_string("/srv/notes").map_err(|error| {
///         eprintln!("cannot read the notes: {error}"); // for the operator
///         HandlerError::failed("the notes are not available")
///     })
/// }
/// # drop(read_notes());
/// ```
pub struct HandlerError(pub(crate) Cause);

pub(crate) enum Cause {
    /// The handler needs input first: the input requests by their keys.
    InputRequired(Vec<(String, NeededInput)>),
    /// The handler failed: a result with `isError`.
    Failed(Box<CallToolResult>),
    /// The access token lacks scopes: the error, and the challenge if the client can get them.
    Forbidden(ErrorObject, Option<String>),
    /// Params of the request are invalid: where and why.
    Invalid(String),
    /// What the request names does not exist.
    NotFound,
    /// The request itself fails.
    Refused(ErrorObject),
}

impl HandlerError {
    /// Creates an error that the model receives as a result with `isError` and this message.
    pub fn failed(why: impl Into<String>) -> Self {
        Self(Cause::Failed(Box::new(CallToolResult::error(why.into()))))
    }

    /// Creates the error of arguments that are invalid at `location`, a [JSON Pointer] such as
    /// `/count`.
    ///
    /// A model reads it as the result of its tool call, and can correct the call. Other requests
    /// fail with `-32602`.
    ///
    /// [JSON Pointer]: https://www.rfc-editor.org/rfc/rfc6901
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::HandlerError;
    ///
    /// let error = HandlerError::invalid("/count", "it must be positive");
    /// assert_eq!(error.to_string(), "invalid arguments: /count: it must be positive");
    /// ```
    #[must_use]
    pub fn invalid(location: &str, why: impl fmt::Display) -> Self {
        Self(Cause::Invalid(format!("invalid arguments: {location}: {why}")))
    }

    /// Creates the error of a resource, tool or prompt that does not exist, although the handler
    /// serves requests for it: that of a template or a fallback.
    ///
    /// The client receives the error of the protocol for what the request names, with the code of
    /// its revision.
    #[must_use]
    pub const fn not_found() -> Self {
        Self(Cause::NotFound)
    }

    /// Creates the error of a request that its sender may not make. It fails with `-32600`.
    #[must_use]
    pub fn denied(why: impl fmt::Display) -> Self {
        Self::refused(ErrorObject::new(code::INVALID_REQUEST, why.to_string()))
    }

    /// Creates the error of a server that cannot serve the request. It fails with `-32603`.
    #[must_use]
    pub fn internal(why: impl fmt::Display) -> Self {
        Self::refused(ErrorObject::internal(why.to_string()))
    }

    /// Creates an error that makes the request fail with this JSON-RPC error, even if it is a tool
    /// call.
    #[must_use]
    pub fn refused(error: ErrorObject) -> Self {
        Self(Cause::Refused(error))
    }

    /// Returns the error that the client receives for `request`.
    pub(crate) fn resolved(self, request: &Request, revision: Revision) -> Self {
        let is_tool_call = request.method == CallTool::METHOD;
        match self.0 {
            Cause::Failed(result) if !is_tool_call => Self::refused(without_result(&result)),
            Cause::Invalid(why) if is_tool_call => Self::failed(why),
            Cause::Invalid(why) => Self::refused(ErrorObject::invalid_params(why)),
            Cause::NotFound => Self::refused(not_found(request, revision)),
            _ => self,
        }
    }
}

/// Returns the error of a request for what does not exist.
fn not_found(request: &Request, revision: Revision) -> ErrorObject {
    let params = request.params.as_ref();
    let text = |key: &str| {
        let value = params.and_then(|params| params.member(key));
        value.and_then(|value| value.to_text().map(String::from)).unwrap_or_default()
    };
    match &*request.method {
        CallTool::METHOD => tool_not_found(&text("name")),
        GetPrompt::METHOD => prompt_not_found(&text("name")),
        ReadResource::METHOD | Subscribe::METHOD => resource_not_found(&text("uri"), revision),
        _ => ErrorObject::invalid_params("what the request names does not exist"),
    }
}

/// Returns the error of a handler whose method has no results that report errors.
fn without_result(failed: &CallToolResult) -> ErrorObject {
    let why = failed.content.first().and_then(|block| block.as_text());
    ErrorObject::internal(why.unwrap_or("the handler failed"))
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::InputRequired(questions) => {
                let keys: Vec<&str> = questions.iter().map(|(key, _)| &**key).collect();
                write!(f, "asks for {keys:?}")
            }
            Cause::Failed(result) => {
                let text = result.content.first().and_then(|block| block.as_text());
                f.write_str(text.unwrap_or("the handler failed"))
            }
            Cause::Forbidden(error, _) | Cause::Refused(error) => error.fmt(f),
            Cause::Invalid(why) => f.write_str(why),
            Cause::NotFound => f.write_str("what the request names does not exist"),
        }
    }
}

/// The text of the error.
impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandlerError({self})")
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        let error = error.into();
        let call = match error.downcast_ref() {
            Some(Error::Call(call)) => Some(call),
            _ => error.downcast_ref(),
        };
        match call {
            Some(CallError::Refused(error)) => Self::refused(error.clone()),
            _ => Self::failed(error.to_string()),
        }
    }
}
