//! Reading the output of a tool as a Rust type.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use super::tools::CallToolResult;
use crate::json::Raw;

impl CallToolResult {
    /// Returns the texts of all text blocks, one per line.
    ///
    /// Other blocks, such as images, are left out. A failed tool explains in these texts why it
    /// failed.
    ///
    /// ```
    /// use mcp_proto::schema::{CallToolResult, Content};
    ///
    /// let result = CallToolResult::new(vec![Content::from("sunny"), Content::from("12 degrees")]);
    /// assert_eq!(result.to_text(), "sunny\n12 degrees");
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| block.as_text());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Deserializes the tool's structured output.
    ///
    /// If there is none, deserializes the text of the only content block instead: revisions before
    /// 2025-06-18 have no structured output, so servers send its JSON as text. If the text is not
    /// the JSON of a `T`, and `T` is read from a string, as `String` and enums are, `T` is read
    /// from the text itself.
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
    ///
    /// assert_eq!(CallToolResult::text("5 cm").structured::<String>(), Ok("5 cm".into()));
    /// ```
    ///
    /// # Errors
    /// Fails if the tool failed, or if the output is missing or does not match `T`; see
    /// [`OutputError`].
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, OutputError> {
        if self.is_error {
            return Err(OutputError::Failed(self.to_text()));
        }
        let parse = |output: &Raw| output.parse().map_err(|error| error.to_string());
        let parsed = match (&self.structured_content, &self.content[..]) {
            (Some(output), _) => parse(output),
            (None, [block]) => {
                let text = block.as_text().ok_or(OutputError::Missing)?;
                let json = Raw::from_text(text).map_err(|_| "the text is not JSON".into());
                json.and_then(|output| parse(&output)).or_else(|why: String| {
                    let text: StrDeserializer<'_, serde::de::value::Error> =
                        text.into_deserializer();
                    T::deserialize(text).map_err(|_| why)
                })
            }
            (None, _) => return Err(OutputError::Missing),
        };
        parsed.map_err(OutputError::Mismatch)
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
    fn a_type_that_is_read_from_a_string_takes_plain_text() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Day {
            Monday,
        }

        for plain in ["12 degrees", "12", "null", "{}", ""] {
            assert_eq!(text(plain).structured(), Ok(String::from(plain)));
        }
        // As a server sends the JSON of a string to peers of old revisions.
        assert_eq!(text(r#""quoted""#).structured(), Ok(String::from("quoted")));
        assert_eq!((text("monday").structured(), text(r#""monday""#).structured()), {
            (Ok(Day::Monday), Ok(Day::Monday))
        });
        let mismatch = Err(OutputError::Mismatch("the text is not JSON".into()));
        assert_eq!(text("sunday").structured::<Day>(), mismatch);
        let value = text(r#"{"a":1}"#).structured::<serde_json::Value>().unwrap();
        assert_eq!(value["a"], 1);
        let both = CallToolResult::new(Vec::from([Content::from("a"), Content::from("b")]));
        assert_eq!((both.to_text(), both.structured::<String>()), {
            ("a\nb".into(), Err(OutputError::Missing))
        });
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
