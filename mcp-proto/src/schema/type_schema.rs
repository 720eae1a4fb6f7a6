//! JSON Schemas of Rust types in the form that hosts read, with the feature `schemars`.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::any::type_name;

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, RestrictFormats, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::json::Raw;

/// The schemas of a tool's arguments, derived from their type by [`argument_schema`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArgumentSchema {
    /// The schema for hosts.
    pub published: Raw,
    /// The schema that also accepts `null` for optional fields, if it differs.
    pub nullable: Option<Raw>,
}

/// Derives the schema of a tool's arguments from their type.
///
/// Hosts turn the schemas of tools into the declarations of a model's API, and drop or refuse what
/// that API lacks. The schema therefore
///
/// - has only formats that JSON Schema defines: `uint8` becomes a `minimum` and a `maximum`;
/// - has `items` in every array, also for tuples;
/// - has the schema of a map's values in `additionalProperties`, also if keys are numbers;
/// - has no `$ref` at the root;
/// - makes a field of type `Option<T>` optional, with the schema of `T`. The alternative `null`
///   remains where it cannot be left out, such as in `Vec<Option<T>>`;
/// - has no `"additionalProperties":false`, at which google-genai for Python fails. Serde refuses
///   the further members of these types by itself.
///
/// Boolean schemas remain: [`readable_input_schema`](super::readable_input_schema) replaces them.
///
/// ```
/// use mcp_proto::schema::argument_schema;
///
/// #[derive(schemars::JsonSchema)]
/// struct Today {
///     city: Option<String>,
/// }
///
/// let schema = argument_schema::<Today>().unwrap().published.to_string();
/// assert!(schema.contains(r#""properties":{"city":{"type":"string"}}"#), "{schema}");
/// assert!(argument_schema::<u8>().is_err());
/// ```
///
/// # Errors
/// Fails, with the reason, if no value of the type is a JSON object.
pub fn argument_schema<A: JsonSchema>() -> Result<ArgumentSchema, String> {
    let mut root = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>();
    let schema = root.as_value();
    if schema.get("type").is_some_and(|kind| kind == "null") {
        // `()` and unit structs are `null` in JSON, but arguments are always an object.
        let published = raw(&json!({"type": "object", "properties": {}}));
        return Ok(ArgumentSchema { published, nullable: None });
    }
    if !admits_object(schema, schema, DEPTH_MAX) {
        return Err(format!(
            "its arguments are of type `{}`, which is not an object in JSON: use a struct with \
             named fields, or `()` for a tool without arguments",
            type_name::<A>()
        ));
    }
    make_portable(&mut root);
    RecursiveTransform(open_object).transform(&mut root);
    let mut nullable = root.clone();
    RecursiveTransform(make_fields_optional).transform(&mut root);
    inline_root(&mut root, without_null);
    inline_root(&mut nullable, Clone::clone);
    // The protocol requires `"type": "object"`, which the schema of an enum lacks.
    for schema in [&mut root, &mut nullable] {
        schema.insert("type".into(), "object".into());
    }
    let nullable = (nullable != root).then(|| raw(nullable.as_value()));
    Ok(ArgumentSchema { published: raw(root.as_value()), nullable })
}

/// Derives the schema of a tool's results from their type; `None` if it is no JSON.
///
/// Like [`argument_schema`], but the alternative `null` and `"additionalProperties":false` remain,
/// because clients check results by their schema.
#[must_use]
pub fn result_schema<T: JsonSchema>() -> Option<Raw> {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    make_portable(&mut schema);
    inline_root(&mut schema, Clone::clone);
    Raw::new(schema.as_value()).ok()
}

/// The catalog refuses an invalid schema.
fn raw(schema: &Value) -> Raw {
    Raw::new(schema).unwrap_or_else(|_| Raw::empty_object())
}

/// Replaces what hosts do not read by what they do, without changing which values match.
fn make_portable(schema: &mut Schema) {
    RecursiveTransform(add_bounds).transform(schema);
    RestrictFormats::default().transform(schema);
    RecursiveTransform(add_items).transform(schema);
    RecursiveTransform(name_keys).transform(schema);
    schema.remove("title");
}

/// The bounds of the integers whose values all JSON implementations represent exactly.
const BOUNDS: [(&str, i64, i64); 6] = [
    ("int16", i16::MIN as i64, i16::MAX as i64),
    ("int32", i32::MIN as i64, i32::MAX as i64),
    ("int8", i8::MIN as i64, i8::MAX as i64),
    ("uint16", 0, u16::MAX as i64),
    ("uint32", 0, u32::MAX as i64),
    ("uint8", 0, u8::MAX as i64),
];

/// Adds the bounds of an integer that only its format expresses.
fn add_bounds(schema: &mut Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let format = keywords.get("format").and_then(Value::as_str).unwrap_or_default();
    if let Some((_, min, max)) = BOUNDS.iter().find(|(name, ..)| *name == format) {
        keywords.entry("minimum").or_insert_with(|| (*min).into());
        keywords.entry("maximum").or_insert_with(|| (*max).into());
    } else if format.starts_with("uint") {
        keywords.entry("minimum").or_insert_with(|| 0.into());
    }
}

