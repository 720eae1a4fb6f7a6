//! Random values that conform to a schema, and to what MCP's prose adds to the schemas.

use serde_json::{Map, Value, json};

use crate::flat::flat;
use crate::random::Random;
use crate::spec::Spec;

/// The depth below which only required members are generated.
const DEPTH_MAX: usize = 7;

/// Values that the prose prescribes and the schemas do not, by definition and property.
const PROSE: &[(&str, &str, &str)] = &[
    // STL-15: the schema allows any string, but the value identifies the type.
    ("InputRequiredResult", "resultType", "input_required"),
    // SEC-07, SEC-11, SEC-15: the schema allows any URI.
    ("ElicitRequestURLParams", "url", "https://example.com/a?b=c#d"),
    ("Icon", "src", "data:image/png;base64,AAAA"),
    ("Root", "uri", "file:///home/u/a%20b.txt"),
];

/// A generator of values for one schema.
#[derive(Debug)]
pub struct Generator<'a> {
    spec: &'a Spec,
    random: Random,
    /// Whether to generate only members that the schema names.
    is_closed: bool,
}

impl<'a> Generator<'a> {
    /// Creates a generator for the schemas of `spec`, determined by `random` alone.
    #[must_use]
    pub const fn new(spec: &'a Spec, random: Random) -> Self {
        Self { spec, random, is_closed: false }
    }

    /// Restricts objects to members that the schema names.
    #[must_use]
    pub const fn closed(mut self) -> Self {
        self.is_closed = true;
        self
    }

    /// Generates a value of the definition `name`.
    ///
    /// # Panics
    ///
    /// If the definition does not exist, or uses an unsupported keyword.
    pub fn definition(&mut self, name: &str) -> Value {
        let schema =
            self.spec.definition(name).unwrap_or_else(|| panic!("{name} is not defined")).clone();
        let mut value = self.value(&schema, 0);
        obey_prose(name, &mut value);
        value
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let name = self.spec.reference(schema).map(str::to_owned);
        let mut value = self.flat_value(&flat(self.spec, schema), depth);
        if let Some(name) = name {
            obey_prose(&name, &mut value);
        }
        value
    }

