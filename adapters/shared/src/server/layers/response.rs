//! The response of a request as layers see it.

use std::fmt;

use mcp_proto::ErrorObject;
use mcp_proto::schema::{CallToolResult, Encode};

use crate::outcome::Outcome;
use crate::server::handler::reply::BoxedResult;
use crate::server::handler::tool_error::{HandlerError, ToolError, without_result};

/// The response to a request: a result, an error, or a request for input.
///
/// A layer receives it from [`Next::run`](super::Next::run), or creates one to answer a request
/// itself: with [`result`](Self::result), or from an [`ErrorObject`] or a [`ToolError`].
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::ToolError;
/// use mcp_tokio::layers::{Outcome, Response};
/// use mcp_tokio::proto::ErrorObject;
/// use mcp_tokio::proto::schema::CallToolResult;
///
/// let cached = Response::result(CallToolResult::text("sunny"));
/// assert_eq!(cached.outcome(), Outcome::Success);
/// let failed = Response::from(ToolError::failed("the service is down"));
/// assert_eq!(failed.outcome(), Outcome::ToolError);
/// let refused = Response::from(ErrorObject::new(-32001, "log in first"));
/// assert_eq!(refused.outcome(), Outcome::Error);
/// assert_eq!(refused.error().map(|error| error.code), Some(-32001));
/// ```
#[must_use = "a layer returns the response"]
pub struct Response(pub(super) Result<BoxedResult, ToolError>);

impl Response {
    /// Creates a response with a result, which must be of the type that the request's method
    /// defines.
    ///
    /// A result that cannot be encoded in the client's revision becomes an internal error.
    pub fn result(result: impl Encode + Send + 'static) -> Self {
        Self(Ok(Box::new(result)))
    }

    /// Returns how the request ended.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        match &self.0 {
            Ok(result) if is_tool_error(result) => Outcome::ToolError,
            Ok(_) => Outcome::Success,
            Err(ToolError(HandlerError::Failed(_))) => Outcome::ToolError,
            Err(ToolError(HandlerError::Forbidden(..) | HandlerError::Refused(_))) => {
                Outcome::Error
            }
            Err(ToolError(HandlerError::InputRequired(_))) => Outcome::InputRequired,
        }
    }

    /// Returns the JSON-RPC error of a request that failed with one.
    #[must_use]
    pub const fn error(&self) -> Option<&ErrorObject> {
        match &self.0 {
            Err(ToolError(HandlerError::Forbidden(error, _) | HandlerError::Refused(error))) => {
                Some(error)
            }
            _ => None,
        }
    }

    /// Returns the result of a tool, also one that reports an error to the model.
    #[must_use]
    pub fn tool_result(&self) -> Option<&CallToolResult> {
        match &self.0 {
            Ok(result) => (**result).as_any().downcast_ref(),
            Err(ToolError(HandlerError::Failed(result))) => Some(result),
            Err(_) => None,
        }
    }

    /// Turns an error for the model into a JSON-RPC error, for methods without results that report
    /// errors: all but calls of tools.
    pub(super) fn without_tool_error(self) -> Self {
        match self.0 {
            Err(ToolError(HandlerError::Failed(result))) => without_result(&result).into(),
            outcome => Self(outcome),
        }
    }
}

fn is_tool_error(result: &BoxedResult) -> bool {
    let result = (**result).as_any().downcast_ref::<CallToolResult>();
    result.is_some_and(|result| result.is_error)
}

impl From<ErrorObject> for Response {
    fn from(error: ErrorObject) -> Self {
        Self(Err(ToolError::refused(error)))
    }
}

impl From<ToolError> for Response {
    fn from(error: ToolError) -> Self {
        Self(Err(error))
    }
}

// Results and messages may contain secrets.
impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.error().map(|error| error.code);
        f.debug_struct("Response").field("outcome", &self.outcome()).field("code", &code).finish()
    }
}
