//! The error object of a JSON-RPC response.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::error::code;
use crate::json::{Object, Raw};
use crate::printable::printable;

/// The error of a JSON-RPC response: a code, a message and optional data.
///
/// ```
/// use mcp_proto::{ErrorObject, code};
///
/// let error = ErrorObject::invalid_params("no tool `frobnicate`");
/// assert_eq!(error.code, code::INVALID_PARAMS);
/// assert_eq!(error.to_string(), "no tool `frobnicate` (-32602)");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ErrorObject {
    /// The error code. [`code`] defines the standard codes; applications choose their own codes
    /// outside the range -32768 to -32000, which JSON-RPC reserves.
    pub code: i64,
    // JSON-19.
    /// A short description in one sentence.
    pub message: Box<str>,
    // JSON-10.
    /// Additional information, as any JSON value.
    pub data: Option<Raw>,
}

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<Box<str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Creates an error for invalid params, such as the name of a tool that does not exist.
    pub fn invalid_params(message: impl Into<Box<str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// Creates an error for a method that this side does not serve.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        // JSON-19: the peer chose the name, so keep the message short and on one line.
        let name = printable(method.as_bytes(), METHOD_CHARS_MAX);
        Self::new(code::METHOD_NOT_FOUND, alloc::format!("method not found: {name}"))
    }

    // LIF-34: the error data names the extension.
    /// Creates an error for a request that needs an [extension](crate::Extension) which the peer
    /// did not declare.
    ///
    /// ```
    /// use mcp_proto::ErrorObject;
    ///
    /// let error = ErrorObject::missing_extension("com.example/whiteboard");
    /// let data = r#"{"requiredCapabilities":{"extensions":{"com.example/whiteboard":{}}}}"#;
    /// assert_eq!(error.data.unwrap().as_str(), data);
    /// ```
    #[must_use]
    pub fn missing_extension(id: &str) -> Self {
        let mut out = Vec::new();
        let mut data = Object::begin(&mut out);
        let mut required = Object::begin(data.key("requiredCapabilities"));
        let mut extensions = Object::begin(required.key("extensions"));
        extensions.raw(id, b"{}");
        extensions.end();
        required.end();
        data.end();
        let why = alloc::format!("the request needs the extension {id}, which was not declared");
        Self::new(code::MISSING_CLIENT_CAPABILITY, why).with_data(Raw::from_written(out))
    }

    /// Returns whether this is the error for a resource that does not exist.
    ///
    /// Up to 2025-11-25, its code is `-32002`; since 2026-07-28, it is `-32602`, and the `data` has
    /// a member `uri`. Both forms are recognized, whatever the revision.
    ///
    /// ```
    /// use mcp_proto::{ErrorObject, Raw, code};
    ///
    /// let missing = ErrorObject::new(code::RESOURCE_NOT_FOUND, "no such file");
    /// assert!(missing.is_resource_not_found());
    /// let uri = Raw::from_text(r#"{"uri":"file:///nowhere"}"#).unwrap();
    /// assert!(ErrorObject::invalid_params("no such file").with_data(uri).is_resource_not_found());
    /// assert!(!ErrorObject::invalid_params("`uri` must be a string").is_resource_not_found());
    /// ```
    // STL-47: clients accept the code of earlier revisions, too.
    #[must_use]
    pub fn is_resource_not_found(&self) -> bool {
        let names_uri = || self.data.as_ref().is_some_and(|data| data.member("uri").is_some());
        self.code == code::RESOURCE_NOT_FOUND || self.code == code::INVALID_PARAMS && names_uri()
    }

    // LOG-08: error texts must not contain secrets.
    /// Creates an error for an internal failure while handling a request.
    ///
    /// The message is sent to the peer, so it must not contain secrets.
    pub fn internal(message: impl Into<Box<str>>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// Sets the error's `data` and returns the updated error.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Raw>) -> Self {
        self.data = Some(data.into());
        self
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        object.i64("code", self.code);
        object.str("message", &self.message);
        if let Some(data) = &self.data {
            object.raw("data", data.as_bytes());
        }
        object.end();
    }
}

/// The maximum length of a quoted method name, in characters.
const METHOD_CHARS_MAX: usize = 64;

/// The maximum length of a displayed message, in characters.
const MESSAGE_CHARS_MAX: usize = 2000;

/// Writes the message, [made safe](crate::printable) for logs and at most 2000 characters, and the
/// code.
impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = printable(self.message.as_bytes(), MESSAGE_CHARS_MAX);
        write!(f, "{message} ({})", self.code)
    }
}

impl core::error::Error for ErrorObject {}

#[cfg(test)]
mod tests {
    use super::*;

    // STL-47
    #[test]
    fn a_missing_resource_is_recognized_by_the_codes_of_all_revisions() {
        let uri = || Raw::from_text(r#"{"uri":"file:///nowhere"}"#).unwrap();
        let invalid = || ErrorObject::invalid_params("no such file");
        assert!(ErrorObject::new(code::RESOURCE_NOT_FOUND, "gone").is_resource_not_found());
        assert!(invalid().with_data(uri()).is_resource_not_found());
        assert!(!invalid().is_resource_not_found());
        assert!(!ErrorObject::internal("no").with_data(uri()).is_resource_not_found());
    }
}
