//! [`ExtensionError`], the error of an extension that cannot be declared.

use alloc::boxed::Box;
use core::fmt;

/// Why an [`Extension`](super::Extension) cannot be declared.
///
/// ```
/// use mcp_proto::server::Config;
/// use mcp_proto::Extension;
///
/// let error = Config::new("boards", "1.0.0").extension(Extension::new("whiteboard")).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "extension \"whiteboard\": the identifier needs a prefix, as in `com.example/name`"
/// );
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExtensionError {
    pub(super) id: Box<str>,
    pub(super) why: Box<str>,
}

impl fmt::Display for ExtensionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "extension {:?}: {}", self.id, self.why)
    }
}

impl core::error::Error for ExtensionError {}
