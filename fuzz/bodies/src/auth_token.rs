//! Responses of token and registration endpoints.

use mcp_proto::Secret;
use mcp_proto::auth::{AuthLimits, ClientAuthMethod, RegisteredClient, TokenResponse};

const NOW: u64 = 1_790_000_000;

/// What is taken from a response fits into a header and into the limits, and no error repeats more
/// of the response than a description of 256 characters.
///
/// The first byte picks the status; the body follows.
pub fn auth_token(data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let status = [200, 201, 302, 400, 401, 429, 500][usize::from(first % 7)];
    let limits = AuthLimits::default();
    match TokenResponse::parse(status, body, NOW, &limits) {
        Ok(tokens) => {
            assert!(status < 300);
            assert!(tokens.access_token.expose().bytes().all(|byte| byte.is_ascii_graphic()));
            is_bounded(Some(&tokens.access_token), limits.token_bytes_max);
            is_bounded(tokens.refresh_token.as_ref(), limits.token_bytes_max);
            let latest = NOW + 10 * 366 * 86_400;
            assert!(tokens.expires_at.is_none_or(|time| (NOW..latest).contains(&time)));
            assert!(tokens.scopes.is_none_or(|scopes| !scopes.is_empty()));
        }
        Err(error) => is_short(&error.to_string()),
    }
    match TokenResponse::parse_id_jag(status, body, &limits) {
        Ok(assertion) => is_bounded(Some(&assertion), limits.token_bytes_max),
        Err(error) => is_short(&error.to_string()),
    }
    match RegisteredClient::parse(status, body, ClientAuthMethod::None, &limits) {
        Ok(client) => {
            assert!((1..=limits.client_id_bytes_max).contains(&client.client_id.len()));
            is_bounded(client.secret.as_ref(), limits.client_secret_bytes_max);
            assert!(client.auth_method.works_with(client.credential_kind()));
        }
        Err(error) => is_short(&error.to_string()),
    }
}

fn is_bounded(secret: Option<&Secret>, bytes_max: usize) {
    assert!(secret.is_none_or(|secret| (1..=bytes_max).contains(&secret.len())));
}

fn is_short(error: &str) {
    assert!(error.len() < 400 && error.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{error}");
}
