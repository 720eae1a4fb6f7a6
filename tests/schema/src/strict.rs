//! Closes schemas: objects may only have named members, as a peer of the revision knows them.

use serde_json::{Map, Value, json};

use crate::flat::flat;
use crate::spec::Spec;

/// Members whose values belong to the application.
const FREE: &[&str] = &[
    "_meta",
    "capabilities",
    "clientCapabilities",
    "inputSchema",
    "outputSchema",
    "requiredCapabilities",
];

/// Definitions whose values are kept verbatim.
const OWN: &[&str] = &["ClientCapabilities", "ServerCapabilities"];

/// Closes every object of the schema of `spec` that names its members.
#[must_use]
pub fn strict(spec: &Spec) -> Spec {
    let mut schema = spec.schema().clone();
    let definitions = schema[spec.root()].as_object_mut().expect("definitions");
    for (name, definition) in definitions.iter_mut() {
        if !name.ends_with("MetaObject") && !OWN.contains(&name.as_str()) {
            close(spec, definition);
            // The params of every message have `_meta`, even if the message's definition omits it.
            let params = definition
                .pointer_mut("/properties/params/properties")
                .filter(|_| is_message(name));
            if let Some(params) = params.and_then(Value::as_object_mut) {
                params.entry("_meta").or_insert_with(|| json!({}));
            }
        }
    }
    Spec::new(spec.revision, schema)
}

fn is_message(name: &str) -> bool {
    name.ends_with("Request") || name.ends_with("Notification")
}

fn close(spec: &Spec, schema: &mut Value) {
    if schema.get("allOf").is_some() {
        *schema = Value::Object(flat(spec, schema));
    }
    let Some(object) = schema.as_object_mut() else { return };
    let names_members =
        object.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty());
    if names_members && !object.contains_key("additionalProperties") {
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    for keyword in ["anyOf", "oneOf"] {
        for member in object.get_mut(keyword).and_then(Value::as_array_mut).into_iter().flatten() {
            close(spec, member);
        }
    }
    if let Some(items) = object.get_mut("items") {
        close(spec, items);
    }
    if let Some(values) = object.get_mut("additionalProperties").filter(|values| values.is_object())
    {
        close(spec, values);
    }
    for (name, property) in
        object.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
    {
        if !FREE.contains(&name.as_str()) {
            close(spec, property);
        }
    }
}

/// Adds to a message the envelope that an older revision's definition names; some definitions omit
/// it.
#[must_use]
pub fn with_envelope_of(older: &Spec, name: &str, whole: &Value) -> Value {
    let mut whole = whole.clone();
    let schema = older.definition(name).map(|schema| flat(older, schema)).unwrap_or_default();
    let none = Map::new();
    let names = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if let Some(whole) = whole.as_object_mut().filter(|_| names.contains_key("method")) {
        for (member, value) in [("id", json!(1)), ("jsonrpc", json!("2.0"))] {
            if !names.contains_key(member) {
                whole.remove(member);
            } else if !whole.contains_key(member) {
                whole.insert(member.to_owned(), value);
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use mcp_proto::Revision;
    use serde_json::json;

    use super::strict;
    use crate::spec::Spec;

    #[test]
    fn unnamed_members_are_rejected_except_in_open_objects() {
        let leaf =
            json!({ "type": "object", "properties": { "a": {}, "_meta": { "type": "object" } } });
        let item = json!({ "anyOf": [{ "$ref": "#/$defs/Leaf" }, { "type": "null" }] });
        let tree = json!({ "type": "object", "properties": {
            "leaves": { "type": "array", "items": item },
        }});
        let dialect = "https://json-schema.org/draft/2020-12/schema";
        let schema = json!({ "$schema": dialect, "$defs": { "Leaf": leaf, "Tree": tree } });
        let spec = Spec::new(Revision::V2026_07_28, schema);
        let strict = strict(&spec);
        let good = json!({ "leaves": [{ "a": 1, "_meta": { "b": 1 } }, null] });
        assert_eq!(strict.validate("Tree", &good), Ok(()));
        for more in [json!({ "b": 1 }), json!({ "leaves": [{ "b": 1 }] })] {
            assert_eq!(spec.validate("Tree", &more), Ok(()));
            assert!(strict.validate("Tree", &more).is_err(), "{more}");
        }
    }
}