    fn flat_value(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.random.pick(values).clone();
        }
        for either in ["anyOf", "oneOf"] {
            if let Some(members) = schema.get(either).and_then(Value::as_array) {
                let member = self.member_of(members, depth);
                return self.value(&member, depth);
            }
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.typed(kind, schema, depth),
            Some(Value::Array(kinds)) => {
                let kind = self.random.pick(kinds).as_str().expect("a type").to_owned();
                self.typed(&kind, schema, depth)
            }
            None if schema.contains_key("properties") => self.object(schema, depth),
            _ => self.anything(depth),
        }
    }

    /// Picks one of several schemas; deep down, a leaf if there is one.
    fn member_of(&mut self, members: &[Value], depth: usize) -> Value {
        let spec = self.spec;
        let ends = |schema: &&Value| {
            let kind = flat(spec, schema).get("type").cloned();
            kind.is_some_and(|kind| kind != "object" && kind != "array")
        };
        let last: Vec<Value> = members.iter().filter(ends).cloned().collect();
        if depth >= DEPTH_MAX && !last.is_empty() {
            return self.random.pick(&last).clone();
        }
        self.random.pick(members).clone()
    }

    fn typed(&mut self, kind: &str, schema: &Map<String, Value>, depth: usize) -> Value {
        match kind {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => self.string(schema).into(),
            "boolean" => self.random.chance(50).into(),
            "null" => Value::Null,
            "integer" => self.integer(schema).into(),
            "number" => self.number(schema),
            other => panic!("the type {other} is not known here"),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        // All members, most, or nearly none.
        let share = *self.random.pick(&[100, 60, 60, 25, 0]);
        let mut object = Map::new();
        for (name, property) in properties {
            let wanted = depth < DEPTH_MAX && self.random.chance(share);
            if wanted || required.contains(&name.as_str()) {
                object.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        let more = match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => return Value::Object(object),
            Some(schema) if is_typed(schema) => Some((schema.clone(), 80)),
            _ if self.is_closed => None,
            Some(_) => Some((json!({}), 50)),
            None => Some((json!({}), 12)),
        };
        if let Some((schema, share)) = more.filter(|_| depth < DEPTH_MAX)
            && self.random.chance(share)
        {
            for _ in 0..=self.random.below(3) {
                let name = *self.random.pick(NAMES);
                object.insert(name.to_owned(), self.value(&schema, depth + 1));
            }
        }
        Value::Object(object)
    }

    fn array(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let bound = |keyword: &str| {
            schema.get(keyword).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
        };
        let most =
            bound("maxItems").unwrap_or(usize::MAX).min(if depth < DEPTH_MAX { 4 } else { 0 });
        let least = bound("minItems").unwrap_or(0);
        let count = least.max(self.random.below(most + 1));
        let items = schema.get("items").cloned().unwrap_or_else(|| json!({}));
        (0..count).map(|_| self.value(&items, depth + 1)).collect()
    }

    fn string(&mut self, schema: &Map<String, Value>) -> String {
        let texts = match schema.get("format").and_then(Value::as_str) {
            None => TEXTS,
            Some("uri") => URIS,
            Some("uri-template") => TEMPLATES,
            Some("byte") => BYTES,
            Some("date-time") => TIMES,
            Some(other) => panic!("the format {other} is not known here"),
        };
        (*self.random.pick(texts)).to_owned()
    }

    fn integer(&mut self, schema: &Map<String, Value>) -> i64 {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_i64);
        let (least, most) =
            (bound("minimum").unwrap_or(i64::MIN), bound("maximum").unwrap_or(i64::MAX));
        let likely = [0, 1, 7, 100, 65_536, -1, (1 << 53) + 1, i64::MAX, i64::MIN];
        (*self.random.pick(&likely)).clamp(least, most)
    }

    fn number(&mut self, schema: &Map<String, Value>) -> Value {
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let (least, most) =
            (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
        let likely = [0.0, 1.0, 0.5, 0.1, 0.001, 12.75, -3.5, 1e21, 1e-9, 1_234_567_890_123.0];
        let number: f64 = *self.random.pick(&likely);
        let number = number.clamp(least, most);
        if number.fract() == 0.0 && number.abs() < 1e15 && self.random.chance(50) {
            return (number as i64).into();
        }
        number.into()
    }

    /// Generates any JSON value.
    fn anything(&mut self, depth: usize) -> Value {
        let kinds = if depth < DEPTH_MAX { 8 } else { 5 };
        match self.random.below(kinds) {
            0 => Value::Null,
            1 => self.random.chance(50).into(),
            2 => self.integer(&Map::new()).into(),
            3 => self.number(&Map::new()),
            4 => self.string(&Map::new()).into(),
            5 => (0..self.random.below(4)).map(|_| self.anything(depth + 2)).collect(),
            _ => {
                let count = self.random.below(4);
                (0..count)
                    .map(|_| (self.random.pick(NAMES).to_string(), self.anything(depth + 2)))
                    .collect()
            }
        }
    }

    /// Returns `value` as JSON text, with members in any order and white space anywhere.
    pub fn text(&mut self, value: &Value) -> String {
        let mut out = String::new();
        self.write(value, &mut out);
        out
    }

    fn write(&mut self, value: &Value, out: &mut String) {
        match value {
            Value::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    self.write(element, out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                let mut members: Vec<(&String, &Value)> = members.iter().collect();
                for at in (1..members.len()).rev() {
                    members.swap(at, self.random.below(at + 1));
                }
                out.push('{');
                for (index, (name, value)) in members.into_iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(self.random.pick::<&str>(&["", "", " ", "\n", "\t "]));
                    out.push_str(&Value::from(name.as_str()).to_string());
                    out.push_str(self.random.pick::<&str>(&[":", ":", " :", ": "]));
                    self.write(value, out);
                }
                out.push('}');
            }
            plain => out.push_str(&plain.to_string()),
        }
    }
}

fn is_typed(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| !schema.is_empty())
}

