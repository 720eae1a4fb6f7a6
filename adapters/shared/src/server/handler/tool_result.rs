//! The values that tool handlers return, and their conversion into results.

use std::borrow::Cow;

use mcp_proto::Raw;
use mcp_proto::schema::{
    Audio, CallToolResult, Content, EmbeddedResource, Image, ResourceLink, Str, Text, Tool,
};

use crate::server::handler::tool_error::ToolError;

/// A value that a tool handler can return.
///
/// | type | result |
/// |---|---|
/// | `String`, `&str`, `Cow<str>`, numbers, `bool` | one text block |
/// | `()` | no content |
/// | [`Content`], [`Image`], [`Audio`] and the other blocks | one block |
/// | `Vec` of any of these | one block per element |
/// | [`serde_json::Value`] | structured content, and its text; no output schema |
/// | `Json<T>` (feature `schemars`) | structured content, and its text |
/// | [`CallToolResult`] | itself |
///
/// Implement this trait for a type of your own to return it from handlers.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::schema::{CallToolResult, Image};
/// use mcp_tokio::{IntoToolResult, ToolError};
///
/// struct Chart(Vec<u8>);
///
/// impl IntoToolResult for Chart {
///     fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
///         Image::from_bytes(self.0, "image/png").into_tool_result()
///     }
/// }
///
/// let result = Chart(vec![137, 80, 78, 71]).into_tool_result().unwrap();
/// assert_eq!(result.content.len(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a tool result",
    note = "return text, a number, `()`, `Content`, an `Image`, a `Vec` of these, or a \
            `CallToolResult`",
    note = "to return a type that implements `Serialize` and `JsonSchema`, wrap it: \
            `Ok(Json(value))`, with the feature `schemars`",
    note = "in `Json<T>`, `T` derives both traits: \
            `#[derive(serde::Serialize, schemars::JsonSchema)]`",
    note = "for a handler that is a future, use `tool_async` instead of `tool`, or \
            `tool_with_async` instead of `tool_with`"
)]
pub trait IntoToolResult {
    /// Converts the value into the result of a tool call.
    ///
    /// # Errors
    /// Fails if the value cannot be represented, for example if it cannot be serialized.
    fn into_tool_result(self) -> Result<CallToolResult, ToolError>;

    /// Returns the output schema of tools that return this type. Default: `None`.
    ///
    /// If a tool has an output schema, its results must have structured content.
    #[must_use]
    fn output_schema() -> Option<Raw> {
        None
    }
}

/// Declares the output schema of `R`, unless the tool already has one.
pub(crate) fn with_output_schema<R: IntoToolResult>(mut tool: Tool) -> Tool {
    if tool.output_schema.is_none() {
        tool.output_schema = R::output_schema().map(Into::into);
    }
    tool
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::new(Vec::new()))
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self))
    }
}

impl IntoToolResult for Cow<'_, str> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::text(self.into_owned()))
    }
}

impl IntoToolResult for serde_json::Value {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        Ok(structured(self.into()))
    }
}

/// Returns a result with a JSON value and, for clients that do not read it, its text.
fn structured(value: Raw) -> CallToolResult {
    CallToolResult::text(value.as_str()).structured_content(value)
}

impl<T: Into<Content>> IntoToolResult for Vec<T> {
    fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
        let blocks: Vec<Content> = self.into_iter().map(Into::into).collect();
        Ok(CallToolResult::new(blocks))
    }
}

macro_rules! block {
    ($($block:ty)*) => {$(
        impl IntoToolResult for $block {
            fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                Ok(CallToolResult::new(vec![Content::from(self)]))
            }
        }
    )*};
}

block!(Audio Content EmbeddedResource Image ResourceLink Str String Text);

macro_rules! displayed {
    ($($value:ty)*) => {$(
        impl IntoToolResult for $value {
            fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
                Ok(CallToolResult::text(self.to_string()))
            }
        }
    )*};
}

displayed!(bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

#[cfg(feature = "schemars")]
mod json {
    use std::any::type_name;

    use mcp_proto::schema::{CallToolResult, result_schema};
    use mcp_proto::{ErrorObject, Raw};
    use schemars::JsonSchema;
    use serde::Serialize;

    use super::{IntoToolResult, ToolError, structured};
    use crate::trace;

    /// A tool result with structured content: a value that is serialized to JSON.
    ///
    /// The tool's output schema is derived from the serialized form of `T`. The result also
    /// contains the JSON as text, for clients that do not read structured content.
    ///
    /// If the value cannot be serialized, the call fails with `-32603`. Map keys must be strings or
    /// numbers. With the `tracing` feature, a warning names the type.
    ///
    /// Revisions before 2026-07-28 allow only objects as structured content: clients that use them
    /// receive other values as text only. Revisions before 2025-06-18 have no structured content.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Json, Server};
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Numbers {
    ///     a: i64,
    ///     b: i64,
    /// }
    ///
    /// #[derive(JsonSchema, Serialize)]
    /// struct Sum {
    ///     sum: i64,
    /// }
    ///
    /// let server = Server::new("calculator", "1.0.0")
    ///     .tool("add", "Adds two numbers", |numbers: Numbers, _cx| {
    ///         Ok(Json(Sum { sum: numbers.a + numbers.b }))
    ///     });
    /// # drop(server);
    /// ```
    #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
    pub struct Json<T>(pub T);

    #[diagnostic::do_not_recommend]
    impl<T: JsonSchema + Serialize> IntoToolResult for Json<T> {
        fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
            // The model cannot correct this, so it is an error of the request.
            let value = Raw::new(&self.0).map_err(|_| {
                trace::unserializable(type_name::<T>());
                ToolError::refused(ErrorObject::internal("the result cannot be serialized"))
            })?;
            Ok(structured(value))
        }

        fn output_schema() -> Option<Raw> {
            result_schema::<T>()
        }
    }
}

#[cfg(feature = "schemars")]
pub use json::Json;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn blocks(value: impl IntoToolResult) -> Vec<Content> {
        value.into_tool_result().unwrap().content.into_iter().collect()
    }

    #[test]
    fn text_and_numbers_are_text_blocks() {
        let text = |text: &str| vec![Content::from(text)];
        assert_eq!(blocks("a"), text("a"));
        assert_eq!(blocks(String::from("b")), text("b"));
        assert_eq!(blocks(Cow::Borrowed("c")), text("c"));
        assert_eq!(blocks(-7), text("-7"));
        assert_eq!(blocks(2.5), text("2.5"));
        assert_eq!(blocks(true), text("true"));
    }

    #[test]
    fn blocks_and_lists_of_them_are_content() {
        let image = Image::from_bytes([1, 2, 3], "image/png");
        assert_eq!(blocks(image.clone()), [Content::Image(image.clone())]);
        assert_eq!(blocks(vec![image.clone(), image.clone()]).len(), 2);
        assert_eq!(blocks(vec!["a", "b"]), [Content::from("a"), Content::from("b")]);
        assert_eq!(blocks(()), []);
        assert_eq!(image.to_bytes(), Some(vec![1, 2, 3]));
    }

    #[test]
    fn a_json_value_is_structured_content_and_text() {
        let result = json!({"sum": 5}).into_tool_result().unwrap();
        assert_eq!(result.content[0].as_text(), Some(r#"{"sum":5}"#));
        assert_eq!(result.structured_content.unwrap().as_str(), r#"{"sum":5}"#);
    }
}
