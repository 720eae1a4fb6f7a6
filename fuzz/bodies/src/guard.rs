//! A guard in front of a server: any head and any claims, against what its decisions promise.

use mcp_proto::Raw;
use mcp_proto::http::header::challenges;
use mcp_proto::http::{Guard, TokenExpiry, VerifiedToken};

const RESOURCE: &str = "https://mcp.example.com/mcp";
const ISSUER: &str = "https://id.example.com";
const NOW: u64 = 1_800_000_000;

/// Every refusal has one challenge that clients can read, and a token is accepted only if it is
/// for this server and now.
///
/// The first line is a query, the last one the claims of a token; those between are headers.
pub fn guard(data: &[u8]) {
    let guard = Guard::builder(RESOURCE)
        .authorization_server(ISSUER)
        .required_scopes(["a"])
        .implies("b", ["a"])
        .build();
    let Ok(guard) = guard else { panic!("the guard is valid") };
    let lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let [query, headers @ .., claims] = &lines[..] else { return };
    let headers: Vec<(String, &[u8])> = headers
        .iter()
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = line.split_at_checked(colon)?;
            Some((String::from_utf8_lossy(name).into_owned(), value.get(1..)?))
        })
        .collect();
    match guard.bearer(&headers, Some(&String::from_utf8_lossy(query))) {
        Ok(token) => {
            let named =
                headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization"));
            assert_eq!(named.count(), 1);
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
            assert!(!token.is_empty() && token.expose().bytes().all(is_token));
        }
        Err(refusal) => {
            assert!(matches!(refusal.status, 400 | 401));
            check_challenge(&refusal.headers[0].1);
        }
    }
    let claims = std::str::from_utf8(claims).ok().and_then(|text| Raw::from_text(text).ok());
    if let Some(Ok(token)) = claims.map(|claims| VerifiedToken::from_claims(&claims)) {
        judge(&guard, token);
    }
}

fn judge(guard: &Guard, token: VerifiedToken) {
    let is_ours = token.issuer.as_deref() == Some(ISSUER)
        && token.confirmation.is_none()
        && token.audience.iter().any(|audience| **audience == *RESOURCE)
        && matches!(token.expiry, TokenExpiry::At(expiry) if expiry.saturating_add(30) > NOW);
    let granted = token.scopes.clone();
    match guard.judge(token, NOW) {
        Ok(token) => {
            assert!(is_ours);
            let is_allowed = granted.iter().any(|scope| matches!(&**scope, "a" | "b"));
            match guard.allows(&token, []) {
                Ok(()) => assert!(is_allowed),
                Err(insufficient) => {
                    assert!(!is_allowed);
                    check_challenge(insufficient.challenge());
                }
            }
        }
        Err(refusal) => {
            assert_eq!(refusal.status, 401);
            check_challenge(&refusal.headers[0].1);
        }
    }
}

fn check_challenge(value: &str) {
    let Ok(challenges) = challenges(value.as_bytes()) else { panic!("{value}") };
    let [challenge] = &challenges[..] else { panic!("{value}") };
    assert_eq!((challenge.scheme, challenge.param("scope")), ("Bearer", Some("a")));
}
