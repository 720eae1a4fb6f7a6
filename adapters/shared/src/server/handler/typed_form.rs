//! Forms derived from Rust types, with the `schemars` feature.

use mcp_proto::schema::{Decode, Field, Form, without_null};
use mcp_proto::{ErrorObject, Raw};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::server::handler::handler_error::HandlerError;

/// Derives a form from a type: a struct whose fields are texts, numbers, booleans, enums of unit
/// variants, lists of such enums, or options of these.
///
/// Required fields come first, in the order of declaration. Keywords that forms lack, such as
/// `pattern` and formats other than the four of forms, are left out.
///
/// # Errors
/// `-32603` with the type, the field and the reason if the type is not a form.
pub(crate) fn form_of<T: JsonSchema>() -> Result<Form, HandlerError> {
    shape_of::<T>().map_err(|reason| {
        let message = format!("`{}` cannot be a form: {reason}", T::schema_name());
        HandlerError::refused(ErrorObject::internal(message))
    })
}

/// Derives a form from a type, or returns why that is impossible.
pub(crate) fn shape_of<T: JsonSchema>() -> Result<Form, String> {
    form_from(schema_of::<T>().as_value())
}

/// Returns whether a type is `null` in JSON, as `()` is.
pub(crate) fn is_null<T: JsonSchema>() -> bool {
    schema_of::<T>().get("type").is_some_and(|kind| kind == "null")
}

fn schema_of<T: JsonSchema>() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<T>()
}

/// Reads the schema of a struct as a form, or returns why that is impossible.
fn form_from(schema: &Value) -> Result<Form, String> {
    if ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|keyword| schema.get(keyword).is_some()) {
        return Err("the type has alternatives; use a struct with named fields".into());
    }
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Err("the type is not a struct with named fields".into());
    }
    if schema.get("additionalProperties").is_some_and(|rest| rest != false) {
        return Err("the type accepts fields of any name; use a struct with named fields".into());
    }
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required = schema.get("required").and_then(Value::as_array);
    // In the order of declaration, which `properties` has lost unless `serde_json` preserves it.
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let mut form = Form::new(mcp_proto::schema::Map::new());
    for name in &required {
        if let Some(property) = properties.get(*name) {
            form = form.field(name, field_from(name, property)?);
        }
    }
    for (name, property) in properties {
        if !required.contains(&name.as_str()) {
            form = form.optional_field(name, field_from(name, property)?);
        }
    }
    Ok(form)
}

fn field_from(name: &str, schema: &Value) -> Result<Field, String> {
    let field = reduce_field(schema).and_then(|field| {
        let field = Raw::new(&field).map_err(|error| error.to_string())?;
        Field::decode(&field).map_err(|error| error.to_string())
    });
    field.map_err(|reason| format!("field `{name}` {reason}"))
}

/// Reduces the schema of a field to that of a form's field, or returns why that is impossible.
fn reduce_field(schema: &Value) -> Result<Value, String> {
    let schema = schema.as_object().ok_or(ANY_VALUE)?;
    let schema = without_null(schema);
    let mut field = Map::new();
    copy(&schema, &["title", "description", "default"], &mut field);
    if let Some((keyword, choices)) = choices(&schema, "oneOf")? {
        field.insert("type".into(), "string".into());
        field.insert(keyword.into(), choices);
        return Ok(field.into());
    }
    if schema.contains_key("$ref") {
        return Err("refers to its own type; forms are flat".into());
    }
    if schema.contains_key("anyOf") {
        return Err("has alternatives; forms allow enums of unit variants only".into());
    }
    let kind = schema.get("type").and_then(Value::as_str).ok_or(ANY_VALUE)?;
    field.insert("type".into(), kind.into());
    match kind {
        "boolean" => {}
        "integer" | "number" => copy(&schema, &["minimum", "maximum"], &mut field),
        "string" => {
            copy(&schema, &["minLength", "maxLength"], &mut field);
            if schema.get("format").and_then(Value::as_str).is_some_and(|it| FORMATS.contains(&it))
            {
                copy(&schema, &["format"], &mut field);
            }
        }
        "array" => {
            copy(&schema, &["minItems", "maxItems"], &mut field);
            let items = schema.get("items").and_then(Value::as_object);
            let items = items.map(|items| choices(items, "anyOf")).transpose()?.flatten();
            let (keyword, values) = items.ok_or(ARRAY)?;
            field.insert(
                "items".into(),
                match keyword {
                    "enum" => json!({"type": "string", "enum": values}),
                    titled => json!({titled: values}),
                },
            );
        }
        "object" => return Err("is an object; forms are flat".into()),
        other => return Err(format!("is of type `{other}`, which forms do not allow")),
    }
    Ok(field.into())
}

/// The formats that a text field of a form can have.
const FORMATS: [&str; 4] = ["date", "date-time", "email", "uri"];

const ANY_VALUE: &str =
    "can be any JSON value; forms allow texts, numbers, booleans and enums only";
