//! Challenges of a server, alone and beside those of other schemes.

use mcp_proto::auth::{AuthLimits, TokenChallenge};
use mcp_proto::http::header::challenges;

/// What a challenge asks for is written in it, and challenges of other schemes change nothing.
///
/// The bytes are the value of `WWW-Authenticate`.
pub fn auth_challenge(data: &[u8]) {
    let limits = AuthLimits::default();
    let parse = |value: &[u8]| TokenChallenge::parse([value], &limits);
    let alone = parse(data);
    let Ok(all) = challenges(data) else { return assert!(alone.is_none()) };
    let is_ours = |scheme: &str| ["bearer", "dpop"].iter().any(|s| scheme.eq_ignore_ascii_case(s));
    assert_eq!(alone.is_some(), all.iter().any(|challenge| is_ours(challenge.scheme)));
    if let Some(found) = &alone {
        let each = |name: &'static str| {
            let ours = all.iter().filter(|challenge| is_ours(challenge.scheme));
            ours.filter_map(move |challenge| challenge.param(name).map(str::to_owned))
        };
        let of = |name| each(name).next();
        if let Some(Ok(uri)) = &found.resource_metadata {
            assert_eq!(of("resource_metadata").as_deref(), Some(uri.as_str()));
        }
        if let Some(scopes) = &found.scopes {
            // Invalid scopes of one challenge leave those of the next.
            let are_named = |named: String| {
                scopes.iter().all(|scope| named.split(' ').any(|name| name == scope))
            };
            assert!(each("scope").any(are_named) || scopes.iter().next().is_none());
        }
        if found.is_insufficient_scope() {
            assert_eq!(of("error").as_deref(), Some("insufficient_scope"));
        }
    }
    for (before, after) in [("Negotiate, ", ""), ("", ", Basic realm=\"scope=z, Bearer\"")] {
        let beside = [before.as_bytes(), data, after.as_bytes()].concat();
        let is_longer = challenges(&beside).is_ok_and(|beside| beside.len() == all.len() + 1);
        assert!(!is_longer || parse(&beside) == alone, "{}", String::from_utf8_lossy(&beside));
    }
}
