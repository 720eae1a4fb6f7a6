//! The error object of a response: a code, a sentence, and data of any form.

use alloc::boxed::Box;
use core::fmt;

use crate::error::code;
use crate::json::{Object, Raw};

/// What a peer says went wrong with a request, or what we say to it.
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
    /// What kind of error: see [`code`]. Applications pick theirs outside -32768…-32000.
    pub code: i64,
    /// One short sentence. (JSON-19)
    pub message: Box<str>,
    /// Anything more. (JSON-10)
    pub data: Option<Raw>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Box<str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The request's params are wrong, or name something that does not exist.
    pub fn invalid_params(message: impl Into<Box<str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// The method is not served here.
    #[must_use]
    pub fn method_not_found(method: &str) -> Self {
        // Enough of the name to recognise it: it is the peer's, and may be long or more than one
        // line. (JSON-19)
        let name: alloc::string::String =
            method.chars().filter(|c| !c.is_control()).take(METHOD_CHARS_MAX).collect();
        Self::new(code::METHOD_NOT_FOUND, alloc::format!("method not found: {name}"))
    }

    /// The receiver failed. Say nothing in the message that the peer should not know. (LOG-08)
    pub fn internal(message: impl Into<Box<str>>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data(mut self, data: Raw) -> Self {
        self.data = Some(data);
        self
    }

    pub(crate) fn write(&self, out: &mut alloc::vec::Vec<u8>) {
        let mut object = Object::begin(out);
        object.i64("code", self.code);
        object.str("message", &self.message);
        if let Some(data) = &self.data {
            object.raw("data", data.as_bytes());
        }
        object.end();
    }
}

/// What an error message quotes of a method's name.
const METHOD_CHARS_MAX: usize = 64;

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl core::error::Error for ErrorObject {}
