//! Tables of redirects with their verdicts, in the order of the checks.

use alloc::format;
use alloc::string::String;

use proptest::prelude::*;

use super::RedirectFault::{
    Code as NoCode, IssuerMismatch, IssuerMissing, Length, Malformed, Repeated, State,
};
use super::*;

const ISSUER: &str = "https://as.example/t";

fn judge_as(sends_issuer: bool, query: &str) -> RedirectVerdict {
    let pending =
        PendingAuthorization { state: Secret::new("s1"), issuer: ISSUER.into(), sends_issuer };
    pending.judge(query, &AuthLimits::default())
}

fn judge(query: &str) -> RedirectVerdict {
    judge_as(false, query)
}

fn code(code: &str) -> RedirectVerdict {
    RedirectVerdict::Code(Secret::new(code))
}

fn denied(error: &str) -> RedirectVerdict {
    RedirectVerdict::Denied(OAuthError::new(error))
}

// AUT-17, AUT-52: the four rows of `iss`, for codes and for errors.
#[test]
fn the_issuer_is_judged_before_codes_and_errors_aut_17_aut_52() {
    let right = "&iss=https%3A%2F%2Fas.example%2Ft";
    let wrong = "&iss=https%3A%2F%2Fevil.example";
    for (advertised, iss, fault) in [
        (true, right, None),
        (true, wrong, Some(IssuerMismatch)),
        (true, "", Some(IssuerMissing)),
        (false, right, None),
        (false, wrong, Some(IssuerMismatch)),
        (false, "", None),
    ] {
        for (rest, verdict) in
            [("code=c1", code("c1")), ("error=access_denied", denied("access_denied"))]
        {
            let wanted = fault.map_or(verdict, RedirectVerdict::Rejected);
            for query in [format!("{rest}&state=s1{iss}"), format!("state=s1{iss}&{rest}")] {
                assert_eq!(judge_as(advertised, &query), wanted, "{advertised} {query}");
            }
        }
    }
}

// AUT-18.
#[test]
fn the_issuer_is_not_normalized_aut_18() {
    for (iss, matches) in [
        ("https://as.example/t", true),
        ("https%3a%2f%2fas.example%2ft", true),
        ("https://as.example/t/", false),
        ("https://AS.example/t", false),
        ("HTTPS://as.example/t", false),
        ("https://as.example:443/t", false),
        ("https://as.example/%2574", false),
        ("https://as.example/t+", false),
        ("https://as.example", false),
        ("", false),
    ] {
        let verdict = judge(&format!("code=c1&state=s1&iss={iss}"));
        let wanted = if matches { code("c1") } else { RedirectVerdict::Rejected(IssuerMismatch) };
        assert_eq!(verdict, wanted, "{iss}");
    }
}

// AUT-16: without the right state, nothing happens to the flow.
#[test]
fn a_redirect_without_the_state_is_foreign_aut_16() {
    for query in [
        "",
        "code=c1",
        "error=access_denied",
        "code=c1&state=",
        "code=c1&state=s",
        "code=c1&state=s12",
        "code=c1&state=S1",
        "code=c1&State=s1",
        "code=c1&state=s1+",
        "code=c1&state=s2&iss=https://evil.example",
    ] {
        assert_eq!(judge(query), RedirectVerdict::Foreign(State), "{query}");
    }
    assert_eq!(judge("state=%731&code=c1"), code("c1"));
}

