//! Reading the output of a tool as a Rust type.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::DeserializeOwned;

use super::tools::CallToolResult;
use crate::json::Raw;

impl CallToolResult {
    /// Deserializes the tool's structured output.
    ///
    /// If there is none, deserializes the text of the only content block instead: revisions before
    /// 2025-06-18 have no structured output, so servers send its JSON as text.
    ///
    /// ```
    /// use mcp_proto::Raw;
    /// use mcp_proto::schema::{CallToolResult, OutputError};
    /// use serde::Deserialize;
    ///
    /// #[derive(Debug, Deserialize, PartialEq)]
    /// struct Sum {
    ///     sum: i64,
    /// }
    ///
    /// let sum = Raw::from_text(r#"{"sum":5}"#).unwrap();
    /// let result = CallToolResult::text(sum.to_string()).structured_content(sum);
    /// assert_eq!(result.structured::<Sum>(), Ok(Sum { sum: 5 }));
    ///
    /// let failed = CallToolResult::error("too large");
    /// assert_eq!(failed.structured::<Sum>(), Err(OutputError::Failed("too large".into())));
    /// ```
    ///
    /// # Errors
    /// Fails if the tool failed, or if the output is missing or does not match `T`; see
    /// [`OutputError`].
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, OutputError> {
        let text = match &self.content[..] {
            [block] => block.as_text(),
            _ => None,
        };
        if self.is_error {
            let texts = self.content.iter().filter_map(|block| block.as_text());
            return Err(OutputError::Failed(texts.collect::<Vec<_>>().join("\n")));
        }
        let parsed = match (&self.structured_content, text) {
            (Some(output), _) => output.parse(),
            (None, Some(text)) => match Raw::from_text(text) {
                Ok(output) => output.parse(),
                Err(_) => return Err(OutputError::Mismatch("the text is not JSON".into())),
            },
            (None, None) => return Err(OutputError::Missing),
        };
        parsed.map_err(|error| OutputError::Mismatch(error.to_string()))
    }
}

/// The reason why the output of a tool could not be read as a Rust type.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum OutputError {
    /// The tool failed. The string is the text of its result.
    Failed(String),
    /// The output does not match the type. The string describes the mismatch.
    Mismatch(String),
    /// The result has neither structured output nor exactly one text block.
    Missing,
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(text) => write!(f, "the tool failed: {text}"),
            Self::Mismatch(mismatch) => {
                write!(f, "the tool's output does not match the expected type: {mismatch}")
            }
            Self::Missing => f.write_str("the tool returned no structured output"),
        }
    }
}

impl core::error::Error for OutputError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Content;

    fn text(text: &str) -> CallToolResult {
        CallToolResult::text(text)
    }

    fn structured(json: &str) -> CallToolResult {
        text("shown").structured_content(Raw::from_text(json).unwrap())
    }

    #[test]
    fn structured_output_precedes_text() {
        assert_eq!(structured("[1,2]").structured(), Ok(Vec::from([1, 2])));
        assert_eq!(structured("null").structured(), Ok(None::<u8>));
        assert_eq!(text("[1,2]").structured(), Ok(Vec::from([1, 2])));
    }

    #[test]
    fn an_error_says_what_is_wrong() {
        let mismatch = structured(r#"{"a":"x"}"#).structured::<Vec<u8>>().unwrap_err();
        assert!(matches!(&mismatch, OutputError::Mismatch(why) if why.contains("object")));
        assert!(matches!(text("12 degrees").structured::<u8>(), Err(OutputError::Mismatch(_))));
        let blocks = || Vec::from([Content::from("a"), Content::from("b")]);
        assert_eq!(CallToolResult::new(blocks()).structured::<u8>(), Err(OutputError::Missing));
        let mut failed = CallToolResult::new(blocks());
        failed.is_error = true;
        assert_eq!(failed.structured::<u8>(), Err(OutputError::Failed("a\nb".into())));
    }
}
