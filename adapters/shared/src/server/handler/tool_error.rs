//! The error type of handlers.

use std::fmt;

use mcp_proto::schema::CallToolResult;
use mcp_proto::{ErrorObject, NeededInput};

/// The error of a handler, whether of a tool, a resource, a prompt or a completion.
///
/// Every error type converts into it, so `?` works with all of them. The error of a tool becomes a
/// result with `isError` and the error's message, for the model to read. Other requests have no
/// such result; they fail with the message.
pub struct ToolError(pub(crate) HandlerError);

pub(crate) enum HandlerError {
    /// The handler needs input first: the questions by their keys.
    InputRequired(Vec<(String, NeededInput)>),
    /// The handler failed: a result with `isError`.
    Failed(Box<CallToolResult>),
    /// The request itself fails.
    Refused(ErrorObject),
}

impl ToolError {
    /// Creates an error that reports the tool's failure to the model, as a result with `isError`
    /// and this message.
    pub fn failed(why: impl Into<String>) -> Self {
        Self(HandlerError::Failed(Box::new(CallToolResult::error(why.into()))))
    }

    /// Returns an error that fails the request itself with a JSON-RPC error.
    #[must_use]
    pub fn refused(error: ErrorObject) -> Self {
        Self(HandlerError::Refused(error))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            HandlerError::InputRequired(questions) => {
                let keys: Vec<&str> = questions.iter().map(|(key, _)| &**key).collect();
                write!(f, "ask for {keys:?}")
            }
            HandlerError::Failed(result) => write!(f, "failed: {result:?}"),
            HandlerError::Refused(error) => write!(f, "refused: {error}"),
        }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::failed(error.into().to_string())
    }
}
