//! Derived schemas: which types are arguments, and what hosts read.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use core::num::NonZeroU8;

use super::*;

#[derive(JsonSchema)]
#[allow(dead_code, reason = "read by the derived schema only")]
struct With<T> {
    field: T,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "read by the derived schema only")]
struct Optional<T> {
    #[serde(default)]
    field: Option<T>,
    nested: Vec<Optional2<T>>,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "read by the derived schema only")]
struct Optional2<T> {
    /// Inside.
    field: Option<T>,
}

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
    argument_schema::<A>().unwrap().published.parse().unwrap()
}

/// Returns the schema of a field of this type.
fn field_of<T: JsonSchema>() -> Value {
    schema_of::<With<T>>()["properties"]["field"].clone()
}

fn result_of<T: JsonSchema>() -> Value {
    result_schema::<T>().unwrap().parse().unwrap()
}

#[test]
fn types_without_fields_take_an_empty_object() {
    let nothing = json!({"type": "object", "properties": {}});
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
        let reason = refused.err().unwrap();
        assert!(reason.contains(name) && reason.contains("use a struct"), "{reason}");
    }
}

// G-10: a format that JSON Schema lacks becomes bounds.
#[test]
fn formats_of_rust_types_become_bounds() {
    for (schema, expected) in [
        (field_of::<u8>(), json!({"type": "integer", "minimum": 0, "maximum": 255})),
        (field_of::<i8>(), json!({"type": "integer", "minimum": -128, "maximum": 127})),
        (field_of::<u32>(), json!({"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u32})),
        (field_of::<i32>(), json!({"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX})),
        (field_of::<u64>(), json!({"type": "integer", "minimum": 0})),
        (field_of::<usize>(), json!({"type": "integer", "minimum": 0})),
        (field_of::<u128>(), json!({"type": "integer", "minimum": 0})),
        (field_of::<i64>(), json!({"type": "integer"})),
        (field_of::<f32>(), json!({"type": "number"})),
        (field_of::<f64>(), json!({"type": "number"})),
        (field_of::<NonZeroU8>(), json!({"type": "integer", "minimum": 1, "maximum": 255})),
        (field_of::<core::net::IpAddr>(), json!({"type": "string"})),
        (field_of::<core::net::Ipv4Addr>(), json!({"type": "string", "format": "ipv4"})),
        (
            field_of::<Vec<u8>>(),
            json!({
                "type": "array",
                "items": {"type": "integer", "minimum": 0, "maximum": 255},
            }),
        ),
        (
            result_of::<With<u16>>()["properties"]["field"].clone(),
            json!({"type": "integer", "minimum": 0, "maximum": 65535}),
        ),
    ] {
        assert_eq!(schema, expected);
    }
}

// G-10
#[test]
fn optional_fields_are_left_out_instead_of_null() {
    for (schema, expected) in [
        (schema_of::<Optional<String>>(), json!({"type": "string"})),
        (schema_of::<Optional<bool>>(), json!({"type": "boolean"})),
        (schema_of::<Optional<Option<bool>>>(), json!({"type": "boolean"})),
        (schema_of::<Optional<Named>>(), json!({"$ref": "#/$defs/Named"})),
        (schema_of::<Optional<Choice>>(), json!({"$ref": "#/$defs/Choice"})),
        (schema_of::<Optional<Value>>(), json!(true)),
        (
            schema_of::<Optional<Vec<Option<bool>>>>(),
            json!({"type": "array", "items": {"type": ["boolean", "null"]}}),
        ),
        (
            schema_of::<Optional<BTreeMap<String, Option<bool>>>>(),
            json!({"type": "object", "additionalProperties": {"type": ["boolean", "null"]}}),
        ),
    ] {
        assert_eq!(schema["properties"]["field"], expected);
        assert_eq!(schema["required"], json!(["nested"]));
        let definitions = schema["$defs"].as_object().unwrap();
        let inner =
            definitions.values().find(|it| it["properties"]["field"]["description"] == "Inside.");
        let Some(inner) = inner else {
            assert_eq!(expected, true, "{schema}");
            continue;
        };
        let mut inner = inner["properties"]["field"].clone();
        inner.as_object_mut().unwrap().remove("description");
        assert_eq!(inner, if expected == true { json!({}) } else { expected });
    }
}

#[test]
fn optional_fields_of_results_may_be_null() {
    let field = |schema: Value| schema["properties"]["field"].clone();
    assert_eq!(field(result_of::<With<Option<u8>>>())["type"], json!(["integer", "null"]));
    let named = json!([{"$ref": "#/$defs/Named"}, {"type": "null"}]);
    assert_eq!(field(result_of::<With<Option<Named>>>())["anyOf"], named);
    assert_eq!(result_of::<Option<Named>>()["anyOf"].as_array().unwrap().len(), 2);
}

#[test]
fn only_schemas_with_optional_fields_have_a_nullable_form() {
    assert!(argument_schema::<With<u8>>().unwrap().nullable.is_none());
    assert!(argument_schema::<()>().unwrap().nullable.is_none());
    let nullable = argument_schema::<With<Option<u8>>>().unwrap().nullable.unwrap();
    let nullable: Value = nullable.parse().unwrap();
    assert_eq!(nullable["properties"]["field"]["type"], json!(["integer", "null"]));
    assert_eq!(nullable["type"], "object");
}

#[test]
fn tuples_have_items() {
    assert_eq!(
        field_of::<(bool, bool)>(),
        json!({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2})
    );
    let kinds = json!([{"type": "boolean"}, {"type": "string"}]);
    let mixed = field_of::<(bool, String)>();
    assert_eq!((&mixed["prefixItems"], &mixed["items"]["anyOf"]), (&kinds, &kinds));
    let three = field_of::<(bool, String, bool)>();
    assert_eq!(
        (three["prefixItems"].as_array().unwrap().len(), &three["items"]["anyOf"]),
        (3, &kinds)
    );
    assert_eq!(field_of::<[bool; 3]>()["items"], json!({"type": "boolean"}));
    assert_eq!(field_of::<BTreeSet<bool>>()["items"], json!({"type": "boolean"}));
}

#[test]
fn a_reference_at_the_root_is_replaced() {
    for schema in [
        schema_of::<Option<Named>>(),
        schema_of::<Wrapped<Named>>(),
        schema_of::<Box<Named>>(),
        schema_of::<Wrapped<Wrapped<Option<Named>>>>(),
        result_of::<Wrapped<Named>>(),
    ] {
        assert_eq!(schema["properties"]["city"]["type"], "string", "{schema}");
        assert!(schema.get("$ref").is_none() && schema.get("anyOf").is_none(), "{schema}");
        assert!(schema.get("title").is_none(), "{schema}");
    }
    let flat = schema_of::<Wrapped<With<u8>>>();
    assert!(flat.get("$defs").is_none(), "{flat}");
}

#[test]
fn maps_have_the_schema_of_their_values_in_additional_properties() {
    let text = json!({"type": "string"});
    let numbered = field_of::<BTreeMap<i32, String>>();
    assert_eq!(
        (&numbered["additionalProperties"], numbered.get("patternProperties")),
        (&text, None)
    );
    assert_eq!(numbered["propertyNames"], json!({"pattern": r"^-?\d+$"}));
    assert_eq!(field_of::<BTreeMap<String, String>>()["additionalProperties"], text);
    let chosen = field_of::<BTreeMap<Choice, String>>();
    assert_eq!(chosen["properties"], json!({"One": text, "Two": text}));
}

#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "read by the derived schema only")]
struct Strict {
    shape: Shape,
}

#[test]
fn only_results_refuse_further_members() {
    let refusals =
        |schema: Value| schema.to_string().matches("\"additionalProperties\":false").count();
    assert_eq!((refusals(schema_of::<Strict>()), refusals(result_of::<Strict>())), (0, 2));
}
