//! Reading of single values, and values of another type that are not consumed.

use super::*;

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

#[test]
fn kind_does_not_consume_the_value() {
    for (text, kind) in [
        ("[1]", Kind::Array),
        ("true", Kind::Bool),
        ("false", Kind::Bool),
        ("null", Kind::Null),
        ("0", Kind::Number),
        ("-1.5", Kind::Number),
        (r#"{"a":1}"#, Kind::Object),
        (r#""a""#, Kind::Text),
    ] {
        let raw = raw(text);
        let mut reader = JsonReader::new(&raw);
        assert_eq!(reader.kind(), Some(kind), "{text}");
        assert_eq!(reader.raw(), raw);
        assert_eq!(reader.kind(), None, "{text} was not consumed");
    }
}

#[test]
fn an_integer_may_have_a_zero_fraction_below_2_to_the_53() {
    for (text, number) in [
        ("0", Some(0)),
        ("-0.0", Some(0)),
        ("3.0", Some(3)),
        ("-3e0", Some(-3)),
        ("1.5e1", Some(15)),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9007199254740991.0", Some((1 << 53) - 1)),
        ("-9007199254740991.0", Some(1 - (1 << 53))),
        // Larger floats do not represent a single integer.
        ("9007199254740992.0", None),
        ("-9007199254740992.0", None),
        ("9007199254740994.0", None),
        ("9223372036854775808", None),
        ("1e400", None),
        ("0.5", None),
        ("\"3\"", None),
    ] {
        let raw = raw(text);
        let mut reader = JsonReader::new(&raw);
        assert_eq!(reader.integer(), number, "{text}");
        assert_eq!(
            reader.kind().is_none(),
            number.is_some(),
            "{text} must be consumed exactly if it is an integer"
        );
    }
}

#[test]
fn peeking_does_not_consume_the_object() {
    let object = raw(r#" {"type":"t\u0065xt","size":[1],"type":"other"}"#);
    let mut reader = JsonReader::new(&object);
    assert_eq!(
        reader.peek_text("type").as_deref(),
        Some(&b"text"[..]),
        "the first of repeated members"
    );
    assert_eq!(reader.peek_text("size"), None, "not a string");
    assert_eq!(reader.peek_text("none"), None);
    assert_eq!(reader.peek_member("size"), Some(raw("[1]")));
    assert_eq!(reader.raw(), object);
}

#[test]
fn peek_text_finds_a_string_member_at_any_position() {
    for (object, text) in [
        (r#"{"type":"x","other":"y"}"#, Some("x")),
        (r#"{ "type" : "x" }"#, Some("x")),
        (r#"{"typ\u0065":"\u0078"}"#, Some("x")),
        (r#"{"other":"y","type":"x"}"#, Some("x")),
        (r#"{"type":7}"#, None),
        (r#"{"other":"type"}"#, None),
        (r#"["type","x"]"#, None),
        (r#""type""#, None),
        ("{}", None),
    ] {
        assert_eq!(
            JsonReader::new(&raw(object)).peek_text("type").as_deref(),
            text.map(str::as_bytes),
            "{object}"
        );
    }
}

#[test]
fn take_word_accepts_any_spelling() {
    for (value, is_taken) in [
        (r#""text""#, true),
        (r#""t\u0065xt""#, true),
        (r#""t\u0066xt""#, false),
        (r#""tex""#, false),
        ("1", false),
    ] {
        let raw = raw(value);
        let mut reader = JsonReader::new(&raw);
        assert_eq!(reader.take_word("text"), is_taken, "{value}");
        assert_eq!(
            reader.kind().is_none(),
            is_taken,
            "{value} must be consumed exactly if it matches"
        );
    }
}