fn obey_prose(name: &str, value: &mut Value) {
    for (_, property, word) in PROSE.iter().filter(|(definition, ..)| *definition == name) {
        value[*property] = (*word).into();
    }
    if name.starts_with("CreateMessageRequest") {
        drop_tool_blocks(value);
    }
}

/// Removes tool calls and their results from a conversation, in which they must match.
// SEC-12: a random conversation hardly ever is valid.
fn drop_tool_blocks(value: &mut Value) {
    let is_tool_block =
        |block: &Value| matches!(block["type"].as_str(), Some("tool_use" | "tool_result"));
    for messages in ["/messages", "/params/messages"] {
        let messages = value.pointer_mut(messages).and_then(Value::as_array_mut);
        for message in messages.into_iter().flatten() {
            if is_tool_block(&message["content"]) {
                message["content"] = json!({"type": "text", "text": "a"});
            }
            if let Some(blocks) = message["content"].as_array_mut() {
                blocks.retain(|block| !is_tool_block(block));
            }
        }
    }
}

/// Names that no property has.
const NAMES: &[&str] = &[
    "x-one",
    "x-two",
    "com.example/thing",
    "a/b~c",
    "größe",
    "with \"quotes\"",
    "\u{1f600}",
    "traceparent",
    "",
];

const TEXTS: &[&str] = &[
    "",
    "a",
    "some words",
    "line\nbreak\ttab",
    "\"quoted\" and \\ back",
    "grüße, 世界 \u{1f600}",
    "\u{0}\u{1f}\u{7f}",
    "2025-06-18T12:00:00Z",
    "complete",
    "https://example.com/a?b=c#d",
    "null",
];

const URIS: &[&str] = &[
    "https://example.com/a?b=c#d",
    "file:///home/u/a%20b.txt",
    "urn:isbn:0451450523",
    "data:image/png;base64,AAAA",
];

const TEMPLATES: &[&str] = &["file:///{path}", "https://example.com/{a,b}{?q*}", "plain"];

const BYTES: &[&str] = &["", "AA==", "aGVsbG8=", "UklGRiQAAABXQVZF"];

const TIMES: &[&str] = &["2025-06-18T12:00:00Z", "1999-12-31T23:59:59.123+01:00"];

#[cfg(test)]
mod tests {
    use mcp_proto::Revision;
    use serde_json::json;

    use super::Generator;
    use crate::random::Random;
    use crate::spec::Spec;

    fn spec() -> Spec {
        let tree = json!({
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": { "type": "string" },
                "next": { "anyOf": [{ "$ref": "#/$defs/Tree" }, { "type": ["integer", "null"] }] },
                "share": { "type": "number", "minimum": 0, "maximum": 1 },
                "kind": { "enum": ["a", "b"] },
            },
        });
        let oak = json!({ "allOf": [
            { "$ref": "#/$defs/Tree" },
            { "required": ["age"], "properties": { "age": { "const": 300 } } },
        ]});
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        Spec::new(
            Revision::V2026_07_28,
            json!({ "$schema": dialect, "$defs": { "Oak": oak, "Tree": tree } }),
        )
    }

    #[test]
    fn values_conform_to_the_schema_and_are_deterministic() {
        let spec = spec();
        for index in 0..500 {
            let value = Generator::new(&spec, Random::new("seed", index)).definition("Oak");
            spec.validate("Oak", &value).unwrap();
            assert_eq!(value["age"], 300);
            assert_eq!(value, Generator::new(&spec, Random::new("seed", index)).definition("Oak"));
        }
    }

    #[test]
    fn text_parses_to_the_value() {
        let spec = spec();
        for index in 0..100 {
            let mut generator = Generator::new(&spec, Random::new("text", index));
            let value = generator.definition("Tree");
            let text = generator.text(&value);
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }

    #[test]
    fn the_validator_rejects_invalid_values() {
        let spec = spec();
        for wrong in [json!({}), json!({ "name": 1 }), json!({ "name": "", "share": 2 }), json!([])]
        {
            assert!(spec.validate("Tree", &wrong).is_err(), "{wrong}");
        }
        assert!(spec.validate("Oak", &json!({ "name": "" })).is_err());
    }
}
