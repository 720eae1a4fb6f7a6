//! The error for a token without the scopes of an operation.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::code;
use crate::http::refusal::Refusal;
use crate::revision::Revision;
use crate::rpc::{ErrorObject, RequestId};

/// The error for a token without the scopes of an operation.
///
/// ```
/// use mcp_proto::http::InsufficientScope;
/// use mcp_proto::{RequestId, Revision};
///
/// fn refuse(error: &InsufficientScope, id: &RequestId) {
///     let refusal = error.refusal(Some(Revision::V2025_11_25), Some(id));
///     assert_eq!(refusal.status, 403);
///     assert_eq!(refusal.headers[0].0, "www-authenticate");
/// }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InsufficientScope {
    scopes: Vec<Box<str>>,
    why: Box<str>,
    challenge: String,
}

impl InsufficientScope {
    pub(super) fn new(scopes: Vec<Box<str>>, why: String, challenge: String) -> Self {
        Self { scopes, why: why.into(), challenge }
    }

    /// Iterates over all scopes that the operation needs.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().map(|scope| &**scope)
    }

    /// Returns the value of the `WWW-Authenticate` header.
    #[must_use]
    pub fn challenge(&self) -> &str {
        &self.challenge
    }

    /// Returns the JSON-RPC error for the body of the response.
    #[must_use]
    pub fn error(&self) -> ErrorObject {
        ErrorObject::new(code::INVALID_REQUEST, &*self.why)
    }

    /// Returns the refusal to send, with status 403. Its body is the error for the request `id`.
    #[must_use]
    pub fn refusal(&self, revision: Option<Revision>, id: Option<&RequestId>) -> Refusal {
        let refusal = Refusal::with_error(403, revision, id, &self.error());
        refusal.header("www-authenticate", self.challenge.clone())
    }
}

impl fmt::Display for InsufficientScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl core::error::Error for InsufficientScope {}
