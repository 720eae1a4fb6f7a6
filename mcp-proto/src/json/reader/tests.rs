//! Values taken one by one, and what is left where it was because it is of another kind.

use super::*;

fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

#[test]
fn the_kind_of_what_comes_next_is_told_without_taking_it() {
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
        let mut reader = Reader::new(&raw);
        assert_eq!(reader.kind(), Some(kind), "{text}");
        assert_eq!(reader.raw(), raw);
        assert_eq!(reader.kind(), None, "{text} was all");
    }
}

#[test]
fn an_integer_may_have_a_fraction_of_zero_as_far_as_those_are_exact() {
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
        // From here on, one such number stands for several.
        ("9007199254740992.0", None),
        ("-9007199254740992.0", None),
        ("9007199254740994.0", None),
        ("9223372036854775808", None),
        ("1e400", None),
        ("0.5", None),
        ("\"3\"", None),
    ] {
        let raw = raw(text);
        let mut reader = Reader::new(&raw);
        assert_eq!(reader.integer(), number, "{text}");
        assert_eq!(reader.kind().is_none(), number.is_some(), "{text} is taken if it is one");
    }
}

#[test]
fn a_member_is_looked_at_without_taking_anything() {
    let object = raw(r#" {"type":"t\u0065xt","size":[1],"type":"other"}"#);
    let mut reader = Reader::new(&object);
    assert_eq!(reader.peek_text("type").as_deref(), Some(&b"text"[..]), "the first of its name");
    assert_eq!(reader.peek_text("size"), None, "it is no text");
    assert_eq!(reader.peek_text("none"), None);
    assert_eq!(reader.peek_member("size"), Some(raw("[1]")));
    assert_eq!(reader.raw(), object);
}

#[test]
fn the_text_of_a_member_is_found_wherever_it_stands() {
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
            Reader::new(&raw(object)).peek_text("type").as_deref(),
            text.map(str::as_bytes),
            "{object}"
        );
    }
}

#[test]
fn a_word_is_taken_however_it_is_spelt_and_no_other_is() {
    for (value, is_taken) in [
        (r#""text""#, true),
        (r#""t\u0065xt""#, true),
        (r#""t\u0066xt""#, false),
        (r#""tex""#, false),
        ("1", false),
    ] {
        let raw = raw(value);
        let mut reader = Reader::new(&raw);
        assert_eq!(reader.take_word("text"), is_taken, "{value}");
        assert_eq!(reader.kind().is_none(), is_taken, "{value} is still there");
    }
}
