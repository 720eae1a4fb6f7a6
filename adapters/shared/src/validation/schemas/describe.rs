//! Descriptions of mismatches for models and people: where, and what is allowed.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use super::cost::shortened;

/// The maximum length of a description.
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// Describes a mismatch with a schema without quoting the value.
pub(super) fn describe(error: &ValidationError<'_>, schema: &Value) -> String {
    let path = error.instance_path().as_str();
    let place = if path.is_empty() { "the value" } else { path };
    shortened(&format!("{place}: {}", reason(error, schema)), DESCRIPTION_CHARS_MAX)
}

fn reason(error: &ValidationError<'_>, schema: &Value) -> String {
    let found = kind_of(error.instance());
    match error.kind() {
        ValidationErrorKind::OneOfNotValid { context } | ValidationErrorKind::AnyOf { context } => {
            let place = error.instance_path().as_str();
            let mut allowed: Vec<String> = Vec::new();
            for alternative in context {
                let allows = alternative.first().map(|first| alternative_of(first, place, schema));
                allowed.extend(allows.into_iter().flatten().filter(|it| !it.is_empty()));
            }
            allowed.sort();
            allowed.dedup();
            format!("must be one of: {}; found {found}", allowed.join(", "))
        }
        ValidationErrorKind::Enum { options } => {
            format!("must be one of: {}; found {found}", listed(options).join(", "))
        }
        ValidationErrorKind::Constant { expected_value } => {
            format!("must be {expected_value}; found {found}")
        }
        ValidationErrorKind::Type { .. } => format!("{}; found {found}", error.masked()),
        _ => error.masked().to_string(),
    }
}

/// Returns what an alternative allows instead, from its first mismatch.
fn alternative_of(error: &ValidationError<'_>, place: &str, schema: &Value) -> Vec<String> {
    let path = error.instance_path().as_str();
    let below = path.strip_prefix(place).unwrap_or(path);
    let allowed = match error.kind() {
        ValidationErrorKind::Enum { options } => listed(options),
        ValidationErrorKind::Constant { expected_value } => vec![expected_value.to_string()],
        ValidationErrorKind::Required { .. } => vec![object_of(error, schema)],
        ValidationErrorKind::Type { kind: TypeKind::Single(JsonType::Object) } => {
            vec![object_of(error, schema)]
        }
        ValidationErrorKind::Type { kind: TypeKind::Single(kind) } => {
            vec![with_article(&kind.to_string())]
        }
        ValidationErrorKind::OneOfNotValid { context } | ValidationErrorKind::AnyOf { context } => {
            let first = context.iter().filter_map(|alternative| alternative.first());
            return first.flat_map(|error| alternative_of(error, place, schema)).collect();
        }
        _ => vec![error.masked().to_string()],
    };
    match below {
        "" => allowed,
        below => allowed.iter().map(|it| format!("{it} at {below}")).collect(),
    }
}

/// Describes the object that the schema of an error requires, such as a variant of an enum: by the
/// names of its required members, and their values if these are fixed.
fn object_of(error: &ValidationError<'_>, schema: &Value) -> String {
    let keyword = error.schema_path().as_str();
    let object = keyword.rsplit_once('/').and_then(|(object, _)| schema.pointer(object));
    let required = object.and_then(|object| object.get("required")).and_then(Value::as_array);
    let member = |name: &str| {
        let fixed = object.and_then(|object| object.get("properties")?.get(name)?.get("const"));
        fixed.map_or_else(|| format!("{name:?}"), |fixed| format!("{name:?}: {fixed}"))
    };
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let members: Vec<String> = names.map(member).collect();
    if members.is_empty() {
        "an object".into()
    } else {
        format!("an object with {}", members.join(" and "))
    }
}

fn listed(options: &Value) -> Vec<String> {
    options.as_array().into_iter().flatten().map(Value::to_string).collect()
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "an array",
        Value::Bool(_) => "a boolean",
        Value::Null => "null",
        Value::Number(_) => "a number",
        Value::Object(_) => "an object",
        Value::String(_) => "a string",
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "array" | "integer" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
