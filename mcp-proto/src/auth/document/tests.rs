//! Tests of what is a document, and of the types of its members.

use alloc::format;
use alloc::vec::Vec;

use super::InvalidDocument::{Json, Length, Member};
use super::*;

fn read<T>(text: &str, read: impl Fn(&Document<'_>) -> Read<T>) -> Read<T> {
    Document::parse(text.as_bytes(), 100, &AuthLimits::default()).and_then(|d| read(&d))
}

#[test]
fn only_one_object_within_the_limits_is_a_document() {
    let deep = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    let long = |len: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(len - 8));
    for (text, error) in [
        (" {} ", None),
        ("{\"a\":null}\n", None),
        (&deep(15), None),
        (&deep(16), Some(Json)),
        (&long(100), None),
        (&long(101), Some(Length)),
        ("", Some(Json)),
        ("<html></html>", Some(Json)),
        ("[]", Some(Json)),
        ("\"a\"", Some(Json)),
        ("{}{}", Some(Json)),
        ("{\"a\":}", Some(Json)),
        ("{\"a\":1,}", Some(Json)),
        ("{\"a\":\"\\ud800\"}", None),
    ] {
        assert_eq!(read(text, |_| Ok(())).err(), error, "{text}");
    }
    assert!(Document::parse(b"{\"a\":\"\xff\"}", 100, &AuthLimits::default()).is_err());
}

#[test]
fn members_have_the_wanted_type_and_occur_once() {
    let text = |json: &str| read(json, |d| Ok(d.text("a")?.map(Cow::into_owned)));
    assert_eq!(text("{}"), Ok(None));
    assert_eq!(text(r#"{"a":null}"#), Ok(None));
    assert_eq!(text(r#"{"a":"x\u0041\/"}"#), Ok(Some("xA/".into())));
    assert_eq!(text(r#"{"\u0061":"x"}"#), Ok(Some("x".into())));
    for json in
        [r#"{"a":1}"#, r#"{"a":["x"]}"#, r#"{"a":"x","a":"x"}"#, r#"{"a":"x","\u0061":"y"}"#]
    {
        assert_eq!(text(json), Err(Member("a")), "{json}");
    }
    let flag = |json: &str| read(json, |d| d.flag("a"));
    assert_eq!(flag("{}"), Ok(false));
    assert_eq!(flag(r#"{"a":true}"#), Ok(true));
    assert_eq!(flag(r#"{"a":"true"}"#), Err(Member("a")));
    let integer = |json: &str| read(json, |d| d.integer("a"));
    assert_eq!(integer(r#"{"a":18446744073709551615}"#), Ok(Some(u64::MAX)));
    assert_eq!(integer(r#"{"a":1.9e9}"#), Ok(Some(1_900_000_000)));
    for json in [r#"{"a":-1}"#, r#"{"a":1.5}"#, r#"{"a":"1"}"#, r#"{"a":18446744073709551616}"#] {
        assert_eq!(integer(json), Err(Member("a")), "{json}");
    }
    let texts = |json: &str| {
        let texts = read(json, |d| d.texts("a").map(|a| a.map(|a| a.join(","))));
        texts.map(|texts| texts.into_iter().collect::<Vec<_>>())
    };
    assert_eq!(texts("{}"), Ok(Vec::new()));
    assert_eq!(texts(r#"{"a":["x","y"]}"#), Ok(["x,y".into()].into()));
    for json in [r#"{"a":"x"}"#, r#"{"a":["x",1]}"#, r#"{"a":{}}"#] {
        assert_eq!(texts(json), Err(Member("a")), "{json}");
    }
}

// AUT-34.
#[test]
fn secrets_are_printable_and_bounded_and_not_shown() {
    let secret = |json: &str| read(json, |d| d.secret("a", 4));
    assert_eq!(secret(r#"{"a":"1 ~\u0041"}"#), Ok(Some(Secret::new("1 ~A"))));
    for json in [r#"{"a":"12345"}"#, r#"{"a":"\n"}"#, r#"{"a":"é"}"#, r#"{"a":1}"#] {
        assert_eq!(secret(json), Err(Member("a")), "{json}");
    }
    let document = Document::parse(b"{\"a\":1}", 100, &AuthLimits::default());
    assert_eq!(format!("{document:?}"), "Ok(Document(7 bytes))");
}
