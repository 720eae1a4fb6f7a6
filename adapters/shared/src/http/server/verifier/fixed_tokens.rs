//! A verifier of tokens that are given at the start.

use mcp_proto::Secret;
use mcp_proto::http::{Guard, TokenExpiry, VerifiedToken};

use super::token_verifier::{TokenVerifier, VerifyError};
use crate::box_future::BoxFuture;
use crate::http::server::request_head::RequestHead;

/// Verifies tokens that are given at the start, for local servers and tests.
///
/// Each token counts as issued by the guard's first authorization server for the guard's first
/// audience, and never expires. A token is compared with all known ones, in a time that does not
/// depend on their contents.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::http::{FixedTokens, Guard, Http};
///
/// let guard = Guard::builder("http://127.0.0.1:8080/mcp")
///     .authorization_server("https://id.example.com")
///     .build()?;
/// let tokens = FixedTokens::new(&guard)
///     .token("a-long-random-text", "ada", ["notes:read", "notes:write"])
///     .token("another-long-random-text", "eve", ["notes:read"]);
/// let options = Http::new().authorizing(guard, tokens);
/// # drop(options);
/// # Ok::<(), mcp_tokio::proto::http::InvalidGuard>(())
/// ```
#[derive(Clone)]
pub struct FixedTokens {
    issued: VerifiedToken,
    tokens: Vec<(Secret, VerifiedToken)>,
}

impl FixedTokens {
    /// Creates a verifier for this guard that knows no token yet.
    #[must_use]
    pub fn new(guard: &Guard) -> Self {
        let mut issued =
            VerifiedToken::new(guard.authorization_servers().next().unwrap_or_default());
        issued.audience = guard.audiences().take(1).map(Into::into).collect();
        issued.expiry = TokenExpiry::Never;
        Self { issued, tokens: Vec::new() }
    }

    /// Adds a token of this user, with these scopes.
    ///
    /// Use at least 128 random bits. Tokens of other characters than letters, digits and `-._~+/`,
    /// with `=` at the end, are never found. If two tokens are equal, the one added last applies.
    #[must_use]
    pub fn token<'a>(
        mut self,
        token: impl Into<Secret>,
        subject: &str,
        scopes: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut issued = self.issued.clone();
        issued.subject = Some(subject.into());
        issued.scopes = scopes.into_iter().map(Into::into).collect();
        self.tokens.push((token.into(), issued));
        self
    }

    fn find(&self, token: &Secret) -> Option<&VerifiedToken> {
        // Not `find`: the time must not tell which of them is equal.
        let equal = self.tokens.iter().filter(|(known, _)| known == token);
        equal.map(|(_, issued)| issued).last()
    }
}

impl TokenVerifier for FixedTokens {
    fn verify(
        &self,
        token: Secret,
        _: RequestHead,
    ) -> BoxFuture<'static, Result<VerifiedToken, VerifyError>> {
        let found = self.find(&token).cloned().ok_or(VerifyError::Invalid);
        Box::pin(std::future::ready(found))
    }
}

opaque_debug!(FixedTokens, it => tokens: it.tokens.len());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_tokens_are_found_and_none_is_shown() {
        let guard = Guard::builder("https://h/mcp").authorization_server("https://i").build();
        let tokens = FixedTokens::new(&guard.unwrap())
            .token("abc", "ada", ["read"])
            .token("abd", "eve", [])
            .token("abd", "bob", []);
        let subject =
            |token: &str| tokens.find(&token.into()).and_then(|found| found.subject.clone());
        for (token, expected) in
            [("abc", Some("ada")), ("abd", Some("bob")), ("ab", None), ("abcd", None), ("", None)]
        {
            assert_eq!(subject(token).as_deref(), expected, "{token}");
        }
        assert!(!format!("{tokens:?}").contains("abc"));
    }
}
