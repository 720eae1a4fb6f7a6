//! The response of a request as layers see it.

use std::fmt;

use mcp_proto::ErrorObject;
use mcp_proto::schema::{CallToolResult, Encode};

use crate::outcome::Outcome;
use crate::server::handler::context::RequestState;
use crate::server::handler::handler_error::{Cause, HandlerError};
use crate::server::handler::reply::BoxedResult;

/// The response to a request: a result, an error, or a request for input.
///
/// A layer receives it from [`Next::run`](super::Next::run), or creates one to answer a request
/// itself: with [`result`](Self::result), or from an [`ErrorObject`] or a [`HandlerError`].
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::HandlerError;
/// use mcp_tokio::layers::{Outcome, Response};
/// use mcp_tokio::proto::ErrorObject;
/// use mcp_tokio::proto::schema::CallToolResult;
///
/// let cached = Response::result(CallToolResult::text("sunny"));
/// assert_eq!(cached.outcome(), Outcome::Success);
/// let failed = Response::from(HandlerError::failed("the service is down"));
/// assert_eq!(failed.outcome(), Outcome::ToolError);
/// let refused = Response::from(ErrorObject::new(-32001, "log in first"));
/// assert_eq!(refused.outcome(), Outcome::Error);
/// assert_eq!(refused.error().map(|error| error.code), Some(-32001));
/// ```
#[must_use = "a layer returns the response"]
pub struct Response(pub(super) Result<BoxedResult, HandlerError>);

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
            Err(HandlerError(Cause::Failed(_))) => Outcome::ToolError,
            Err(HandlerError(Cause::InputRequired(_))) => Outcome::InputRequired,
            Err(_) => Outcome::Error,
        }
    }

    /// Returns the JSON-RPC error of a request that failed with one.
    #[must_use]
    pub const fn error(&self) -> Option<&ErrorObject> {
        match &self.0 {
            Err(HandlerError(Cause::Forbidden(error, _) | Cause::Refused(error))) => Some(error),
            _ => None,
        }
    }

    /// Returns the result of a tool, also one that reports an error to the model.
    #[must_use]
    pub fn tool_result(&self) -> Option<&CallToolResult> {
        match &self.0 {
            Ok(result) => (**result).as_any().downcast_ref(),
            Err(HandlerError(Cause::Failed(result))) => Some(result),
            Err(_) => None,
        }
    }

    /// Returns the response that the client receives for `request`.
    pub(super) fn resolved(self, request: &RequestState) -> Self {
        let revision = request.context.peer.revision;
        Self(self.0.map_err(|error| error.resolved(&request.request, revision)))
    }
}

fn is_tool_error(result: &BoxedResult) -> bool {
    let result = (**result).as_any().downcast_ref::<CallToolResult>();
    result.is_some_and(|result| result.is_error)
}

impl From<ErrorObject> for Response {
    fn from(error: ErrorObject) -> Self {
        Self(Err(HandlerError::refused(error)))
    }
}

impl From<HandlerError> for Response {
    fn from(error: HandlerError) -> Self {
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
