//! The queries of redirects, against a plain reading of the rules.

use mcp_proto::Secret;
use mcp_proto::auth::{AuthLimits, PendingAuthorization, RedirectVerdict};

const ISSUER: &str = "https://as.example";

/// A code is taken only from a query with the right state, once, and the right issuer.
///
/// The first byte says whether the issuer is announced; the query follows.
pub fn auth_redirect(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let sends_issuer = first % 2 == 1;
    let query = String::from_utf8_lossy(rest);
    let pending =
        PendingAuthorization { state: Secret::new("s1"), issuer: ISSUER.into(), sends_issuer };
    let verdict = pending.judge(&query, &AuthLimits::default());
    assert!(!format!("{pending:?}").contains("s1"));
    let (Some(states), Some(issuers), Some(errors), Some(codes)) = (
        values(&query, "state"),
        values(&query, "iss"),
        values(&query, "error"),
        values(&query, "code"),
    ) else {
        assert!(matches!(verdict, RedirectVerdict::Foreign(_)), "{query}: {verdict:?}");
        return;
    };
    let is_ours = states == ["s1"];
    let is_right = issuers == [ISSUER] || issuers.is_empty() && !sends_issuer;
    match verdict {
        RedirectVerdict::Code(code) => {
            assert!(is_ours && is_right && errors.is_empty(), "{query}");
            assert_eq!(codes, [code.expose()], "{query}");
        }
        RedirectVerdict::Denied(_) => assert!(is_ours && is_right && errors.len() == 1, "{query}"),
        RedirectVerdict::Rejected(_) => {
            assert!(is_ours && (!is_right || errors.is_empty()), "{query}");
        }
        RedirectVerdict::Foreign(_) => {
            let repeats = [&states, &issuers, &errors, &codes].iter().any(|all| all.len() > 1);
            assert!(!is_ours || repeats || query.split('&').count() > 64, "{query}");
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the values of a parameter, or `None` if the query cannot be decoded.
fn values(query: &str, name: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    for pair in query.split('&') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (key, value) = (decoded(key)?, decoded(value)?);
        if key == name && !pair.is_empty() {
            values.push(value);
        }
    }
    Some(values)
}

fn decoded(text: &str) -> Option<String> {
    let text = text.replace('+', " ");
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits =
            part.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}
