//! Tests of frontmatter: values, differences and hostile input.

use serde_json::{Map, Value, json};

use super::{BYTES_MAX, DEPTH_MAX, difference, parse};

fn read(yaml: &str) -> Result<Value, String> {
    parse(format!("---\n{yaml}\n---\nbody").as_bytes()).map(Value::Object)
}

#[test]
fn values_follow_the_core_schema() {
    let yaml = "name: pdf\ndescription: >-\n  Two\n  lines\nquoted: 'true'\nbool: true\nno: no\n\
        none: ~\nempty:\nint: -12\nhex: 0x1f\noctal: 0o17\nfloat: 1.50\nexponent: 1e3\n\
        version: 1.2.3\nday: 2026-01-02\nmetadata:\n  author: me\n  1: one\n\
        allowed-tools: [Read, \"Bash(git:*)\"]\nlist:\n- a\n- b: c\nunit: +5\nsigned: 0x-1";
    let expected = json!({
        "name": "pdf", "description": "Two lines", "quoted": "true", "bool": true, "no": "no",
        "none": null, "empty": null, "int": -12, "hex": 31, "octal": 15, "float": 1.5,
        "exponent": 1000.0, "version": "1.2.3", "day": "2026-01-02",
        "metadata": {"author": "me", "1": "one"}, "allowed-tools": ["Read", "Bash(git:*)"],
        "list": ["a", {"b": "c"}], "unit": 5, "signed": "0x-1",
    });
    assert_eq!(read(yaml), Ok(expected));
}

#[test]
fn the_block_is_between_the_first_two_lines_of_dashes() {
    for text in ["---\na: 1\n---", "---\r\na: 1\r\n---\r\nb", "\u{feff}---\na: 1\n--- \n---\n"] {
        assert_eq!(parse(text.as_bytes()).map(Value::Object), Ok(json!({"a": 1})), "{text:?}");
    }
    for text in ["", "a: 1", "---\na: 1\n", "----\na: 1\n---\n", " ---\na: 1\n---\n"] {
        assert!(parse(text.as_bytes()).unwrap_err().contains("does not begin"), "{text:?}");
    }
    assert!(parse(b"---\na: \xff\n---\n").unwrap_err().contains("UTF-8"));
}

#[test]
fn hostile_frontmatter_is_refused() {
    let flow = |depth: usize| format!("a: {}{}", "[".repeat(depth), "]".repeat(depth));
    for (yaml, why) in [
        ("a: &x [1]\nb: [*x, *x]".to_owned(), "anchors"),
        ("a: *x".to_owned(), "invalid"),
        ("a: !!binary aGk=".to_owned(), "tags"),
        ("a: .nan".to_owned(), "no form in JSON"),
        ("a: -.Inf".to_owned(), "no form in JSON"),
        ("a: 1e999".to_owned(), "no form in JSON"),
        ("a: 1\na: 2".to_owned(), "repeats"),
        ("? [a]\n: 1".to_owned(), "not a plain string"),
        ("- a".to_owned(), "not a mapping"),
        ("a: \"open".to_owned(), "invalid"),
        ("a: [1".to_owned(), "invalid"),
        (String::new(), "not a mapping"),
        (flow(DEPTH_MAX + 1), "nested"),
        (format!("a: {}", "x".repeat(BYTES_MAX)), "exceeds"),
    ] {
        let error = read(&yaml).unwrap_err();
        assert!(error.contains(why), "{:.40}: {error}", yaml);
    }
    assert!(read(&flow(DEPTH_MAX)).is_ok());
}

#[test]
fn any_difference_is_found() {
    let fields = |value: Value| value.as_object().cloned().unwrap_or_else(Map::new);
    let one = fields(json!({"a": 1, "b": [1.0, {"c": "d"}], "n": null}));
    let same = fields(json!({"a": 1.0, "b": [1, {"c": "d"}], "n": null}));
    assert_eq!(difference(&one, &same), None);
    for (other, field) in [
        (json!({"a": 2, "b": [1, {"c": "d"}], "n": null}), "a"),
        (json!({"a": 1, "b": [1, {"c": "e"}], "n": null}), "b"),
        (json!({"a": 1, "b": [1], "n": null}), "b"),
        (json!({"a": 1, "b": [1, {"c": "d"}]}), "n"),
        (json!({"a": 1, "b": [1, {"c": "d"}], "n": null, "x": null}), "x"),
        (json!({"a": "1", "b": [1, {"c": "d"}], "n": null}), "a"),
    ] {
        assert_eq!(difference(&one, &fields(other)), Some(field));
    }
}
