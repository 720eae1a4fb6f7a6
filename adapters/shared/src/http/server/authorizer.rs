//! The authorization of HTTP requests by access tokens.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::request::Parts;
use mcp_proto::http::{AcceptedToken, Guard, InsufficientScope, ParamHeaders, Refusal, Reply};
use mcp_proto::{ErrorObject, Principal, Raw, Secret, code};

use super::authorization::Authorized;
use super::budget::PeerAddress;
use super::request_head::RequestHead;
use super::verifier::{TokenVerifier, VerifyError};
use crate::exec::clock::unix_seconds;
use crate::exec::workers::catch_panic;
use crate::server::handler::context::Cx;
use crate::transport::http_sender::HttpSender;

/// A guard and the verifier that it needs.
#[derive(Clone)]
pub(super) struct Authorizer {
    guard: Guard,
    verifier: Arc<dyn TokenVerifier>,
}

impl Authorizer {
    pub(super) fn new(guard: Guard, verifier: impl TokenVerifier) -> Self {
        Self { guard, verifier: Arc::new(verifier) }
    }

    /// Answers a request for the metadata of the protected resource.
    pub(super) fn metadata_reply(&self, parts: &Parts) -> Option<Reply> {
        self.guard.metadata_reply(parts.method.as_str(), parts.uri.path())
    }

    /// Takes the token out of a head, so that nothing that reads the head can pass it on.
    // AUT-05: tokens are not passed on.
    pub(super) fn take_token(&self, parts: &mut Parts) -> Result<Secret, Refusal> {
        let token = self.guard.bearer(&parts.headers, parts.uri.query())?;
        parts.headers.remove(AUTHORIZATION);
        Ok(token)
    }

    /// Decides whether the request with this token is accepted, and returns its sender.
    pub(super) async fn authorize(
        &self,
        token: Secret,
        head: &RequestHead,
    ) -> Result<Principal, Refusal> {
        let (verifier, its_head) = (Arc::clone(&self.verifier), head.clone());
        // Called inside the future, where a panic is caught.
        let verified = catch_panic(async move { verifier.verify(token, its_head).await }).await;
        let verified = match verified {
            Some(Ok(verified)) => verified,
            Some(Err(VerifyError::Unavailable)) => {
                let why = VerifyError::Unavailable.to_string();
                return Err(Refusal::new(503, why).header("retry-after", RETRY_AFTER));
            }
            Some(Err(error)) => return Err(self.guard.invalid_token(&error.to_string())),
            None => return Err(Refusal::new(500, "the verification of the token failed")),
        };
        let token = self.guard.judge(verified, unix_seconds())?;
        self.guard.allows(&token, []).map_err(|missing| missing.refusal(None, None))?;
        let principal = token.principal().clone();
        head.authorization().accept(Authorized { guard: self.guard.clone(), token });
        Ok(principal)
    }
}

/// How long a client should wait while tokens cannot be verified, in seconds.
const RETRY_AFTER: &str = "5";

impl Cx {
    /// Returns the access token of the request, without its text (feature `http`).
    ///
    /// Returns `None` without [`Http::authorizing`](crate::http::Http::authorizing), and if the
    /// client is not connected over HTTP.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::{Cx, Server};
    ///
    /// let server = Server::new("notes", "1.0.0").tool("email", "Your address", |cx: Cx| {
    ///     let claims = cx.access_token().and_then(|token| token.claims());
    ///     let email = claims.and_then(|claims| claims.member("email")).ok_or("unknown")?;
    ///     Ok(email.to_text().unwrap_or_default().into_owned())
    /// });
    /// # drop(server);
    /// ```
    #[must_use]
    pub fn access_token(&self) -> Option<&AcceptedToken> {
        self.head().and_then(RequestHead::access_token)
    }
}

impl HttpSender for RequestHead {
    fn is_authorized(&self) -> bool {
        self.authorization().accepted().is_some()
    }

    fn scopes(&self) -> Vec<String> {
        let scopes = self.access_token().into_iter().flat_map(|token| token.scopes());
        scopes.map(str::to_owned).collect()
    }

    fn check_scopes(
        &self,
        scopes: &mut dyn Iterator<Item = &str>,
    ) -> Result<(), (ErrorObject, Option<String>)> {
        let mut scopes = scopes.peekable();
        if !self.is_authorized() && scopes.peek().is_some() {
            // Entries with scopes may be added while the server runs.
            let why = "scopes are required, but the server does not authorize requests";
            return Err((ErrorObject::new(code::INVALID_REQUEST, why), None));
        }
        self.allows(scopes)
            .map_err(|missing| (missing.error(), Some(missing.challenge().to_owned())))
    }

    fn check_params(
        &self,
        schema: &Raw,
        arguments: &dyn Fn() -> Option<Raw>,
    ) -> Result<(), ErrorObject> {
        let mirror = ParamHeaders::from_schema(schema).unwrap_or_default();
        if mirror.is_empty() {
            return Ok(());
        }
        let arguments = arguments();
        self.peek(|parts| mirror.check(arguments.as_ref(), &parts.headers))
            .map_err(|mismatch| ErrorObject::new(code::HEADER_MISMATCH, mismatch.to_string()))
    }

    fn challenge(&self, challenge: &str) {
        self.authorization().challenge(challenge);
    }

    fn lane(&self) -> Option<usize> {
        self.peer_address().map(PeerAddress::lane)
    }
}

impl RequestHead {
    /// Checks that the token of the request, if there is one, has these scopes.
    pub(super) fn allows<'a>(
        &self,
        scopes: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), InsufficientScope> {
        match self.authorization().accepted() {
            Some(Authorized { guard, token }) => guard.allows(token, scopes),
            None => Ok(()),
        }
    }

    /// Returns the access token of the request, without its text.
    ///
    /// Returns `None` without [`Http::authorizing`](crate::http::Http::authorizing).
    #[must_use]
    pub fn access_token(&self) -> Option<&AcceptedToken> {
        self.authorization().accepted().map(|authorized| &authorized.token)
    }
}
