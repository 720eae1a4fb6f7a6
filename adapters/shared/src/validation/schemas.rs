//! JSON Schemas of tools, compiled once and used within bounds; knows nothing of who sends what.
//!
//! Nothing is ever fetched (JSON-27), and patterns are matched in linear time. A schema of the
//! peer's is unrolled in thought before it is compiled: what would take too many steps for each
//! value, because references multiply or go in circles, is refused (JSON-28). Schemas of our own
//! may be as they like.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{PatternOptions, Validator};
use mcp_proto::Raw;
use serde_json::Value;

/// Bytes of a schema.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;

/// Schemas within a schema, with each reference replaced by what it refers to.
const STEPS_MAX: u64 = 20_000;

/// Nested references and schemas.
const DEPTH_MAX: usize = 64;

/// Schemas that are kept compiled, and the bytes of their text; then all are forgotten.
const KEPT_MAX: usize = 1024;
const KEPT_BYTES_MAX: usize = 4 << 20;

/// What a check of a value found out in no more than these bytes.
const WORDS_BYTES_MAX: usize = 1024;

/// Compiled schemas, found by their text.
#[derive(Debug)]
pub(crate) struct Schemas {
    whose: Whose,
    kept: Mutex<Kept>,
}

/// Who wrote the schemas.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Whose {
    Ours,
    Theirs,
}

#[derive(Debug, Default)]
struct Kept {
    compiled: HashMap<Box<str>, Result<Arc<Validator>, String>>,
    bytes: usize,
}

impl Schemas {
    pub(crate) fn new(whose: Whose) -> Self {
        Self { whose, kept: Mutex::default() }
    }

    /// Checks a value. What is wrong with it, or with the schema, is said in words that can be
    /// shown to a model.
    pub(crate) fn check(&self, schema: &Raw, value: &Raw) -> Result<(), String> {
        let validator = self.compiled(schema)?;
        let value: Value = value.parse().map_err(|error| format!("no JSON: {error}"))?;
        let mut words = String::new();
        for error in validator.iter_errors(&value) {
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { "the value" } else { &path };
            let line = format!("{place}: {}", error.masked());
            if words.len() + line.len() > WORDS_BYTES_MAX {
                words.push_str("; and more");
                break;
            }
            if !words.is_empty() {
                words.push_str("; ");
            }
            words.push_str(&line);
        }
        if words.is_empty() { Ok(()) } else { Err(words) }
    }

    /// Whether a schema can be used at all.
    pub(crate) fn compile(&self, schema: &Raw) -> Result<(), String> {
        self.compiled(schema).map(drop)
    }

    fn compiled(&self, schema: &Raw) -> Result<Arc<Validator>, String> {
        let text = schema.as_str();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = kept.compiled.get(text) {
            return compiled.clone();
        }
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(format!("the schema is longer than {SCHEMA_BYTES_MAX} bytes"));
        }
        let compiled = compile(schema, self.whose).map(Arc::new);
        if kept.compiled.len() >= KEPT_MAX || kept.bytes + text.len() > KEPT_BYTES_MAX {
            *kept = Kept::default();
        }
        kept.bytes += text.len();
        kept.compiled.insert(text.into(), compiled.clone());
        compiled
    }
}

fn compile(schema: &Raw, whose: Whose) -> Result<Validator, String> {
    let schema: Value =
        schema.parse().map_err(|error| format!("the schema is no JSON: {error}"))?;
    if whose == Whose::Theirs {
        unroll(&schema, &schema, 0, &mut { STEPS_MAX })?;
    }
    jsonschema::options()
        .with_retriever(Nothing)
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .build(&schema)
        .map_err(|error| format!("the schema cannot be used: {error}"))
}

/// Counts the schemas within a schema, following references.
fn unroll(root: &Value, schema: &Value, depth: usize, left: &mut u64) -> Result<(), String> {
    *left = left.checked_sub(1).ok_or("the schema takes too many steps for each value")?;
    if depth > DEPTH_MAX {
        return Err("the schema goes too deep, or in circles".into());
    }
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                if let ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) =
                    (name.as_str(), member)
                {
                    let target = referred(root, target)?;
                    unroll(root, target, depth + 1, left)?;
                } else if !matches!(
                    name.as_str(),
                    "$defs" | "definitions" | "const" | "enum" | "default" | "examples"
                ) {
                    unroll(root, member, depth + 1, left)?;
                }
            }
        }
        Value::Array(elements) => {
            for element in elements {
                unroll(root, element, depth + 1, left)?;
            }
        }
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

/// What a reference refers to: a part of the same schema, by its place, its anchor or its own name.
fn referred<'a>(root: &'a Value, target: &str) -> Result<&'a Value, String> {
    let elsewhere = || format!("the schema refers to `{}`, which is not in it", shortened(target));
    if let Some(pointer) = target.strip_prefix('#') {
        if pointer.is_empty() {
            return Ok(root);
        }
        if pointer.starts_with('/') {
            return root.pointer(&pointer.replace("%25", "%")).ok_or_else(elsewhere);
        }
        return named(root, &["$anchor", "$dynamicAnchor"], pointer, DEPTH_MAX)
            .ok_or_else(elsewhere);
    }
    named(root, &["$id"], target, DEPTH_MAX).ok_or_else(elsewhere)
}

