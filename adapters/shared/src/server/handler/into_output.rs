//! The values that handlers return, and their conversion into results.

#[cfg(feature = "schemars")]
use std::any::type_name;
use std::borrow::Cow;

use mcp_proto::Raw;
use mcp_proto::schema::{
    Audio, CallToolResult, CompleteResult, Content, EmbeddedResource, Encode, GetPromptResult,
    Image, PromptMessage, ReadResourceResult, ResourceContents, ResourceLink, Role, Str, Text,
};

use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::kind::MethodResult;
use crate::server::handler::list_handler::Page;
#[cfg(feature = "schemars")]
use crate::trace;
#[cfg(feature = "schemars")]
use mcp_proto::schema::result_schema;

/// A value that a handler can return, for a result of type `O`.
///
/// `Result<T, HandlerError>` is one if `T` is one.
///
/// | result | type of the value | what the client receives |
/// |---|---|---|
/// | of a tool: [`CallToolResult`] | `String`, `&str`, numbers, `bool` | one text block |
/// | | `()` | no content |
/// | | [`Content`], [`Image`], [`Audio`] and the other blocks | one block |
/// | | `Vec` of any of these | one block per element |
/// | | [`serde_json::Value`] | structured content, and its text; no output schema |
/// | | [`Json<T>`] | structured content, and its text |
/// | of a resource: [`ReadResourceResult`] | `String`, `&str` | the text of the resource |
/// | | [`ResourceContents`], or a `Vec` of them | these contents |
/// | of a prompt: [`GetPromptResult`] | `String`, `&str` | a message of the user |
/// | | [`PromptMessage`], or a `Vec` of them | these messages |
/// | of a completion: [`CompleteResult`] | `Vec<String>` | the values, at most 100 |
/// | of a list | [`Page`] | the page |
///
/// Implement this trait for your types to return them from handlers.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::proto::schema::{CallToolResult, Image};
/// use mcp_tokio::{HandlerError, IntoOutput};
///
/// struct Chart(Vec<u8>);
///
/// impl IntoOutput<CallToolResult> for Chart {
///     fn into_output(self) -> Result<CallToolResult, HandlerError> {
///         Image::from_bytes(self.0, "image/png").into_output()
///     }
/// }
///
/// let result: CallToolResult = Chart(vec![137, 80, 78, 71]).into_output().unwrap();
/// assert_eq!(result.content.len(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot become a `{O}`",
    label = "not a value that this handler can return",
    note = "a tool returns text, a number, `()`, `Content`, an `Image`, a `Vec` of these, or a \
            `CallToolResult`; to return a type that derives `serde::Serialize` and \
            `schemars::JsonSchema`, wrap it: `Json(value)`",
    note = "a resource returns text or `ResourceContents`; a prompt returns text or \
            `PromptMessage::new(Role::User, \"text\")`; both also return a `Vec` of these",
    note = "the error of a `Result` is `HandlerError`, into which `?` converts all others"
)]
pub trait IntoOutput<O> {
    /// Converts the value.
    ///
    /// # Errors
    /// Fails if the value cannot be represented, for example if it cannot be serialized.
    fn into_output(self) -> Result<O, HandlerError>;

    /// Returns the output schema of tools that return this type. Default: `None`.
    ///
    /// If a tool has an output schema, its results must have structured content.
    #[must_use]
    fn output_schema() -> Option<Raw> {
        None
    }
}

macro_rules! fallible {
    ($($output:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: IntoOutput<$output>> IntoOutput<$output> for Result<T, HandlerError> {
            fn into_output(self) -> Result<$output, HandlerError> {
                self?.into_output()
            }

            fn output_schema() -> Option<Raw> {
                T::output_schema()
            }
        }
    )*};
}

fallible!(CallToolResult CompleteResult GetPromptResult ReadResourceResult);

macro_rules! into {
    ($($output:ty: $($value:ty),*;)*) => {$($(
        impl IntoOutput<$output> for $value {
            fn into_output(self) -> Result<$output, HandlerError> {
                Ok(self.into())
            }
        }
    )*)*};
}

into! {
    CallToolResult: CallToolResult, &str;
    CompleteResult: CompleteResult, Vec<String>;
    GetPromptResult: GetPromptResult, PromptMessage, Vec<PromptMessage>;
    ReadResourceResult: ReadResourceResult, ResourceContents, Vec<ResourceContents>;
}

