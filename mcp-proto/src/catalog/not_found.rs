//! The errors for entries that do not exist.

use alloc::format;
use alloc::vec::Vec;

use super::quote::quoted;
use crate::json::{Object, Raw};
use crate::revision::Revision;
use crate::rpc::ErrorObject;

/// Creates the error for an unknown tool.
///
/// The error contains the beginning of the name. [`Catalog::lookup`](super::Catalog::lookup) fails
/// with this error if no tool has the name.
///
/// ```
/// let error = mcp_proto::catalog::tool_not_found("nowhere");
/// assert_eq!(error.to_string(), "no tool `nowhere` (-32602)");
/// ```
// T-117: an unknown tool is a protocol error.
#[must_use]
pub fn tool_not_found(name: &str) -> ErrorObject {
    not_found("tool", name)
}

/// Creates the error for an unknown prompt.
///
/// The error contains the beginning of the name. [`Catalog::lookup`](super::Catalog::lookup) fails
/// with this error if no prompt has the name.
///
/// ```
/// let error = mcp_proto::catalog::prompt_not_found("nowhere");
/// assert_eq!(error.to_string(), "no prompt `nowhere` (-32602)");
/// ```
#[must_use]
pub fn prompt_not_found(name: &str) -> ErrorObject {
    not_found("prompt", name)
}

/// Creates the error for an unknown resource, with the code that `revision` defines.
///
/// The error contains the URI. [`Catalog::lookup`](super::Catalog::lookup) fails with this error if
/// no entry matches the URI. A template's handler should respond with it if the URI matches the
/// template, but the resource does not exist.
///
/// ```
/// use mcp_proto::Revision;
/// use mcp_proto::catalog::resource_not_found;
///
/// let error = resource_not_found("file:///nowhere", Revision::V2026_07_28);
/// assert_eq!(error.code, -32602); // `INVALID_PARAMS`; earlier revisions use -32002
/// assert_eq!(error.data.unwrap().as_str(), r#"{"uri":"file:///nowhere"}"#);
/// ```
// STL-46: the code depends on the revision.
#[must_use]
pub fn resource_not_found(uri: &str, revision: Revision) -> ErrorObject {
    let mut data = Vec::new();
    let mut object = Object::begin(&mut data);
    object.str("uri", uri);
    object.end();
    let message = format!("no resource `{}`", quoted(uri));
    let error = ErrorObject::new(revision.rules().resource_not_found, message);
    error.with_data(Raw::from_written(data))
}

/// Creates the error for an unknown entry or argument.
pub(super) fn not_found(kind: &str, name: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("no {kind} `{}`", quoted(name)))
}