const ARRAY: &str = "is a list; forms allow lists of enums of unit variants only";

fn copy(from: &Map<String, Value>, keywords: &[&str], to: &mut Map<String, Value>) {
    for keyword in keywords {
        if let Some(value) = from.get(*keyword) {
            to.insert((*keyword).into(), value.clone());
        }
    }
}

/// Returns the values of an enum of unit variants: a list for the keyword `enum`, or, if variants
/// are documented, options for the keyword `titled`. Returns `None` if the type is not an enum.
fn choices<'k>(
    schema: &Map<String, Value>,
    titled: &'k str,
) -> Result<Option<(&'k str, Value)>, String> {
    let Some(variants) = schema.get("oneOf").and_then(Value::as_array) else {
        return Ok(plain_values(schema)?.map(|values| ("enum", values.into())));
    };
    let mut options = Vec::new();
    for variant in variants {
        let variant = variant.as_object().ok_or(DATA)?;
        let title = variant.get("title").or_else(|| variant.get("description"));
        for value in plain_values(variant)?.ok_or(DATA)? {
            options.push(json!({"const": value, "title": title.unwrap_or(&value)}));
        }
    }
    Ok(Some((titled, options.into())))
}

const DATA: &str = "has variants with data; forms allow enums of unit variants only";

/// Returns the values of `enum` or `const`, all of which must be strings.
fn plain_values(schema: &Map<String, Value>) -> Result<Option<Vec<Value>>, String> {
    let values = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => return Ok(None),
    };
    if values.iter().all(Value::is_string) {
        Ok(Some(values))
    } else {
        Err("has choices that are not strings".into())
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use mcp_proto::Revision;
    use mcp_proto::schema::Encode;

    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    enum Meal {
        /// Fish and chips
        Fish,
        Soup,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "read by the derived schema only")]
    enum Size {
        Small,
        ExtraLarge,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    struct Booking {
        /// Your name.
        #[schemars(length(max = 20))]
        name: String,
        #[schemars(range(min = 1, max = 8))]
        guests: u8,
        budget: Option<f64>,
        vegan: bool,
        meal: Meal,
        size: Option<Size>,
        extras: Vec<Size>,
        #[schemars(email)]
        mail: Option<String>,
    }

    fn json_of<T: JsonSchema>() -> Value {
        let mut out = Vec::new();
        form_of::<T>().unwrap().encode(Revision::V2026_07_28, &mut out).unwrap();
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn every_kind_of_field_is_derived() {
        let form = form_of::<Booking>().unwrap();
        let names: Vec<&str> = form.properties.iter().map(|(name, _)| name).collect();
        let required = ["name", "guests", "vegan", "meal", "extras"];
        assert_eq!(names, [&required[..], &["budget", "mail", "size"]].concat());
        assert_eq!(
            json_of::<Booking>(),
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Your name.", "maxLength": 20},
                    "guests": {"type": "integer", "minimum": 1, "maximum": 8},
                    "budget": {"type": "number"},
                    "vegan": {"type": "boolean"},
                    "meal": {"type": "string", "oneOf": [
                        {"const": "Soup", "title": "Soup"},
                        {"const": "Fish", "title": "Fish and chips"},
                    ]},
                    "size": {"type": "string", "enum": ["small", "extra_large"]},
                    "extras": {
                        "type": "array",
                        "items": {"type": "string", "enum": ["small", "extra_large"]},
                    },
                    "mail": {"type": "string", "format": "email"},
                },
                "required": ["name", "guests", "vegan", "meal", "extras"],
            })
        );
    }

    fn refusal<T: JsonSchema>() -> String {
        format!("{:?}", form_of::<T>().expect_err("not a form"))
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    struct With<T> {
        field: T,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    struct Chain {
        next: Option<Box<Self>>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "read by the derived schema only")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    #[test]
    fn the_error_names_the_type_the_field_and_the_reason() {
        let error = refusal::<With<Booking>>();
        assert!(error.contains("With"), "{error}");
        assert!(error.contains("field `field` is an object; forms are flat"), "{error}");
        for (error, reason) in [
            (refusal::<With<Vec<String>>>(), "is a list"),
            (refusal::<With<(u8, u8)>>(), "is a list"),
            (refusal::<With<Value>>(), "can be any JSON value"),
            (refusal::<With<()>>(), "is of type `null`"),
            (refusal::<With<Shape>>(), "variants with data"),
            (refusal::<With<Option<Shape>>>(), "variants with data"),
            (refusal::<With<BTreeMap<String, u8>>>(), "is an object"),
            (refusal::<Chain>(), "field `next`"),
            (refusal::<BTreeMap<String, u8>>(), "fields of any name"),
            (refusal::<Shape>(), "has alternatives"),
            (refusal::<String>(), "not a struct"),
        ] {
            assert!(error.contains(reason), "{error}: expected {reason}");
        }
    }
}
