//! The values that tool handlers return, and their conversion into results.

use std::borrow::Cow;

use mcp_proto::schema::Encode;
use mcp_proto::{Raw, Revision, Unencodable};

use crate::server::error::HandlerError;

/// The result of a tool call, as it is encoded for the client.
///
/// ```
/// use mcp_wasm::{IntoToolResult, ToolOutput};
///
/// let output: ToolOutput = "sunny".into_tool_result().unwrap();
/// # drop(output);
/// ```
pub struct ToolOutput(Box<dyn Encode>);

impl ToolOutput {
    /// Creates an output from a complete result, such as [`Raw`] JSON or a `CallToolResult` of the
    /// feature `schema`.
    pub fn new(result: impl Encode + 'static) -> Self {
        Self(Box::new(result))
    }

    /// Creates an output with one text block.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::new(TextResult { text: text.into(), is_error: false })
    }

    /// Creates an output with one text block that reports an error to the model.
    pub(crate) fn error(text: &str) -> Self {
        Self::new(TextResult { text: text.into(), is_error: true })
    }

    pub(crate) fn into_encode(self) -> Box<dyn Encode> {
        self.0
    }
}

impl std::fmt::Debug for ToolOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolOutput").finish_non_exhaustive()
    }
}

/// A result with one text block: a form that all revisions share.
struct TextResult {
    text: Box<str>,
    is_error: bool,
}

impl Encode for TextResult {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        out.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
        out.extend_from_slice(Raw::new(&*self.text)?.as_bytes());
        out.extend_from_slice(if self.is_error { br#"}],"isError":true}"# } else { b"}]}" });
        Ok(())
    }
}

/// A value that a tool handler can return.
///
/// | type | result |
/// |---|---|
/// | `String`, `&str`, `Cow<str>`, numbers, `bool` | one text block |
/// | `()` | no content |
/// | [`serde_json::Value`] | its JSON as a text block |
/// | `CallToolResult` (feature `schema`) | itself, for example with structured content |
/// | [`ToolOutput`] | itself |
///
/// The trait of the other adapters returns a `CallToolResult`. This one does not, because the types
/// of the feature `schema` do not fit into the size of a small module.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a tool result",
    note = "return text, an integer, `()`, a `serde_json::Value` or a `ToolOutput`",
    note = "for a handler that is a future, use `tool_raw_async` instead of `tool_raw`"
)]
pub trait IntoToolResult {
    /// Converts the value into the result of a tool call.
    ///
    /// # Errors
    /// Fails if the value cannot be represented.
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError>;
}

impl IntoToolResult for ToolOutput {
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
        Ok(ToolOutput::new(Raw::from_text(r#"{"content":[]}"#)?))
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
        Ok(ToolOutput::text(&self))
    }
}

impl IntoToolResult for Cow<'_, str> {
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
        Ok(ToolOutput::text(&self))
    }
}

impl IntoToolResult for serde_json::Value {
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
        Ok(ToolOutput::text(Raw::new(&self)?.as_str()))
    }
}

#[cfg(feature = "schema")]
impl IntoToolResult for mcp_proto::schema::CallToolResult {
    fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
        Ok(ToolOutput::new(self))
    }
}

macro_rules! displayed {
    ($($value:ty)*) => {$(
        impl IntoToolResult for $value {
            fn into_tool_result(self) -> Result<ToolOutput, HandlerError> {
                Ok(ToolOutput::text(&self.to_string()))
            }
        }
    )*};
}

displayed!(bool i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);
