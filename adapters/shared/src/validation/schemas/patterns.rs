//! Compilation of schemas with the engine that their patterns need.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::cost::{NAME_CHARS_MAX, shortened};

/// The maximum size in bytes of one compiled pattern.
pub(super) const PATTERN_BYTES_MAX: usize = 1 << 20;

/// The maximum number of steps back in one match of a pattern that is not matched in linear time.
const BACKTRACKS_MAX: usize = 5_000;

/// The maximum size of a value in bytes, times the length of its longest text, if it is matched by
/// such patterns: each step can scan the rest of the text. This takes seconds at worst.
pub(super) const BACKTRACKING_WORK_MAX: u64 = 1 << 32;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) validator: Validator,
    /// Some patterns are not matched in linear time.
    pub(super) backtracks: bool,
    /// The patterns that no engine can run. The validator does not check them.
    pub(super) skipped: Vec<String>,
}

/// Compiles a schema. If `skips`, patterns that no engine can run are left out.
///
/// # Errors
/// A description of what is wrong with the schema.
pub(super) fn build(
    schema: &Value,
    pattern_bytes_max: usize,
    skips: bool,
) -> Result<Compiled, String> {
    let linear = |schema: &Value| {
        let engine = PatternOptions::regex();
        let engine = engine.size_limit(pattern_bytes_max).dfa_size_limit(pattern_bytes_max);
        // JSON-27: never fetch references.
        jsonschema::options().with_retriever(NoRetriever).with_pattern_options(engine).build(schema)
    };
    // Patterns of ECMA-262 with lookarounds or backreferences.
    let backtracking = |schema: &Value| {
        let engine = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS_MAX);
        let engine = engine.size_limit(pattern_bytes_max).dfa_size_limit(pattern_bytes_max);
        jsonschema::options().with_retriever(NoRetriever).with_pattern_options(engine).build(schema)
    };
    let compile = |schema: &Value, skipped: Vec<String>| match linear(schema) {
        Ok(validator) => Ok(Compiled { validator, backtracks: false, skipped }),
        Err(_) => backtracking(schema)
            .map(|validator| Compiled { validator, backtracks: true, skipped })
            .map_err(|error| format!("the schema cannot be used: {error}")),
    };
    let error = match compile(schema, Vec::new()) {
        Ok(compiled) => return Ok(compiled),
        Err(error) => error,
    };
    let is_runnable = |pattern: &str| {
        let schema = Value::Object(Map::from_iter([("pattern".to_owned(), pattern.into())]));
        backtracking(&schema).is_ok()
    };
    let mut reduced = schema.clone();
    let mut skipped = Vec::new();
    skip_patterns(&mut reduced, &is_runnable, &mut skipped);
    let Some(pattern) = skipped.first() else { return Err(error) };
    // Without a pattern, fewer values match a negation: they would be refused for no reason.
    if !skips || may_negate(schema) {
        return Err(format!("the schema cannot be used: the pattern `{pattern}` cannot be run"));
    }
    compile(&reduced, skipped)
}

/// Removes patterns that cannot be run.
fn skip_patterns(
    schema: &mut Value,
    is_runnable: &dyn Fn(&str) -> bool,
    skipped: &mut Vec<String>,
) {
    match schema {
        Value::Object(members) => {
            let mut is_skipped = |pattern: &String| {
                let skips = !is_runnable(pattern);
                skipped.extend(skips.then(|| shortened(pattern, NAME_CHARS_MAX)));
                skips
            };
            if matches!(members.get("pattern"), Some(Value::String(it)) if is_skipped(it)) {
                members.remove("pattern");
            }
            if let Some(Value::Object(by_pattern)) = members.get_mut("patternProperties") {
                let before = by_pattern.len();
                by_pattern.retain(|pattern, _| !is_skipped(pattern));
                if by_pattern.len() < before {
                    // Applies to properties that match none of the patterns.
                    members.remove("additionalProperties");
                }
            }
            let literals = ["const", "enum", "default", "examples"];
            let schemas = members.iter_mut().filter(|(name, _)| !literals.contains(&&***name));
            schemas.for_each(|(_, member)| skip_patterns(member, is_runnable, skipped));
        }
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| skip_patterns(element, is_runnable, skipped));
        }
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether a value may fail a check because it matches a subschema.
fn may_negate(schema: &Value) -> bool {
    const NEGATIONS: [&str; 7] = [
        "not",
        "if",
        "oneOf",
        "maxContains",
        "unevaluatedProperties",
        "unevaluatedItems",
        "disallow",
    ];
    match schema {
        Value::Object(members) => {
            members.iter().any(|(name, member)| NEGATIONS.contains(&&**name) || may_negate(member))
        }
        Value::Array(elements) => elements.iter().any(may_negate),
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => false,
    }
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
            shortened(uri.as_str(), NAME_CHARS_MAX)
        )
        .into())
    }
}