/// The part of a schema that has this name.
fn named<'a>(schema: &'a Value, members: &[&str], name: &str, depth: usize) -> Option<&'a Value> {
    if members.iter().any(|member| schema.get(member).and_then(Value::as_str) == Some(name)) {
        return Some(schema);
    }
    let depth = depth.checked_sub(1)?;
    match schema {
        Value::Object(parts) => parts.values().find_map(|part| named(part, members, name, depth)),
        Value::Array(parts) => parts.iter().find_map(|part| named(part, members, name, depth)),
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Fetches nothing.
struct Nothing;

impl jsonschema::Retrieve for Nothing {
    fn retrieve(
        &self,
        uri: &jsonschema::Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`{}` is elsewhere, and nothing is fetched", shortened(uri.as_str())).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, value: &str) -> Result<(), String> {
        Schemas::new(Whose::Theirs)
            .check(&Raw::from_text(schema).unwrap(), &Raw::from_text(value).unwrap())
    }

    #[test]
    fn a_value_fits_its_schema_or_is_told_where_it_does_not() {
        let schema = r##"{"type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"],"$defs":{"n":{"type":"integer"}}}"##;
        assert_eq!(check(schema, r#"{"n":1}"#), Ok(()));
        let wrong = check(schema, r#"{"n":"secret"}"#).unwrap_err();
        assert!(wrong.contains("/n") && wrong.contains("integer"), "{wrong}");
        assert!(!wrong.contains("secret"), "{wrong}");
        assert!(check(schema, "{}").unwrap_err().contains("required"));
    }

    #[test]
    fn the_dialect_is_2020_12_unless_the_schema_says_otherwise_json_26() {
        // `prefixItems` is of 2020-12 only.
        let tuple = r#"{"prefixItems":[{"type":"integer"}]}"#;
        assert!(check(tuple, r#"["a"]"#).is_err());
        let draft7 = r#"{"$schema":"http://json-schema.org/draft-07/schema#","prefixItems":[{"type":"integer"}]}"#;
        assert_eq!(check(draft7, r#"["a"]"#), Ok(()));
        let unknown = r#"{"$schema":"https://example.com/dialect"}"#;
        assert!(check(unknown, "1").unwrap_err().contains("example.com/dialect"));
    }

    #[test]
    fn nothing_is_fetched_json_27() {
        for target in
            ["http://127.0.0.1:1/a.json", "file:///etc/hostname", "other.json", "#/$defs/nowhere"]
        {
            let wrong = check(&format!(r#"{{"$ref":"{target}"}}"#), "1").unwrap_err();
            assert!(wrong.contains(target) && wrong.contains("not in it"), "{wrong}");
        }
    }

    #[test]
    fn hostile_schemas_are_refused_and_quickly_json_28() {
        let mut bomb = String::from(r##"{"$ref":"#a0","$defs":{"##);
        for level in 0..18 {
            let next = level + 1;
            bomb += &format!(
                r##""a{level}":{{"$anchor":"a{level}","allOf":[{{"$ref":"#a{next}"}},{{"$ref":"#a{next}"}}]}},"##
            );
        }
        bomb += r#""a18":{"$anchor":"a18","type":"integer"}}}"#;
        assert!(check(&bomb, "1").unwrap_err().contains("too many steps"));
        let circle = r##"{"allOf":[{"$ref":"#"}]}"##;
        assert!(check(circle, "1").unwrap_err().contains("circles"));
        let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(100), "}".repeat(100));
        assert!(check(&deep, "1").unwrap_err().contains("too deep"));
        let pattern = r#"{"pattern":"^(a+)+$"}"#;
        assert!(check(pattern, &format!("\"{}!\"", "a".repeat(50_000))).is_err());
        let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(SCHEMA_BYTES_MAX));
        assert!(check(&long, "1").unwrap_err().contains("longer"));
    }

    #[test]
    fn schemas_of_our_own_may_go_in_circles() {
        let list = r##"{"type":"object","properties":{"next":{"$ref":"#"}}}"##;
        let list = Raw::from_text(list).unwrap();
        let schemas = Schemas::new(Whose::Ours);
        let value = |text| Raw::from_text(text).unwrap();
        assert_eq!(schemas.check(&list, &value(r#"{"next":{"next":{}}}"#)), Ok(()));
        assert!(
            schemas
                .check(&list, &value(r#"{"next":{"next":1}}"#))
                .unwrap_err()
                .contains("/next/next")
        );
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let schemas = Schemas::new(Whose::Theirs);
        for number in 0..3 * KEPT_MAX {
            schemas
                .compile(&Raw::from_text(&format!(r#"{{"minimum":{number}}}"#)).unwrap())
                .unwrap();
        }
        assert!(schemas.kept.lock().unwrap().compiled.len() <= KEPT_MAX);
    }
}
