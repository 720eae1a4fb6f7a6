//! Estimates how many steps it takes to check a value against a schema.

use serde_json::Value;

/// The maximum number of subschemas of a peer's schema, with all references expanded.
const STEPS_MAX: u64 = 20_000;

/// The maximum number of patterns of a peer's schema, with all references expanded.
const PATTERNS_MAX: usize = 64;

/// The maximum length of a name that an error quotes.
pub(super) const NAME_CHARS_MAX: usize = 100;

/// The maximum nesting depth of references and subschemas.
const DEPTH_MAX: usize = 64;

/// The maximum number of steps to check a value: subschemas times members and elements. This takes
/// about half a second.
const WORK_MAX: u64 = 20_000_000;

/// The maximum number of steps to match patterns: their length, repetitions expanded, times the
/// length of the value. This takes about a second if a pattern defeats all optimizations.
const PATTERN_WORK_MAX: u64 = 300_000_000;

/// The number of members and elements of a value, and its length in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ValueSize {
    pub(super) nodes: u64,
    bytes: u64,
}

impl ValueSize {
    /// Counts the nodes of a JSON text without parsing it; objects and arrays count twice.
    pub(super) fn of(json: &str) -> Self {
        let (mut nodes, mut in_string, mut is_escaped) = (1, false, false);
        for byte in json.bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_string,
                b'"' => in_string = !in_string,
                b',' | b'[' | b'{' if !in_string => nodes += 1,
                _ => {}
            }
        }
        Self { nodes, bytes: json.len() as u64 }
    }
}

/// The estimated cost of a schema for each node of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SchemaCost {
    steps: u64,
    patterns: usize,
    /// The length of all patterns, with repetitions expanded.
    pattern_steps: u64,
}

impl SchemaCost {
    /// Estimates the cost of a schema without following its references.
    pub(super) fn of_text(schema: &Value) -> Self {
        Self { steps: nodes(schema), ..Self::default() }
    }

    /// Estimates the cost of a schema with all references expanded.
    ///
    /// # Errors
    /// A description of the limit that the schema exceeds.
    pub(super) fn expanded(schema: &Value) -> Result<Self, String> {
        let mut cost = Self::default();
        cost.add_schema(schema, schema, 0)?;
        Ok(cost)
    }

    pub(super) fn patterns(&self) -> usize {
        self.patterns
    }

    /// Returns the estimated number of steps to check a value.
    pub(super) fn steps(&self, size: ValueSize) -> u64 {
        self.steps.saturating_mul(size.nodes)
    }

    /// Fails if checking a value would take too long.
    pub(super) fn check(&self, size: ValueSize) -> Result<(), String> {
        let pattern_steps = self.pattern_steps.saturating_mul(size.bytes);
        if self.steps(size) > WORK_MAX || pattern_steps > PATTERN_WORK_MAX {
            return Err("the value takes too many steps to check against the schema".into());
        }
        Ok(())
    }

    fn add_steps(&mut self, steps: u64) -> Result<(), String> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > STEPS_MAX {
            return Err("the schema takes too many steps to evaluate".into());
        }
        Ok(())
    }

    fn add_pattern(&mut self, pattern: &str) -> Result<(), String> {
        self.patterns += 1;
        if self.patterns > PATTERNS_MAX {
            return Err(format!("the schema has more than {PATTERNS_MAX} patterns"));
        }
        self.pattern_steps = self.pattern_steps.saturating_add(expanded_length(pattern));
        Ok(())
    }

    fn add_schema(&mut self, root: &Value, schema: &Value, depth: usize) -> Result<(), String> {
        self.add_steps(1)?;
        if depth > DEPTH_MAX {
            return Err("the schema is nested too deeply or is recursive".into());
        }
        match schema {
            Value::Object(members) => {
                for (name, member) in members {
                    self.add_member(root, name, member, depth)?;
                }
            }
            Value::Array(elements) => {
                for element in elements {
                    self.add_schema(root, element, depth + 1)?;
                }
            }
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    fn add_member(
        &mut self,
        root: &Value,
        name: &str,
        member: &Value,
        depth: usize,
    ) -> Result<(), String> {
        match (name, member) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                return self.add_schema(root, resolve(root, target)?, depth + 1);
            }
            ("$defs" | "definitions" | "default" | "examples", _) => return Ok(()),
            // The value is compared with each.
            ("const" | "enum", _) => return self.add_steps(nodes(member)),
            ("pattern", Value::String(pattern)) => self.add_pattern(pattern)?,
            ("patternProperties", Value::Object(patterns)) => {
                for pattern in patterns.keys() {
                    self.add_pattern(pattern)?;
                }
            }
            _ => {}
        }
        self.add_schema(root, member, depth + 1)
    }
}

/// Returns the start of a text.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}

/// Returns the number of members and elements of a value.
fn nodes(value: &Value) -> u64 {
    1 + match value {
        Value::Array(elements) => elements.iter().map(nodes).sum::<u64>(),
        Value::Object(members) => members.values().map(nodes).sum::<u64>(),
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Returns an upper bound of a pattern's length when its repetitions are written out.
fn expanded_length(pattern: &str) -> u64 {
    let counts = pattern.split('{').skip(1).map(|rest| {
        let count = rest.split('}').next().unwrap_or_default();
        count.split(',').filter_map(|count| count.trim().parse::<u64>().ok()).max().unwrap_or(1)
    });
    counts.fold(pattern.len() as u64, |length, count| length.saturating_mul(count.max(1)))
}

/// Resolves a reference within the schema: by JSON pointer, anchor or `$id`.
fn resolve<'a>(root: &'a Value, target: &str) -> Result<&'a Value, String> {
    let elsewhere = || {
        format!(
            "the schema refers to `{}`, which it does not contain",
            shortened(target, NAME_CHARS_MAX)
        )
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nodes_of_a_text_are_counted_outside_of_strings() {
        for (json, nodes) in [
            ("1", 1),
            (r#""a,[{""#, 1),
            (r#""\",[{""#, 1),
            (r#""\\",1"#, 2),
            ("[1,2,3]", 4),
            (r#"{"a":1,"b":{}}"#, 4),
        ] {
            assert_eq!(ValueSize::of(json).nodes, nodes, "{json}");
        }
    }

    #[test]
    fn repetitions_count_as_often_as_they_repeat() {
        for (pattern, length) in [("^a+$", 4), (r"^\d{4}-\d{2}$", 13 * 8), ("a{2,30}", 7 * 30)] {
            assert_eq!(expanded_length(pattern), length, "{pattern}");
        }
        assert_eq!(expanded_length(&"a{99999}".repeat(9)), u64::MAX);
    }
}