macro_rules! text {
    ($($text:ty)*) => {$(
        impl IntoOutput<GetPromptResult> for $text {
            fn into_output(self) -> Result<GetPromptResult, HandlerError> {
                Ok(PromptMessage::new(Role::User, self).into())
            }
        }

        impl IntoOutput<ReadResourceResult> for $text {
            fn into_output(self) -> Result<ReadResourceResult, HandlerError> {
                // The URI is that of the request.
                Ok(ResourceContents::text("", self).into())
            }
        }
    )*};
}

text!(&str String);

impl<T> IntoOutput<Self> for Page<T> {
    fn into_output(self) -> Result<Self, HandlerError> {
        Ok(self)
    }
}

impl<T> IntoOutput<Page<T>> for Result<Page<T>, HandlerError> {
    fn into_output(self) -> Self {
        self
    }
}

impl<T: Encode> IntoOutput<MethodResult<T>> for T {
    fn into_output(self) -> Result<MethodResult<T>, HandlerError> {
        Ok(MethodResult(self))
    }
}

impl<T: Encode> IntoOutput<MethodResult<T>> for Result<T, HandlerError> {
    fn into_output(self) -> Result<MethodResult<T>, HandlerError> {
        self.map(MethodResult)
    }
}

impl IntoOutput<CallToolResult> for () {
    fn into_output(self) -> Result<CallToolResult, HandlerError> {
        Ok(CallToolResult::new(Vec::new()))
    }
}

impl IntoOutput<CallToolResult> for serde_json::Value {
    fn into_output(self) -> Result<CallToolResult, HandlerError> {
        Ok(structured(self.into()))
    }
}

/// Returns a result with a JSON value and, for clients that do not read it, its text.
fn structured(value: Raw) -> CallToolResult {
    CallToolResult::text(value.as_str()).structured_content(value)
}

impl<T: Into<Content>> IntoOutput<CallToolResult> for Vec<T> {
    fn into_output(self) -> Result<CallToolResult, HandlerError> {
        let blocks: Vec<Content> = self.into_iter().map(Into::into).collect();
        Ok(CallToolResult::new(blocks))
    }
}

macro_rules! block {
    ($($block:ty)*) => {$(
        impl IntoOutput<CallToolResult> for $block {
            fn into_output(self) -> Result<CallToolResult, HandlerError> {
                Ok(CallToolResult::new(vec![Content::from(self)]))
            }
        }
    )*};
}

block!(Audio Content EmbeddedResource Image ResourceLink Str String Text);

macro_rules! displayed {
    ($($value:ty)*) => {$(
        impl IntoOutput<CallToolResult> for $value {
            fn into_output(self) -> Result<CallToolResult, HandlerError> {
                Ok(CallToolResult::text(self.to_string()))
            }
        }
    )*};
}

displayed!(bool char f32 f64 i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize Cow<'_, str>);

/// JSON of a type: the structured content of a tool's result, or the arguments of a tool.
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
/// As the parameter of a tool's handler, `T` only needs `Deserialize`: the schema of the arguments
/// does not come from it, but from [`Tool::input_schema`](crate::Tool::input_schema).
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
///     .tool("add", "Adds two numbers", |numbers: Numbers| {
///         Json(Sum { sum: numbers.a + numbers.b })
///     });
/// # drop(server);
/// ```
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Json<T>(pub T);

#[cfg(feature = "schemars")]
#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema + serde::Serialize> IntoOutput<CallToolResult> for Json<T> {
    fn into_output(self) -> Result<CallToolResult, HandlerError> {
        // The model cannot correct this, so it is an error of the request.
        let value = Raw::new(&self.0).map_err(|_| {
            trace::unserializable(type_name::<T>());
            HandlerError::internal("the result cannot be serialized")
        })?;
        Ok(structured(value))
    }

    fn output_schema() -> Option<Raw> {
        result_schema::<T>()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn blocks(value: impl IntoOutput<CallToolResult>) -> Vec<Content> {
        value.into_output().unwrap().content.into_iter().collect()
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
        let result = IntoOutput::<CallToolResult>::into_output(json!({"sum": 5})).unwrap();
        assert_eq!(result.content[0].as_text(), Some(r#"{"sum":5}"#));
        assert_eq!(result.structured_content.unwrap().as_str(), r#"{"sum":5}"#);
    }
}
