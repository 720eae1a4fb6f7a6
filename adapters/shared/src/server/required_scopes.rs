//! The scopes that an access token needs for an entry of the catalog.

use std::sync::{Arc, OnceLock};

use mcp_proto::Caller;

#[cfg(feature = "http")]
use crate::http::RequestHead;
use crate::server::handler::tool_error::ToolError;

/// The scopes that requests for an entry need. Clones share them: those of an entry also apply to
/// its completions.
#[derive(Clone, Default)]
pub(crate) struct RequiredScopes(Arc<OnceLock<Box<[String]>>>);

impl RequiredScopes {
    /// Sets the scopes.
    ///
    /// # Errors
    /// Fails if a scope is malformed, or if scopes are set already.
    pub(crate) fn set(&self, scopes: Vec<String>) -> Result<(), String> {
        if let Some(scope) = scopes.iter().find(|scope| !is_scope(scope)) {
            return Err(format!("the scope {scope:?} is not visible ASCII without `\"` and `\\`"));
        }
        self.0.set(scopes.into()).map_err(|_| "name all its scopes in one call".to_owned())
    }

    /// Returns the scopes; none by default.
    pub(crate) fn get(&self) -> &[String] {
        self.0.get().map_or(&[], |scopes| scopes)
    }

    /// Checks that the token of the caller has the scopes.
    pub(crate) fn check(&self, caller: Option<&Caller>) -> Result<(), ToolError> {
        match self.get() {
            [] => Ok(()),
            scopes => check_scopes(caller, scopes.iter().map(|scope| &**scope)),
        }
    }
}

/// Checks that the token of the caller has these scopes, if the caller sent an HTTP request.
///
/// Others, as over stdio, are not authorized by tokens.
// AUT-01: authorization is for HTTP.
#[cfg(feature = "http")]
pub(crate) fn check_scopes<'a>(
    caller: Option<&Caller>,
    scopes: impl IntoIterator<Item = &'a str>,
) -> Result<(), ToolError> {
    match caller.and_then(Caller::data::<RequestHead>) {
        Some(head) => head.check_scopes(scopes),
        None => Ok(()),
    }
}

#[cfg(not(feature = "http"))]
pub(crate) fn check_scopes<'a>(
    _: Option<&Caller>,
    _: impl IntoIterator<Item = &'a str>,
) -> Result<(), ToolError> {
    Ok(())
}

/// Returns whether entries may have scopes that this caller lacks: it sent an HTTP request.
///
/// A server without an authorization only has scopes if an edit added them.
#[cfg(feature = "http")]
pub(crate) fn are_scopes_checked(caller: Option<&Caller>, has_added: bool) -> bool {
    let head = caller.and_then(Caller::data::<RequestHead>);
    head.is_some_and(|head| has_added || head.is_authorized())
}

#[cfg(not(feature = "http"))]
pub(crate) const fn are_scopes_checked(_: Option<&Caller>, _: bool) -> bool {
    false
}

/// Returns whether this is a scope by RFC 6749.
fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    (1..=256).contains(&text.len()) && text.bytes().all(is_allowed)
}
