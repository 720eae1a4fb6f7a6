//! The error type for URI templates.

use core::fmt;

/// The reason why a URI template is invalid or not supported.
///
/// ```
/// use mcp_proto::catalog::UriTemplate;
///
/// let error = UriTemplate::parse("note:///{name:3}").unwrap_err();
/// assert_eq!(error.to_string(), "prefix modifiers are not supported (at byte 13)");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TemplateError {
    /// Byte offset of the error in the template; 0 for a repeated variable or too many variables.
    pub at: usize,
    /// Description of the error.
    pub reason: &'static str,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.reason, self.at)
    }
}

impl core::error::Error for TemplateError {}
