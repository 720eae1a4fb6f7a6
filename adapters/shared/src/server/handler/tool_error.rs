//! How a handler ends without a result; knows nothing of how that is told.

use std::fmt;

use mcp_proto::schema::CallToolResult;
use mcp_proto::{ErrorObject, Question};

/// How a handler ends without a result: that of a tool, of a resource, of a prompt or of a
/// completion.
///
/// Any error becomes one that says so, for the model to read; so `?` works on all of them. A tool's
/// is a result that says it is an error; what is no tool has no such result, and the request fails
/// with the same words.
pub struct ToolError(pub(crate) Failure);

pub(crate) enum Failure {
    /// It needs answers first, to questions by their keys.
    Ask(Vec<(String, Question)>),
    /// It ran and failed: a result with `isError`.
    Failed(Box<CallToolResult>),
    /// The request itself fails.
    Refused(ErrorObject),
}

impl ToolError {
    /// The tool ran and failed, and says why.
    pub fn failed(why: impl Into<String>) -> Self {
        Self(Failure::Failed(Box::new(CallToolResult::error(why.into()))))
    }

    /// The request itself fails with an error of the protocol.
    #[must_use]
    pub fn refused(error: ErrorObject) -> Self {
        Self(Failure::Refused(error))
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Ask(questions) => {
                let keys: Vec<&str> = questions.iter().map(|(key, _)| &**key).collect();
                write!(f, "ask for {keys:?}")
            }
            Failure::Failed(result) => write!(f, "failed: {result:?}"),
            Failure::Refused(error) => write!(f, "refused: {error}"),
        }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::failed(error.into().to_string())
    }
}
