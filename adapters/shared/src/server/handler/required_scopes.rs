//! The scopes that an access token needs for an entry of the catalog.

use std::sync::{Arc, OnceLock};

use mcp_proto::server::Server as Machine;
use mcp_proto::{Caller, ErrorObject, code};

use crate::server::handler::handler_error::{Cause, HandlerError};
use crate::transport::http_sender::{FindSender as _, HttpSender};

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
    pub(crate) fn check(&self, caller: Option<&Caller>) -> Result<(), HandlerError> {
        match self.get() {
            [] => Ok(()),
            scopes => check_scopes(caller, scopes.iter().map(|scope| &**scope)),
        }
    }
}

/// Returns the sender of a request that has arrived over HTTP.
pub(crate) fn http_sender(caller: Option<&Caller>) -> Option<&dyn HttpSender> {
    Machine::sender(caller?)
}

/// The scopes of a caller without the request that had the token: of a task that is run again, or
/// of a client that the program has authenticated.
#[derive(Debug)]
pub(crate) struct GrantedScopes(pub(crate) Vec<String>);

impl GrantedScopes {
    /// Returns the scopes of the token of a caller; `None` if the caller is not authorized by
    /// tokens.
    pub(crate) fn of(caller: Option<&Caller>) -> Option<Self> {
        if let Some(sender) = http_sender(caller) {
            return Some(Self(sender.scopes()));
        }
        caller.and_then(Caller::data::<Self>).map(|granted| Self(granted.0.clone()))
    }

    fn check<'a>(&self, scopes: impl IntoIterator<Item = &'a str>) -> Result<(), HandlerError> {
        let is_missing = |scope: &&str| self.0.iter().all(|granted| granted != scope);
        let missing: Vec<&str> = scopes.into_iter().filter(is_missing).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let why = format!("the client lacks the scopes {}", missing.join(" "));
        let error = ErrorObject::new(code::INVALID_REQUEST, &*why);
        Err(HandlerError(Cause::Forbidden(error, None)))
    }
}

/// Checks that the caller has these scopes, if it is authorized by tokens or by the program.
///
/// Others, as over stdio, are not authorized.
// AUT-01: authorization is for HTTP. AUT-24, AUT-76: nothing passes for the lack of a token.
pub(crate) fn check_scopes<'a>(
    caller: Option<&Caller>,
    scopes: impl IntoIterator<Item = &'a str>,
) -> Result<(), HandlerError> {
    if let Some(sender) = http_sender(caller) {
        let checked = sender.check_scopes(&mut scopes.into_iter());
        return checked
            .map_err(|(error, challenge)| HandlerError(Cause::Forbidden(error, challenge)));
    }
    caller.and_then(Caller::data::<GrantedScopes>).map_or(Ok(()), |granted| granted.check(scopes))
}

/// Returns whether entries may have scopes that this caller lacks.
///
/// A server without an authorization only has scopes if an edit added them.
pub(crate) fn are_scopes_checked(caller: Option<&Caller>, has_added: bool) -> bool {
    if let Some(sender) = http_sender(caller) {
        return has_added || sender.is_authorized();
    }
    caller.and_then(Caller::data::<GrantedScopes>).is_some()
}

/// Returns whether this is a scope by RFC 6749.
fn is_scope(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    (1..=256).contains(&text.len()) && text.bytes().all(is_allowed)
}
