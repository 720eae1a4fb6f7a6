//! Finds the fields of a tool's input schema that some hosts cannot read, with the feature
//! `tracing`.

use mcp_proto::schema::Tool;
use serde_json::{Map, Value};

/// Returns the fields of a tool's arguments that some hosts cannot read, each with the reason.
///
/// The name of a field within another one follows it after a dot; the arguments themselves are
/// `(root)`.
pub(in crate::server) fn unreadable_fields(tool: &Tool) -> Vec<(String, &'static str)> {
    let Ok(root) = tool.input_schema.parse::<Value>() else { return Vec::new() };
    let mut search = Search { root: &root, open: Vec::new(), seen: Vec::new(), found: Vec::new() };
    if let Some(keywords) = root.as_object() {
        if AT_ROOT.iter().any(|keyword| keywords.contains_key(*keyword)) {
            search.report("", COMBINATOR);
        }
        search.keywords("", keywords, DEPTH_MAX);
    }
    search.found
}

/// The keywords that the APIs of models refuse at the root.
const AT_ROOT: [&str; 6] = ["$ref", "allOf", "anyOf", "enum", "not", "oneOf"];

const COMBINATOR: &str = "it has alternatives or a reference at its root, which the APIs of \
    Anthropic and OpenAI refuse: use a struct with a field of this type";
const EXTERNAL: &str = "it refers to another document, which is not fetched: include the schema";
const RECURSIVE: &str = "it contains itself, which the APIs of Gemini and others refuse: use a \
    flat list, or JSON text in a string";

/// How deep schemas are followed.
const DEPTH_MAX: usize = 64;

/// A walk through a schema that follows each reference once.
struct Search<'a> {
    root: &'a Value,
    /// The references that lead to the current schema.
    open: Vec<&'a str>,
    /// The references that were followed.
    seen: Vec<&'a str>,
    found: Vec<(String, &'static str)>,
}

impl<'a> Search<'a> {
    fn report(&mut self, field: &str, reason: &'static str) {
        let field = if field.is_empty() { "(root)" } else { field };
        if !self.found.iter().any(|(known, why)| known == field && *why == reason) {
            self.found.push((field.to_owned(), reason));
        }
    }

    fn schema(&mut self, field: &str, schema: &'a Value, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match schema {
            Value::Array(schemas) => {
                schemas.iter().for_each(|schema| self.schema(field, schema, depth));
            }
            Value::Object(keywords) => self.keywords(field, keywords, depth),
            _ => {}
        }
    }

    fn keywords(&mut self, field: &str, keywords: &'a Map<String, Value>, depth: usize) {
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            self.reference(field, reference, depth);
        }
        for (keyword, value) in keywords {
            match (&**keyword, value) {
                ("properties" | "patternProperties", Value::Object(fields)) => {
                    for (name, schema) in fields {
                        let separator = if field.is_empty() { "" } else { "." };
                        self.schema(&format!("{field}{separator}{name}"), schema, depth);
                    }
                }
                (
                    "additionalProperties"
                    | "allOf"
                    | "anyOf"
                    | "contains"
                    | "else"
                    | "if"
                    | "items"
                    | "not"
                    | "oneOf"
                    | "prefixItems"
                    | "then",
                    schema,
                ) => self.schema(field, schema, depth),
                _ => {}
            }
        }
    }

    fn reference(&mut self, field: &str, reference: &'a str, depth: usize) {
        let Some(pointer) = reference.strip_prefix('#') else {
            self.report(field, EXTERNAL);
            return;
        };
        if pointer.is_empty() || self.open.contains(&reference) {
            self.report(field, RECURSIVE);
            return;
        }
        if self.seen.contains(&reference) {
            return;
        }
        self.seen.push(reference);
        self.open.push(reference);
        if let Some(target) = self.root.pointer(pointer) {
            self.schema(field, target, depth);
        }
        self.open.pop();
    }
}

#[cfg(test)]
mod tests {
    use mcp_proto::Raw;
    use serde_json::json;

    use super::*;

    /// Returns the names of the fields that cannot be read for this reason.
    fn fields(schema: &Value, reason: &str) -> Vec<String> {
        let tool = Tool::new("t", Raw::from(schema.clone()));
        let found = unreadable_fields(&tool);
        assert!(found.iter().all(|(_, why)| *why == reason), "{found:?}");
        found.into_iter().map(|(field, _)| field).collect()
    }

    // G-10
    #[test]
    fn combinators_at_the_root_are_found() {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let schema = json!({"type": "object", keyword: [{"type": "object"}]});
            assert_eq!(fields(&schema, COMBINATOR), ["(root)"]);
            let below = json!({"type": "object", "properties": {"a": schema}});
            assert!(fields(&below, COMBINATOR).is_empty(), "{below}");
        }
    }

    #[test]
    fn recursive_fields_are_found_by_their_path() {
        let node = json!({"properties": {"next": {"$ref": "#/$defs/Node"}, "id": {}}});
        let list = json!({"type": "array", "items": {"$ref": "#/$defs/Node"}});
        let inner = json!({"properties": {"list": list}});
        let schema = json!({"properties": {"inner": inner}, "$defs": {"Node": node}});
        assert_eq!(fields(&schema, RECURSIVE), ["inner.list.next"]);
        let schema = json!({"properties": {"children": {"items": {"$ref": "#"}}}});
        assert_eq!(fields(&schema, RECURSIVE), ["children"]);
    }

    #[test]
    fn repeated_types_are_not_recursive() {
        let point = json!({"$ref": "#/$defs/Point"});
        let schema = json!({
            "properties": {"from": point, "to": point, "via": {"items": point}},
            "$defs": {"Point": {"properties": {"x": {"$ref": "#/$defs/X"}}}, "X": {}},
        });
        assert!(fields(&schema, RECURSIVE).is_empty());
    }

    #[test]
    fn references_to_other_documents_are_found() {
        let schema = json!({"properties": {"a": {"$ref": "https://example.com/a.json"}}});
        assert_eq!(fields(&schema, EXTERNAL), ["a"]);
    }
}
