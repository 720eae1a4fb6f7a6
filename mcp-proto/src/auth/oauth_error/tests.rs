//! Tests of what is kept of an error.

use alloc::string::ToString;

use super::*;

// AUT-34: nothing of a body is repeated but a plain code.
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
