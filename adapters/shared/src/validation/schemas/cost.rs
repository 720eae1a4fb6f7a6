//! Estimates how many steps it takes to check a value against a schema.

use serde_json::{Map, Value};

/// The maximum number of subschemas of a peer's schema, with all references expanded and those
/// counted again that are evaluated again.
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

/// The size of a value in bytes that counts as one member: texts are measured and compared.
const NODE_BYTES: u64 = 1024;

/// The maximum number of objects and arrays in a value if elements must be unique. Hashes of
/// objects and arrays can collide, and each is then compared with all others.
const UNIQUE_CONTAINERS_MAX: u64 = 10_000;

/// The number of members and elements of a value, and its length in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct ValueSize {
    pub(super) nodes: u64,
    /// The number of objects and arrays.
    containers: u64,
    pub(super) bytes: u64,
    /// The length of the longest text in bytes.
    pub(super) longest_text: u64,
}

impl ValueSize {
    /// Counts the nodes of a JSON text without parsing it; objects and arrays count twice.
    pub(super) fn of(json: &str) -> Self {
        let mut size = Self { nodes: 1, containers: 0, bytes: json.len() as u64, longest_text: 0 };
        let (mut in_string, mut is_escaped, mut text) = (false, false, 0);
        for byte in json.bytes() {
            text += 1;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = in_string,
                b'"' => {
                    if in_string {
                        size.longest_text = size.longest_text.max(text);
                    }
                    in_string = !in_string;
                    text = 0;
                }
                b',' if !in_string => size.nodes += 1,
                b'[' | b'{' if !in_string => {
                    size.nodes += 1;
                    size.containers += 1;
                }
                _ => {}
            }
        }
        size
    }
}

/// The estimated cost of a schema for each node of a value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SchemaCost {
    steps: u64,
    patterns: usize,
    /// The length of all patterns, with repetitions expanded.
    pattern_steps: u64,
    /// Some elements must be unique.
    has_unique: bool,
}

impl SchemaCost {
    /// Estimates the cost of a schema without following its references.
    pub(super) fn of_text(schema: &Value) -> Self {
        let has_unique = has_member(schema, |name, value| name == "uniqueItems" && value == true);
        Self { steps: nodes(schema), has_unique, ..Self::default() }
    }

    /// Estimates the cost of a schema with all references expanded.
    ///
    /// # Errors
    /// A description of the limit that the schema exceeds.
    pub(super) fn expanded(schema: &Value) -> Result<Self, String> {
        refuse_embedded(schema)?;
        let mut walk = Walk { root: schema, visited: 0, cost: Self::of_text(schema) };
        let load = walk.schema(schema, 0)?;
        if load.check > STEPS_MAX {
            return Err(TOO_MANY_STEPS.into());
        }
        Ok(Self { steps: load.check, ..walk.cost })
    }

    pub(super) fn patterns(&self) -> usize {
        self.patterns
    }

    /// Returns the estimated number of steps to check a value.
    pub(super) fn steps(&self, size: ValueSize) -> u64 {
        self.steps.saturating_mul(size.nodes.saturating_add(size.bytes / NODE_BYTES))
    }

    /// Fails if checking a value against a peer's schema would take too long.
    pub(super) fn check(&self, size: ValueSize) -> Result<(), String> {
        let pattern_steps = self.pattern_steps.saturating_mul(size.bytes);
        if self.steps(size) > WORK_MAX || pattern_steps > PATTERN_WORK_MAX {
            return Err("the value takes too many steps to check against the schema".into());
        }
        Ok(())
    }

    /// Fails if comparing the elements of a value with each other could take too long.
    pub(super) fn check_unique(&self, size: ValueSize) -> Result<(), String> {
        if self.has_unique && size.containers > UNIQUE_CONTAINERS_MAX {
            return Err(format!(
                "the value has more than {UNIQUE_CONTAINERS_MAX} objects and arrays, too many to \
                 check `uniqueItems`"
            ));
        }
        Ok(())
    }
}

const TOO_MANY_STEPS: &str = "the schema takes too many steps to evaluate";

/// The number of steps that a subschema takes.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// To check a value.
    check: u64,
    /// To find out which members and elements of a value it evaluates, for `unevaluatedProperties`
    /// and `unevaluatedItems` of an enclosing schema. All subschemas are checked again for this.
    mark: u64,
}

impl Load {
    fn add(&mut self, part: Self) {
        self.check = self.check.saturating_add(part.check);
        self.mark = self.mark.saturating_add(part.check).saturating_add(part.mark);
    }
}

