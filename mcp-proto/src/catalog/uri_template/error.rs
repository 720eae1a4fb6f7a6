//! Why a text is no URI template.

use core::fmt;

/// Why a text is no template, or none that is supported.
///
/// ```
/// use mcp_proto::catalog::UriTemplate;
///
/// let error = UriTemplate::parse("note:///{name:3}").unwrap_err();
/// assert_eq!(error.to_string(), "a prefix cannot be matched back (at byte 13)");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TemplateError {
    /// Where, in bytes from the start.
    pub at: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.reason, self.at)
    }
}

impl core::error::Error for TemplateError {}
