//! JSON Schemas of tools, compiled once and evaluated within bounds.
//!
//! Nothing is ever fetched, and patterns match in linear time. The cost of a peer's schema is
//! estimated before it is compiled, by following its references: a schema that would take too many
//! steps for each value, or is recursive, is refused. Local schemas are not restricted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{PatternOptions, Validator};
use mcp_proto::Raw;
use serde_json::Value;

/// The maximum size of a schema in bytes.
const SCHEMA_BYTES_MAX: usize = 256 * 1024;

/// The maximum number of subschemas of a peer's schema, with all references expanded.
const STEPS_MAX: u64 = 20_000;

/// The maximum nesting depth of references and subschemas.
const DEPTH_MAX: usize = 64;

/// The maximum number of cached schemas, and of the bytes of their texts. The cache is cleared when
/// either is reached.
const CACHED_MAX: usize = 1024;
const CACHED_BYTES_MAX: usize = 4 << 20;

/// The maximum length of an error description in bytes.
const DESCRIPTION_BYTES_MAX: usize = 1024;

/// A cache of compiled schemas, keyed by their text.
#[derive(Debug)]
pub(crate) struct Schemas {
    author: Author,
    cache: Mutex<SchemaCache>,
}

/// Where the schemas come from, and thus whether they are trusted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Author {
    Local,
    Peer,
}

#[derive(Debug, Default)]
struct SchemaCache {
    compiled: HashMap<Box<str>, Result<Arc<Validator>, String>>,
    bytes: usize,
}

impl Schemas {
    pub(crate) fn new(author: Author) -> Self {
        Self { author, cache: Mutex::default() }
    }

    /// Checks a value against a schema.
    ///
    /// # Errors
    /// A description of the mismatch, or of what is wrong with the schema, that can be shown to a
    /// model. It does not contain the value.
    pub(crate) fn check(&self, schema: &Raw, value: &Raw) -> Result<(), String> {
        let validator = self.compiled(schema)?;
        let value: Value = value.parse().map_err(|error| format!("invalid JSON: {error}"))?;
        let mut description = String::new();
        for error in validator.iter_errors(&value) {
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { "the value" } else { &path };
            let line = format!("{place}: {}", error.masked());
            if description.len() + line.len() > DESCRIPTION_BYTES_MAX {
                description.push_str("; and more");
                break;
            }
            if !description.is_empty() {
                description.push_str("; ");
            }
            description.push_str(&line);
        }
        if description.is_empty() { Ok(()) } else { Err(description) }
    }

    /// Compiles a schema, to find out whether it can be used.
    pub(crate) fn compile(&self, schema: &Raw) -> Result<(), String> {
        self.compiled(schema).map(drop)
    }

    fn compiled(&self, schema: &Raw) -> Result<Arc<Validator>, String> {
        let text = schema.as_str();
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = cache.compiled.get(text) {
            return compiled.clone();
        }
        if text.len() > SCHEMA_BYTES_MAX {
            return Err(format!("the schema exceeds {SCHEMA_BYTES_MAX} bytes"));
        }
        let compiled = compile(schema, self.author).map(Arc::new);
        if cache.compiled.len() >= CACHED_MAX || cache.bytes + text.len() > CACHED_BYTES_MAX {
            *cache = SchemaCache::default();
        }
        cache.bytes += text.len();
        cache.compiled.insert(text.into(), compiled.clone());
        compiled
    }
}

fn compile(schema: &Raw, author: Author) -> Result<Validator, String> {
    let schema: Value =
        schema.parse().map_err(|error| format!("the schema is not valid JSON: {error}"))?;
    if author == Author::Peer {
        // JSON-28: bounds the cost of a hostile schema.
        count_steps(&schema, &schema, 0, &mut { STEPS_MAX })?;
    }
    jsonschema::options()
        // JSON-27: never fetch references.
        .with_retriever(NoRetriever)
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .build(&schema)
        .map_err(|error| format!("the schema cannot be used: {error}"))
}

/// Counts the subschemas of a schema down from `left`, following references.
fn count_steps(root: &Value, schema: &Value, depth: usize, left: &mut u64) -> Result<(), String> {
    *left = left.checked_sub(1).ok_or("the schema takes too many steps to evaluate")?;
    if depth > DEPTH_MAX {
        return Err("the schema is nested too deeply or is recursive".into());
    }
    match schema {
        Value::Object(members) => {
            for (name, member) in members {
                if let ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) =
                    (name.as_str(), member)
                {
                    let target = resolve(root, target)?;
                    count_steps(root, target, depth + 1, left)?;
                } else if !matches!(
                    name.as_str(),
                    "$defs" | "definitions" | "const" | "enum" | "default" | "examples"
                ) {
                    count_steps(root, member, depth + 1, left)?;
                }
            }
        }
        Value::Array(elements) => {
            for element in elements {
                count_steps(root, element, depth + 1, left)?;
            }
        }
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
    }
    Ok(())
}

/// Resolves a reference within the schema: by JSON pointer, anchor or `$id`.
fn resolve<'a>(root: &'a Value, target: &str) -> Result<&'a Value, String> {
    let elsewhere =
        || format!("the schema refers to `{}`, which it does not contain", shortened(target));
    if let Some(pointer) = target.strip_prefix('#') {
        if pointer.is_empty() {
            return Ok(root);
        }
        if pointer.starts_with('/') {
            return root.pointer(&pointer.replace("%25", "%")).ok_or_else(elsewhere);
        }
        return find_named(root, &["$anchor", "$dynamicAnchor"], pointer, DEPTH_MAX)
            .ok_or_else(elsewhere);
    }
    find_named(root, &["$id"], target, DEPTH_MAX).ok_or_else(elsewhere)
}

/// Returns the subschema that has `name` in one of these members.
fn find_named<'a>(
    schema: &'a Value,
    members: &[&str],
    name: &str,
    depth: usize,
) -> Option<&'a Value> {
    if members.iter().any(|member| schema.get(member).and_then(Value::as_str) == Some(name)) {
        return Some(schema);
    }
    let depth = depth.checked_sub(1)?;
    match schema {
        Value::Object(parts) => {
            parts.values().find_map(|part| find_named(part, members, name, depth))
        }
        Value::Array(parts) => parts.iter().find_map(|part| find_named(part, members, name, depth)),
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}

/// Refuses to fetch references.
struct NoRetriever;

impl jsonschema::Retrieve for NoRetriever {
    fn retrieve(
        &self,
        uri: &jsonschema::Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!(
            "`{}` is external, and external schemas are not fetched",
            shortened(uri.as_str())
        )
        .into())
    }
}

#[cfg(test)]
mod tests {
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
            bomb += &format!(
                r#""a{level}":{{"$anchor":"a{level}","allOf":[{reference},{reference}]}},"#
            );
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
            schemas
                .check(&list, &value(r#"{"next":{"next":1}}"#))
                .unwrap_err()
                .contains("/next/next")
        );
    }

    #[test]
    fn the_cache_is_bounded() {
        let schemas = Schemas::new(Author::Peer);
        for number in 0..3 * CACHED_MAX {
            schemas
                .compile(&Raw::from_text(&format!(r#"{{"minimum":{number}}}"#)).unwrap())
                .unwrap();
        }
        assert!(schemas.cache.lock().unwrap().compiled.len() <= CACHED_MAX);
    }
}
