//! Resolves references and conjunctions at the top level of schemas.

use serde_json::{Map, Value, json};

use crate::spec::Spec;

/// Expands `$ref` and `allOf` of `schema`, one level deep.
///
/// # Panics
///
/// If a reference has no target.
#[must_use]
pub fn flat(spec: &Spec, schema: &Value) -> Map<String, Value> {
    let mut all = Map::new();
    let Some(object) = schema.as_object() else { return all };
    if let Some(name) = spec.reference(schema) {
        let target = spec.definition(name).unwrap_or_else(|| panic!("{name} is not defined"));
        merge(&mut all, flat(spec, target));
    }
    for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        merge(&mut all, flat(spec, part));
    }
    let own =
        object.iter().filter(|(key, _)| !matches!(key.as_str(), "$ref" | "allOf" | "description"));
    merge(&mut all, own.map(|(key, value)| (key.clone(), value.clone())).collect());
    all
}

/// Merges `more` into `all`.
fn merge(all: &mut Map<String, Value>, more: Map<String, Value>) {
    for (keyword, value) in more {
        match (all.get_mut(&keyword), value) {
            (Some(Value::Object(old)), Value::Object(new)) if keyword == "properties" => {
                for (name, schema) in new {
                    let both = match old.remove(&name) {
                        Some(other) => json!({ "allOf": [other, schema] }),
                        None => schema,
                    };
                    old.insert(name, both);
                }
            }
            (Some(Value::Array(old)), Value::Array(new)) if keyword == "required" => {
                let new: Vec<Value> = new.into_iter().filter(|name| !old.contains(name)).collect();
                old.extend(new);
            }
            (_, value) => {
                all.insert(keyword, value);
            }
        }
    }
}

/// Returns whether values of `derived` have every property that values of `base` have, recursively.
#[must_use]
pub fn extends(spec: &Spec, derived: &Value, base: &Value) -> bool {
    let (derived, base) = (flat(spec, derived), flat(spec, base));
    let none = Map::new();
    let properties = |schema: &Map<String, Value>| {
        schema.get("properties").and_then(Value::as_object).unwrap_or(&none).clone()
    };
    let ours = properties(&derived);
    properties(&base)
        .iter()
        .all(|(name, base)| ours.get(name).is_some_and(|own| extends(spec, own, base)))
}
