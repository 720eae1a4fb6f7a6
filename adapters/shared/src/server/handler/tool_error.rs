//! The error type of handlers.

use std::fmt;

use mcp_proto::schema::CallToolResult;
use mcp_proto::{ErrorObject, NeededInput};

/// The error type of tool, resource, prompt and completion handlers.
///
/// Every error type converts into `ToolError`, so `?` works with all of them. A failed tool call
/// returns a result with `isError` and the error's message, for the model to read. Other requests
/// have no such result; they fail with a JSON-RPC error that contains the message.
///
/// **Clients see the message.** Only the error's own text is sent, not that of its sources. If an
/// error may show what clients must not know, such as a path or a query, give it another text:
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::ToolError;
///
/// fn read_notes() -> Result<String, ToolError> {
///     std::fs::read_to_string("/srv/notes").map_err(|error| {
///         eprintln!("cannot read the notes: {error}"); // for the operator
///         ToolError::failed("the notes are not available")
///     })
/// }
/// # drop(read_notes());
/// ```
pub struct ToolError(pub(crate) HandlerError);

pub(crate) enum HandlerError {
    /// The handler needs input first: the input requests by their keys.
    InputRequired(Vec<(String, NeededInput)>),
    /// The handler failed: a result with `isError`.
    Failed(Box<CallToolResult>),
    /// The access token lacks scopes: the error, and the challenge if the client can get them.
    Forbidden(
        ErrorObject,
        #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has challenges"))]
        Option<String>,
    ),
    /// The request itself fails.
    Refused(ErrorObject),
}

impl ToolError {
    /// Creates an error that the model receives as a result with `isError` and this message.
    pub fn failed(why: impl Into<String>) -> Self {
        Self(HandlerError::Failed(Box::new(CallToolResult::error(why.into()))))
    }

    /// Creates an error that makes the request fail with this JSON-RPC error, even if it is a tool
    /// call.
    #[must_use]
    pub fn refused(error: ErrorObject) -> Self {
        Self(HandlerError::Refused(error))
    }
}

/// Returns the error of a handler whose method has no results that report errors.
pub(crate) fn without_result(failed: &CallToolResult) -> ErrorObject {
    let why = failed.content.first().and_then(|block| block.as_text());
    ErrorObject::internal(why.unwrap_or("the handler failed"))
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            HandlerError::InputRequired(questions) => {
                let keys: Vec<&str> = questions.iter().map(|(key, _)| &**key).collect();
                write!(f, "ask for {keys:?}")
            }
            HandlerError::Failed(result) => write!(f, "failed: {result:?}"),
            HandlerError::Forbidden(error, _) => write!(f, "forbidden: {error}"),
            HandlerError::Refused(error) => write!(f, "refused: {error}"),
        }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::failed(error.into().to_string())
    }
}
