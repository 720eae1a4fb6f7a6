//! Introspection requests, and what their responses say about tokens.

use std::fmt::Write as _;

use mcp_proto::auth::{ClientAuthentication, Reach, TokenGrant, TokenRequest, Uri};
use mcp_proto::http::client::HttpMethod;
use mcp_proto::http::{TokenExpiry, VerifiedToken};
use mcp_proto::{Raw, Secret};

use crate::auth::oauth_http::{OAuthRequest, OAuthResponse};
use crate::http::VerifyError;

/// Creates the request that asks about a token.
pub(super) fn request(
    endpoint: Uri,
    client_id: &str,
    secret: &Secret,
    token: &Secret,
) -> OAuthRequest {
    // Authenticated like a request for a token.
    let client = ClientAuthentication::Basic { client_id, secret };
    let encoded = TokenRequest::new(TokenGrant::ClientCredentials).encode(&client);
    // Enough room for every byte as `%XX`: growing would leave copies of the token in memory.
    let mut body = String::with_capacity(3 * token.len() + 64);
    body.push_str("token_type_hint=access_token&token=");
    for byte in token.expose().bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                body.push(char::from(byte));
            }
            // Writing to a string never fails.
            _ => drop(write!(body, "%{byte:02X}")),
        }
    }
    OAuthRequest {
        method: HttpMethod::Post,
        headers: vec![
            ("accept".into(), "application/json".to_owned()),
            ("content-type".into(), "application/x-www-form-urlencoded".to_owned()),
        ],
        authorization: encoded.authorization,
        body: Secret::new(body),
        ..OAuthRequest::get(endpoint, Reach::Loopback)
    }
}

/// Reads a response. Only a definite "no" of the server makes a token invalid.
///
/// Status 401 and 403, for example, mean that this server is refused, and not the token.
pub(super) fn read(response: &OAuthResponse, issuer: &str) -> Result<VerifiedToken, VerifyError> {
    let body = response.body.as_ref().filter(|_| response.status == 200);
    let text = body.and_then(|body| std::str::from_utf8(body).ok());
    let answer = text.and_then(|text| Raw::from_text(text).ok()).filter(Raw::is_object);
    let answer = answer.ok_or(VerifyError::Unavailable)?;
    match answer.member("active").as_ref().map(Raw::as_bytes) {
        Some(b"true") => {}
        Some(b"false") => return Err(VerifyError::Invalid),
        _ => return Err(VerifyError::Unavailable),
    }
    if !is_access_token(&answer) {
        return Err(VerifyError::Invalid);
    }
    let mut token = VerifiedToken::from_claims(&answer).map_err(|_| VerifyError::Unavailable)?;
    // The server answers for itself, and may leave its name out.
    if token.issuer.get_or_insert_with(|| issuer.into()).as_ref() != issuer {
        return Err(VerifyError::Invalid);
    }
    if token.expiry == TokenExpiry::Unknown {
        // The server has just said that the token is active.
        token.expiry = TokenExpiry::Never;
    }
    Ok(token)
}

/// Returns whether nothing says that this is another kind of token: servers also answer for refresh
/// tokens.
fn is_access_token(answer: &Raw) -> bool {
    let is_one_of = |name, kinds: &[&str]| {
        answer.member(name).is_none_or(|kind| {
            let kind = kind.to_text().unwrap_or_default();
            kinds.iter().any(|known| kind.eq_ignore_ascii_case(known))
        })
    };
    // A DPoP token is bound to a key even if the answer has no `cnf`: it is no bearer token.
    is_one_of("token_type", &["bearer", "access_token"])
        && is_one_of("token_use", &["access", "access_token"])
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use mcp_proto::auth::AuthLimits;
    use zeroize::Zeroizing;

    use super::*;

    fn said(status: u16, body: &str) -> Result<VerifiedToken, VerifyError> {
        let body = Some(Zeroizing::new(body.as_bytes().to_vec()));
        read(&OAuthResponse { status, headers: HeaderMap::new(), body }, "https://i")
    }

    #[test]
    fn only_a_definite_no_makes_a_token_invalid() {
        use VerifyError::{Invalid, Unavailable};
        for (status, body, expected) in [
            (200, r#"{"active":false}"#, Invalid),
            (200, r#"{"active":false,"sub":1}"#, Invalid),
            (200, r#"{"active":true,"iss":"https://j"}"#, Invalid),
            (200, r#"{"active":true,"token_type":"refresh_token"}"#, Invalid),
            (200, r#"{"active":true,"token_use":"refresh_token"}"#, Invalid),
            (200, r#"{"active":true,"token_type":1}"#, Invalid),
            // Bound to a key, of which this is no proof.
            (200, r#"{"active":true,"token_type":"DPoP"}"#, Invalid),
            (200, r#"{"active":true,"exp":"soon"}"#, Unavailable),
            (200, r#"{"active":"true"}"#, Unavailable),
            (200, r#"{"active":1}"#, Unavailable),
            (200, "{}", Unavailable),
            (200, "[]", Unavailable),
            (200, "true", Unavailable),
            (200, "<html>", Unavailable),
            (201, r#"{"active":true}"#, Unavailable),
            (302, r#"{"active":true}"#, Unavailable),
            (401, r#"{"active":false}"#, Unavailable),
            (403, r#"{"active":true}"#, Unavailable),
            (503, r#"{"active":true}"#, Unavailable),
        ] {
            assert_eq!(said(status, body), Err(expected), "{status} {body}");
        }
        let headers = HeaderMap::new();
        let too_long = OAuthResponse { status: 200, headers, body: None };
        assert_eq!(read(&too_long, "https://i"), Err(Unavailable));
    }

    #[test]
    fn what_the_server_says_is_kept_for_the_guard() {
        let body = r#"{"active":true,"sub":"ada","client_id":"c","scope":"a b",
            "aud":"https://h/mcp","exp":7,"token_type":"Bearer"}"#;
        let token = said(200, body).unwrap();
        assert_eq!(token.issuer.as_deref(), Some("https://i"));
        assert_eq!((token.audience.len(), token.scopes.len()), (1, 2));
        assert_eq!(token.expiry, TokenExpiry::At(7));
        let token = said(200, r#"{"active":true,"iss":"https://i"}"#).unwrap();
        assert_eq!((token.expiry, token.audience.len()), (TokenExpiry::Never, 0));
    }

    #[test]
    fn requests_are_encoded_and_show_no_secrets() {
        let endpoint = Uri::parse("https://i/introspect", &AuthLimits::default()).unwrap();
        let (secret, token) = (Secret::new("s e"), Secret::new("to+k/e~n.-_9=="));
        let request = request(endpoint, "app:1", &secret, &token);
        let basic = request.authorization.as_ref().map(Secret::expose);
        assert_eq!(basic, Some("Basic YXBwJTNBMTpzK2U="));
        assert_eq!(
            request.body.expose(),
            "token_type_hint=access_token&token=to%2Bk%2Fe%7En.-_9%3D%3D"
        );
        let shown = format!("{request:?}");
        assert!(!shown.contains("to+k") && !shown.contains("YXBw"), "{shown}");
    }
}
