//! Tests of what is kept of an error.

use alloc::string::ToString;

use super::*;

// AUT-34: nothing of a body is repeated but a plain code, and a printable description.
#[test]
fn only_plain_codes_are_kept_aut_34() {
    let long = "e".repeat(65);
    for (code, kept) in [
        ("invalid_grant", "invalid_grant"),
        ("https://x/error?a", "https://x/error?a"),
        (&long[..64], &long[..64]),
        (&long, "unspecified"),
        ("", "unspecified"),
        ("two words", "unspecified"),
        ("\u{1b}[2J", "unspecified"),
        ("\u{e9}", "unspecified"),
    ] {
        assert_eq!(OAuthError::new(code).code(), kept);
        assert!(OAuthError::new(code).to_string().contains(kept));
    }
}

#[test]
fn an_error_is_read_from_a_body() {
    let read = |body: &str| OAuthError::from_body(body.as_bytes(), &AuthLimits::default());
    for (body, code) in [
        (r#"{"error":"a","error_description":"hidden"}"#, Some("a")),
        (r#"{"error":7}"#, Some("unspecified")),
        (r#"{"error":null}"#, None),
        ("{}", None),
        ("error=a", None),
        ("", None),
    ] {
        assert_eq!(read(body).as_ref().map(OAuthError::code), code, "{body}");
    }
}

#[test]
fn descriptions_are_short_printable_and_repeat_no_secret_aut_34() {
    let long = "d".repeat(300);
    for (text, kept) in [
        ("The user is locked.", Some("The user is locked.")),
        (" a\r\n\u{1b}[31mb\u{202e}\u{e9} ", Some("a[31mb")),
        (&*long, Some(&long[..256])),
        ("", None),
        ("\u{7}", None),
    ] {
        let error = OAuthError::new("e").describe(text);
        assert_eq!(error.description(), kept, "{text:?}");
        let shown = error.to_string();
        assert!(kept.is_none_or(|kept| shown.ends_with(&alloc::format!("`e`: {kept}"))), "{shown}");
    }
    let described = |text| OAuthError::new("e").describe(text);
    let secrets = || {
        ["refresh-token-of-ada", "", "s1", "p\u{e4}ss\nword-of-the-client", "key/of/the/server"]
            .into_iter()
    };
    for (text, is_kept) in [
        ("unknown token", true),
        ("unknown token refresh-token-of-ada", false),
        ("unknown token refresh-token-of...", false),
        ("unknown token ...token-of-ada", false),
        ("unknown token ...en-of-ada", true),
        ("password-of-the-client is wrong", false),
        ("p\u{e4}ss\nword-of-the-client is wrong", false),
        ("state s1 is over", false),
        ("unknown token refresh%2dtoken%2Dof%2dada", false),
        (r"unknown token refresh\u002dtoken\u002dof\u002dada", false),
        (r#"{\"token\":\"key\\/of\\/the\\/server\"}"#, false),
        ("100% of %73tates are %6Fver", true),
    ] {
        assert_eq!(described(text).without(secrets()).description().is_some(), is_kept, "{text}");
    }
    let read = |body: &str| OAuthError::from_body(body.as_bytes(), &AuthLimits::default());
    for body in [r#"{"error":"e","error_description":7}"#, r#"{"error":"e"}"#] {
        assert_eq!(read(body), Some(OAuthError::new("e")));
    }
    let body = r#"{"error":{},"error_description":"x"}"#;
    assert_eq!(read(body), Some(OAuthError::new("").describe("x")));
}
