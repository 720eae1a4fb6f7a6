//! Input schemas of tools, derived from the types of their arguments, with the feature `schemars`.

use std::any::type_name;

use mcp_proto::Raw;
use mcp_proto::schema::Tool;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use crate::server::handler::tool_result::{IntoToolResult, with_output_schema};

/// Returns a tool whose input schema is derived from the type of its arguments, and its output
/// schema from the type of its results.
///
/// # Errors
/// Fails, with the name of the tool and the reason, if the tool cannot be offered.
pub(super) fn derived_tool<A: JsonSchema, R: IntoToolResult>(
    name: &str,
    description: &str,
) -> Result<Tool, (String, String)> {
    let schema = argument_schema::<A>().map_err(|reason| (name.to_owned(), reason))?;
    Ok(with_output_schema::<R>(Tool::new(name, schema).description(description)))
}

/// Derives the schema of a tool's arguments from their type.
///
/// # Errors
/// Fails, with the reason, if no value of the type is a JSON object.
fn argument_schema<A: JsonSchema>() -> Result<Raw, String> {
    let root = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>();
    let schema = root.as_value();
    if schema.get("type").is_some_and(|kind| kind == "null") {
        // `()` and unit structs are `null` in JSON, but arguments are always an object.
        return Ok(raw(&json!({"type": "object", "additionalProperties": false})));
    }
    if !admits_object(schema, schema, DEPTH_MAX) {
        return Err(format!(
            "its arguments are of type `{}`, which is not an object in JSON: use a struct with \
             named fields, or `()` for a tool without arguments",
            type_name::<A>()
        ));
    }
    let mut root = root;
    // The protocol requires `"type": "object"`, which the schema of an enum lacks.
    root.insert("type".into(), "object".into());
    root.remove("title");
    Ok(raw(root.as_value()))
}

/// The catalog refuses an invalid schema.
fn raw(schema: &Value) -> Raw {
    Raw::new(schema).unwrap_or_else(|_| Raw::empty_object())
}

/// Returns whether a JSON object can match a schema. Constraints other than on types do not count.
fn admits_object(schema: &Value, root: &Value, depth: usize) -> bool {
    let Some(keywords) = schema.as_object() else { return *schema == Value::Bool(true) };
    let Some(depth) = depth.checked_sub(1) else { return true };
    if let Some(kind) = keywords.get("type") {
        let kinds = std::slice::from_ref(kind);
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
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    struct Named {
        city: String,
        next: Option<Box<Self>>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    struct Unit;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    struct Wrapped<T>(T);

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    #[derive(JsonSchema)]
    #[serde(tag = "kind")]
    #[allow(dead_code, reason = "read by the derived schema only")]
    enum Tagged {
        Circle { radius: f64 },
        Point,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    enum Choice {
        One,
        Two,
    }

    fn schema_of<A: JsonSchema>() -> Value {
        argument_schema::<A>().unwrap().parse().unwrap()
    }

    #[test]
    fn types_without_fields_take_an_empty_object() {
        let nothing = json!({"type": "object", "additionalProperties": false});
        assert_eq!(schema_of::<()>(), nothing);
        assert_eq!(schema_of::<Unit>(), nothing);
        assert_eq!(schema_of::<Wrapped<()>>(), nothing);
    }

    #[test]
    fn types_that_can_be_objects_are_accepted() {
        for schema in [
            schema_of::<Named>(),
            schema_of::<Option<Named>>(),
            schema_of::<Wrapped<Named>>(),
            schema_of::<Shape>(),
            schema_of::<Tagged>(),
            schema_of::<BTreeMap<String, u8>>(),
            schema_of::<Value>(),
        ] {
            assert_eq!(schema["type"], "object", "{schema}");
        }
    }

    #[test]
    fn other_types_are_refused_with_their_name() {
        for (refused, name) in [
            (argument_schema::<i32>(), "`i32`"),
            (argument_schema::<String>(), "String`"),
            (argument_schema::<(u8, u8)>(), "`(u8, u8)`"),
            (argument_schema::<Vec<Named>>(), "Vec<"),
            (argument_schema::<Option<bool>>(), "Option<bool>`"),
            (argument_schema::<Wrapped<u8>>(), "Wrapped<u8>`"),
            (argument_schema::<Choice>(), "Choice`"),
        ] {
            let reason = refused.unwrap_err();
            assert!(reason.contains(name) && reason.contains("use a struct"), "{reason}");
        }
    }
}