#[test]
fn the_form_is_judged_first() {
    let max = AuthLimits::default().redirect_bytes_max;
    let padded = |len: usize| {
        let query = String::from("code=c1&state=s1&x=");
        let padding = "x".repeat(len - query.len());
        query + &padding
    };
    for (query, verdict) in [
        (padded(max), code("c1")),
        (padded(max + 1), RedirectVerdict::Foreign(Length)),
        ("code=c1&state=s1&x=%".into(), RedirectVerdict::Foreign(Malformed)),
        ("code=%ff&state=s1".into(), RedirectVerdict::Foreign(Malformed)),
        (format!("code=c1&state=s1&{}", "a=1&".repeat(70)), RedirectVerdict::Foreign(Malformed)),
        ("code=c1&code=c1&state=s1".into(), RedirectVerdict::Foreign(Repeated)),
        ("code=c1&c%6fde=c2&state=s1".into(), RedirectVerdict::Foreign(Repeated)),
        ("code=c1&state=s1&state=s1".into(), RedirectVerdict::Foreign(Repeated)),
        ("code=c1&state=s1&iss=a&iss=a".into(), RedirectVerdict::Foreign(Repeated)),
        ("error=a&error=b&state=s1".into(), RedirectVerdict::Foreign(Repeated)),
        ("code=c1&state=s1&x=1&x=2".into(), code("c1")),
    ] {
        assert_eq!(judge(&query), verdict, "{:.40}", query);
    }
}

#[test]
fn codes_and_errors_are_checked_last() {
    let long = "x".repeat(AuthLimits::default().token_bytes_max + 1);
    let limits = AuthLimits { redirect_bytes_max: 1 << 20, ..AuthLimits::default() };
    let pending = PendingAuthorization {
        state: Secret::new("s1"),
        issuer: ISSUER.into(),
        sends_issuer: false,
    };
    for (query, verdict) in [
        ("", RedirectVerdict::Rejected(NoCode)),
        ("code=", RedirectVerdict::Rejected(NoCode)),
        ("code", RedirectVerdict::Rejected(NoCode)),
        ("code=a%0Ab", RedirectVerdict::Rejected(NoCode)),
        ("code=%C3%A9", RedirectVerdict::Rejected(NoCode)),
        (&format!("code={long}"), RedirectVerdict::Rejected(NoCode)),
        ("code=a+%2Fb", code("a /b")),
        ("error=access_denied&code=c1", denied("access_denied")),
        ("error=", denied("unspecified")),
        ("error=two+words", denied("unspecified")),
        ("error=%1b[31m", denied("unspecified")),
        (&format!("error={}", "e".repeat(64)), denied(&"e".repeat(64))),
        (&format!("error={}", "e".repeat(65)), denied("unspecified")),
    ] {
        let found = pending.judge(&format!("state=s1&{query}"), &limits);
        assert_eq!(found, verdict, "{query:.40}");
    }
}

// AUT-34.
#[test]
fn nothing_secret_is_shown() {
    let pending = PendingAuthorization {
        state: Secret::new("hidden-state"),
        issuer: ISSUER.into(),
        sends_issuer: false,
    };
    let verdict = pending.judge("state=hidden-state&code=hidden-code", &AuthLimits::default());
    assert_eq!(verdict, code("hidden-code"));
    assert!(!format!("{pending:?} {verdict:?}").contains("hidden"));
}

#[test]
fn pasted_text_is_a_url_or_a_query() {
    for (pasted, query) in [
        ("http://127.0.0.1:1/callback?code=a&state=b", "code=a&state=b"),
        ("\n http://127.0.0.1:1/callback?code=a#frag ", "code=a"),
        ("/callback?code=a", "code=a"),
        ("?code=a", "code=a"),
        ("code=a&state=b?c", "code=a&state=b?c"),
        ("", ""),
    ] {
        assert_eq!(query_of_redirect(pasted), query);
    }
}

proptest! {
    #[test]
    fn only_the_right_state_and_issuer_give_a_code(
        query in "((code|state|iss|error|x)=(c1|s1|s2|https://as.example/t|)&?){0,5}",
        sends_issuer: bool,
    ) {
        let count = |pair: &str| query.split('&').filter(|part| *part == pair).count();
        match judge_as(sends_issuer, &query) {
            RedirectVerdict::Code(_) | RedirectVerdict::Denied(_) => {
                prop_assert_eq!(count("state=s1"), 1);
                let named = count("iss=https://as.example/t");
                let is_named = query.split('&').any(|part| part.starts_with("iss="));
                prop_assert!(named == 1 || (!sends_issuer && !is_named));
            }
            RedirectVerdict::Rejected(_) => prop_assert_eq!(count("state=s1"), 1),
            RedirectVerdict::Foreign(_) => {}
        }
    }
}
