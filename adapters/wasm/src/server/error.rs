//! [`HandlerError`]: what handlers fail with.

use std::fmt;

use mcp_proto::{ErrorObject, NeededInput};

/// The error type of handlers.
///
/// Every error type converts into `HandlerError`, so `?` works with all of them. A failed tool call
/// returns a result with `isError` and the error's message, for the model to read. Other requests
/// have no such result; they fail with a JSON-RPC error that contains the message.
///
/// **Clients see the message.** Only the error's own text is sent, not that of its sources.
///
/// ```
/// use mcp_wasm::HandlerError;
///
/// fn square_root(of: f64) -> Result<f64, HandlerError> {
///     if of < 0.0 { Err(HandlerError::failed("the number is negative")) } else { Ok(of.sqrt()) }
/// }
/// assert!(square_root(-1.0).is_err());
/// ```
pub struct HandlerError(pub(crate) Cause);

/// The kinds of failure.
pub(crate) enum Cause {
    /// A result with `isError` and this text.
    Failed(String),
    /// The handler needs input first: the input requests by their keys.
    InputRequired(Vec<(String, NeededInput)>),
    /// The request itself fails.
    Refused(ErrorObject),
}

impl HandlerError {
    /// Creates an error that the model receives as a result with `isError` and this message.
    pub fn failed(why: impl Into<String>) -> Self {
        Self(Cause::Failed(why.into()))
    }

    /// Creates an error that makes the request fail with this JSON-RPC error, even if it is a tool
    /// call.
    #[must_use]
    pub fn refused(error: ErrorObject) -> Self {
        Self(Cause::Refused(error))
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Failed(why) => write!(f, "failed: {why}"),
            Cause::InputRequired(questions) => {
                f.write_str("ask for")?;
                questions.iter().try_for_each(|(key, _)| write!(f, " {key:?}"))
            }
            Cause::Refused(error) => write!(f, "refused: {error}"),
        }
    }
}

impl<E: Into<Box<dyn std::error::Error + Send + Sync>>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::failed(error.into().to_string())
    }
}