/// Adds `items` to the schema of a tuple: some hosts require it, and the older drafts, which some
/// read, have no `prefixItems`.
fn add_items(schema: &mut Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    if keywords.contains_key("items") {
        return;
    }
    let Some(elements) = keywords.get("prefixItems").and_then(Value::as_array) else { return };
    let is_count =
        |keyword| keywords.get(keyword).and_then(Value::as_u64) == Some(elements.len() as u64);
    if !is_count("maxItems") {
        return;
    }
    let mut kinds: Vec<Value> = Vec::new();
    for element in elements {
        if !kinds.contains(element) {
            kinds.push(element.clone());
        }
    }
    let are_equal = kinds.len() == 1;
    let items = if are_equal { kinds.remove(0) } else { json!({"anyOf": kinds}) };
    if are_equal {
        keywords.remove("prefixItems");
    }
    keywords.insert("items".into(), items);
}

/// Moves the schema of the values of a map with patterned keys to `additionalProperties`, which all
/// hosts read.
fn name_keys(schema: &mut Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let is_closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
    let has_names = keywords.contains_key("properties") || keywords.contains_key("propertyNames");
    let Some(Value::Object(patterns)) = keywords.get("patternProperties") else { return };
    let mut patterns = patterns.iter();
    if let (Some((pattern, values)), None, true, false) =
        (patterns.next(), patterns.next(), is_closed, has_names)
    {
        let (names, values) = (json!({"pattern": pattern}), values.clone());
        keywords.remove("patternProperties");
        keywords.insert("propertyNames".into(), names);
        keywords.insert("additionalProperties".into(), values);
    }
}

/// Removes the refusal of further members from an object.
fn open_object(schema: &mut Schema) {
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        schema.remove("additionalProperties");
    }
}

/// Makes the fields of an object that are not required lack the alternative `null`.
fn make_fields_optional(schema: &mut Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<String> = required.filter_map(Value::as_str).map(str::to_owned).collect();
    let properties = keywords.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        if let Some(property) = property.as_object_mut().filter(|_| !required.contains(name)) {
            *property = without_null(property);
        }
    }
}

/// Returns the schema of an optional value without the alternative `null`: the field is left out
/// instead.
#[must_use]
pub fn without_null(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(kinds)) = schema.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            schema.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative.get("type").is_none_or(|it| it != "null"));
        if let [Value::Object(only)] = &alternatives[..] {
            let mut only = only.clone();
            schema.remove("anyOf");
            // The field's own description and default take precedence over its type's.
            only.append(&mut schema);
            return only;
        }
    }
    schema
}

/// Replaces references at the root by the schemas that they refer to, after `reduce` at each step.
fn inline_root(root: &mut Schema, reduce: fn(&Map<String, Value>) -> Map<String, Value>) {
    for _ in 0..DEPTH_MAX {
        if let Some(keywords) = root.as_object_mut() {
            *keywords = reduce(keywords);
        }
        let Some(reference) = root.get("$ref").and_then(Value::as_str).map(str::to_owned) else {
            return;
        };
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        let Some(Value::Object(target)) = target.cloned() else { return };
        let Some(keywords) = root.as_object_mut() else { return };
        let is_annotation = |keyword: &str| matches!(keyword, "title" | "description");
        if target.keys().any(|key| !is_annotation(key) && keywords.contains_key(key)) {
            return;
        }
        keywords.remove("$ref");
        for (keyword, value) in target {
            keywords.entry(keyword).or_insert(value);
        }
        keywords.remove("title");
        drop_definition(keywords, &reference);
    }
}

/// Removes a definition that nothing refers to any more.
fn drop_definition(root: &mut Map<String, Value>, reference: &str) {
    let Some(name) = reference.strip_prefix("#/$defs/") else { return };
    let quoted = Value::from(reference).to_string();
    if Value::Object(root.clone()).to_string().contains(&quoted) {
        return;
    }
    if let Some(Value::Object(definitions)) = root.get_mut("$defs") {
        definitions.remove(name);
        if definitions.is_empty() {
            root.remove("$defs");
        }
    }
}

/// Returns whether a JSON object can match a schema. Constraints other than on types do not count.
fn admits_object(schema: &Value, root: &Value, depth: usize) -> bool {
    let Some(keywords) = schema.as_object() else { return *schema == Value::Bool(true) };
    let Some(depth) = depth.checked_sub(1) else { return true };
    if let Some(kind) = keywords.get("type") {
        let kinds = core::slice::from_ref(kind);
        return kind.as_array().map_or(kinds, Vec::as_slice).iter().any(|kind| kind == "object");
    }
    if let Some(value) = keywords.get("const") {
        return value.is_object();
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return values.iter().any(Value::is_object);
    }
    let reference = keywords.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|it| root.pointer(it.strip_prefix('#')?));
    target.is_none_or(|target| admits_object(target, root, depth))
        && ["anyOf", "oneOf"].iter().all(|keyword| {
            let alternatives = keywords.get(*keyword).and_then(Value::as_array);
            alternatives.is_none_or(|them| them.iter().any(|it| admits_object(it, root, depth)))
        })
}

/// How many references and alternatives are followed. A type may refer to itself.
const DEPTH_MAX: usize = 16;

#[cfg(test)]
mod tests;
