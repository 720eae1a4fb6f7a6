//! Tests of the checks against JSON Schemas, their errors and their bounds.

use super::*;

fn check(schema: &str, value: &str) -> Result<(), String> {
    Schemas::new(Author::Peer)
        .check(&Raw::from_text(schema).unwrap(), &Raw::from_text(value).unwrap())
}

#[test]
fn a_mismatch_names_the_place_but_not_the_value() {
    let schema = concat!(
        r##"{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"##,
        r##""required":["n"],"$defs":{"n":{"type":"integer"}}}"##,
    );
    assert_eq!(check(schema, r#"{"n":1}"#), Ok(()));
    let wrong = check(schema, r#"{"n":"secret"}"#).unwrap_err();
    assert!(wrong.contains("/n") && wrong.contains("integer"), "{wrong}");
    assert!(!wrong.contains("secret"), "{wrong}");
    assert!(check(schema, "{}").unwrap_err().contains("required"));
}

// JSON-26
#[test]
fn the_dialect_is_2020_12_unless_the_schema_says_otherwise_json_26() {
    // `prefixItems` exists in 2020-12 only.
    let tuple = r#"{"prefixItems":[{"type":"integer"}]}"#;
    assert!(check(tuple, r#"["a"]"#).is_err());
    let draft7 = concat!(
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","#,
        r#""prefixItems":[{"type":"integer"}]}"#,
    );
    assert_eq!(check(draft7, r#"["a"]"#), Ok(()));
    let unknown = r#"{"$schema":"https://example.com/dialect"}"#;
    assert!(check(unknown, "1").unwrap_err().contains("example.com/dialect"));
}

// JSON-27
#[test]
fn external_references_are_not_fetched_json_27() {
    for target in
        ["http://127.0.0.1:1/a.json", "file:///etc/hostname", "other.json", "#/$defs/nowhere"]
    {
        let wrong = check(&format!(r#"{{"$ref":"{target}"}}"#), "1").unwrap_err();
        assert!(wrong.contains(target) && wrong.contains("does not contain"), "{wrong}");
    }
}

// JSON-28
#[test]
fn hostile_schemas_are_refused_quickly_json_28() {
    let mut bomb = String::from(r##"{"$ref":"#a0","$defs":{"##);
    for level in 0..18 {
        let next = level + 1;
        let reference = format!(r##"{{"$ref":"#a{next}"}}"##);
        bomb +=
            &format!(r#""a{level}":{{"$anchor":"a{level}","allOf":[{reference},{reference}]}},"#);
    }
    bomb += r#""a18":{"$anchor":"a18","type":"integer"}}}"#;
    assert!(check(&bomb, "1").unwrap_err().contains("too many steps"));
    let circle = r##"{"allOf":[{"$ref":"#"}]}"##;
    assert!(check(circle, "1").unwrap_err().contains("recursive"));
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(100), "}".repeat(100));
    assert!(check(&deep, "1").unwrap_err().contains("too deeply"));
    let pattern = r#"{"pattern":"^(a+)+$"}"#;
    assert!(check(pattern, &format!("\"{}!\"", "a".repeat(50_000))).is_err());
    let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(SCHEMA_BYTES_MAX));
    assert!(check(&long, "1").unwrap_err().contains("exceeds"));
}

#[test]
fn local_schemas_may_be_recursive() {
    let list = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
    let list = Raw::from_text(list).unwrap();
    let schemas = Schemas::new(Author::Local);
    let value = |text| Raw::from_text(text).unwrap();
    assert_eq!(schemas.check(&list, &value(r#"{"next":{"next":{}}}"#)), Ok(()));
    assert!(
        schemas.check(&list, &value(r#"{"next":{"next":1}}"#)).unwrap_err().contains("/next/next")
    );
}

#[test]
fn the_cache_is_bounded() {
    let schemas = Schemas::new(Author::Peer);
    for number in 0..3 * CACHED_MAX {
        schemas.compile(&Raw::from_text(&format!(r#"{{"minimum":{number}}}"#)).unwrap()).unwrap();
    }
    assert!(schemas.cache.lock().unwrap().compiled.len() <= CACHED_MAX);
}

#[test]
fn only_the_first_mismatch_is_described() {
    let schema = r#"{"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}"#;
    let wrong = check(schema, r#"{"a":"x","b":"y"}"#).unwrap_err();
    assert!(wrong.contains("/a") && !wrong.contains("/b"), "{wrong}");
}

#[test]
fn a_value_with_too_many_nodes_is_refused_before_it_is_parsed() {
    let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    let schemas = Schemas::new(Author::Local);
    let check = |count| {
        let integers = Raw::from_text(r#"{"items":{"type":"integer"}}"#).unwrap();
        schemas.check(&integers, &Raw::from_text(&list(count)).unwrap())
    };
    // The array itself counts twice.
    let fits = usize::try_from(VALUE_NODES_MAX).unwrap() - 1;
    assert_eq!(check(fits), Ok(()));
    assert!(check(fits + 1).unwrap_err().contains("more than"));
}

/// Each alternative of each element differs, and all of the differences would be kept.
#[test]
fn the_differences_of_a_large_value_are_not_collected() {
    let alternatives = vec![r#"{"type":"string"}"#; 50].join(",");
    let schema = format!(r#"{{"items":{{"anyOf":[{alternatives}]}}}}"#);
    let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    assert!(check(&schema, &list(10)).unwrap_err().contains("/0"));
    assert_eq!(check(&schema, &list(50_000)).unwrap_err(), "the value does not match the schema");
}

#[test]
fn the_work_for_a_value_is_bounded_by_schema_and_value_json_28() {
    let objects = |count: usize| {
        let one = r#"{"a":{"type":"integer"}}"#;
        format!(r#"{{"items":{{"allOf":[{}]}}}}"#, vec![one; count].join(","))
    };
    let list = format!("[{}0]", "0,".repeat(20_000));
    assert_eq!(check(&objects(50), &list), Ok(()));
    assert!(check(&objects(2_000), &list).unwrap_err().contains("too many steps"));
    assert_eq!(check(&objects(2_000), "[0,0,0]"), Ok(()));
    let many = format!(r#"{{"enum":[{}0]}}"#, "1,".repeat(30_000));
    assert!(check(&many, "0").unwrap_err().contains("too many steps"));
}

#[test]
fn the_work_for_patterns_is_bounded_together_json_28() {
    let patterns = |count: usize, pattern: &str| {
        let each = format!(r#"{{"pattern":"{pattern}"}}"#);
        format!(r#"{{"allOf":[{}]}}"#, vec![&*each; count].join(","))
    };
    let text = |length: usize| format!("\"{}\"", "a".repeat(length));
    assert_eq!(check(&patterns(64, "^a+$"), &text(1_000)), Ok(()));
    assert!(check(&patterns(65, "^a+$"), &text(1)).unwrap_err().contains("more than 64 patterns"));
    let slow = patterns(20, "(a|b)*a(a|b){500}");
    assert_eq!(check(&slow, &text(1_000)), Ok(()));
    assert!(check(&slow, &text(100_000)).unwrap_err().contains("too many steps"));
    // All patterns share one budget for their compiled size.
    let large = r"(\\p{L}{90}){9}";
    assert!(check(&patterns(60, large), &text(1)).unwrap_err().contains("cannot be used"));
}
