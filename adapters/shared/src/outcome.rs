//! How requests and calls end.

/// How a request or a call ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The request succeeded.
    Success,
    /// The result of a tool reports an error to the model (`isError`).
    ToolError,
    /// The request failed with a JSON-RPC error, or the call in another way.
    Error,
    /// The handler asks for input. The client sends the request again with the answers.
    ///
    /// Calls of clients end only after all rounds of input, except those that a gateway
    /// [relays](crate::Cx::relay).
    InputRequired,
    /// The request was cancelled, by the client or by the end of the connection.
    ///
    /// [`Response::outcome`](crate::layers::Response::outcome) never returns this value: a
    /// cancelled request has no response.
    Cancelled,
}

impl Outcome {
    /// Returns the outcome in lower case, such as `tool_error`, for logs and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::ToolError => "tool_error",
            Self::Error => "error",
            Self::InputRequired => "input_required",
            Self::Cancelled => "cancelled",
        }
    }
}