/// A walk over all subschemas of a schema.
struct Walk<'a> {
    root: &'a Value,
    visited: u64,
    cost: SchemaCost,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Load, String> {
        self.visited += 1;
        if self.visited > STEPS_MAX {
            return Err(TOO_MANY_STEPS.into());
        }
        if depth > DEPTH_MAX {
            return Err("the schema is nested too deeply or is recursive".into());
        }
        let mut load = Load { check: 1, mark: 1 };
        match schema {
            Value::Object(keywords) => {
                for (keyword, value) in keywords {
                    load.add(self.keyword(keyword, value, depth)?);
                }
                if ["unevaluatedProperties", "unevaluatedItems"]
                    .iter()
                    .any(|it| keywords.contains_key(*it))
                {
                    load.check = load.check.saturating_add(load.mark);
                }
            }
            Value::Array(elements) => load.add(self.all(elements, depth)?),
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => {}
        }
        Ok(load)
    }

    fn keyword(&mut self, keyword: &str, value: &Value, depth: usize) -> Result<Load, String> {
        match (keyword, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                let target = resolve(self.root, target)?;
                return self.schema(target, depth + 1);
            }
            // Evaluated where they are referred to, or never.
            ("$defs" | "definitions" | "default" | "examples", _) => return Ok(Load::default()),
            // The value is compared with each.
            ("const" | "enum", _) => return Ok(Load { check: nodes(value), mark: 0 }),
            ("pattern", Value::String(pattern)) => self.add_pattern(pattern)?,
            ("patternProperties", Value::Object(patterns)) => {
                for pattern in patterns.keys() {
                    self.add_pattern(pattern)?;
                }
                return self.all(patterns.values(), depth);
            }
            // Their members have names, and are no keywords.
            ("properties" | "dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                return self.all(schemas.values(), depth);
            }
            _ => {}
        }
        self.schema(value, depth + 1)
    }

    fn all<'v>(
        &mut self,
        schemas: impl IntoIterator<Item = &'v Value>,
        depth: usize,
    ) -> Result<Load, String> {
        let mut load = Load::default();
        for schema in schemas {
            load.add(self.schema(schema, depth + 1)?);
        }
        Ok(load)
    }

    fn add_pattern(&mut self, pattern: &str) -> Result<(), String> {
        self.cost.patterns += 1;
        if self.cost.patterns > PATTERNS_MAX {
            return Err(format!("the schema has more than {PATTERNS_MAX} patterns"));
        }
        let length = expanded_length(pattern);
        self.cost.pattern_steps = self.cost.pattern_steps.saturating_add(length);
        Ok(())
    }
}

/// Refuses schemas embedded under their own names, to which references could lead otherwise than
/// estimated.
fn refuse_embedded(schema: &Value) -> Result<(), String> {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
    let is_draft4 = dialect.contains("draft-04");
    let embeds = |name: &str, value: &Value| match name {
        "$id" | "$anchor" | "$dynamicAnchor" => value.is_string(),
        "id" => is_draft4 && value.is_string(),
        "$recursiveAnchor" => value.is_boolean(),
        _ => false,
    };
    let members = schema.as_object().into_iter().flat_map(Map::values);
    let elements = schema.as_array().into_iter().flatten();
    if members.chain(elements).any(|part| has_member(part, embeds)) {
        return Err("the schema has `$id`, `$anchor` or `$dynamicAnchor` below its root".into());
    }
    Ok(())
}

/// Returns whether an object in the value, at any depth, has a member that `is_wanted`.
fn has_member(value: &Value, is_wanted: impl Fn(&str, &Value) -> bool + Copy) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|element| has_member(element, is_wanted)),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| is_wanted(name, value) || has_member(value, is_wanted)),
        Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) => false,
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

/// Resolves a reference within the schema: by JSON pointer, or by the `$id` of the whole schema.
fn resolve<'a>(root: &'a Value, target: &str) -> Result<&'a Value, String> {
    let found = match target.strip_prefix('#') {
        Some("") => Some(root),
        // The whole pointer is percent-decoded before it is split.
        Some(pointer) => percent_decoded(pointer).and_then(|pointer| root.pointer(&pointer)),
        None => Some(root).filter(|root| root.get("$id").is_some_and(|id| id == target)),
    };
    found.ok_or_else(|| {
        let target = shortened(target, NAME_CHARS_MAX);
        format!("the schema refers to `{target}`, which it does not contain")
    })
}

/// Decodes `%` sequences. Returns `None` if one is invalid.
fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        decoded.push(u8::from_str_radix(digits, 16).ok()?);
        decoded.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(decoded).ok()
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
