//! The JSON Schemas of tools in the form that all clients accept.

use alloc::vec::Vec;

#[cfg(feature = "schema")]
use super::tools::Tool;
use crate::json::{Array, Object, Raw, elements, find, key_is, members};

/// Returns the input schema of a tool in a form that no client refuses.
///
/// Some clients refuse a whole list of tools because of one schema that they cannot read.
/// Afterwards:
///
/// - No schema inside the schema is a boolean: `true` has become `{}`, and `false` has become
///   `{"not":{}}`. Only `"additionalProperties":false` remains, as do `unevaluatedProperties` and
///   their like: nearly all clients accept it, and fewer accept `not` there.
/// - A schema that is an object has `"type":"object"` and `properties`, which may be empty.
///
/// The schema accepts the arguments that it accepted before. Everything else remains, in its order
/// and with its numbers and texts verbatim. Schemas nested deeper than 128 levels remain, too.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::readable_input_schema;
///
/// let schema = Raw::from_text(r#"{"type":"object","properties":{"payload":true}}"#).unwrap();
/// let schema = readable_input_schema(schema);
/// assert_eq!(schema.as_str(), r#"{"type":"object","properties":{"payload":{}}}"#);
/// ```
#[must_use]
pub fn readable_input_schema(schema: Raw) -> Raw {
    readable(&schema, INPUT_MEMBERS).unwrap_or(schema)
}

#[cfg(feature = "schema")]
impl Tool {
    /// Returns the tool with schemas in a form that no client refuses; see
    /// [`readable_input_schema`]. The output schema need not be one of objects.
    ///
    /// A [`Catalog`](crate::catalog::Catalog) does this to the tools that are added to it, and a
    /// [`NeededInput`](crate::NeededInput) to the tools for sampling. Call this method for tools
    /// that are published otherwise.
    #[must_use]
    pub fn with_readable_schemas(mut self) -> Self {
        if let Some(schema) = readable(&self.input_schema, INPUT_MEMBERS) {
            self.input_schema = schema.into();
        }
        let output = self.output_schema.as_ref().and_then(|schema| readable(schema, &[]));
        if let Some(schema) = output {
            self.output_schema = Some(schema.into());
        }
        self
    }
}

/// The members that every input schema has, and what they are if it lacks them.
const INPUT_MEMBERS: &[(&str, &[u8])] = &[("type", b"\"object\""), ("properties", b"{}")];

/// How deep schemas are followed. JSON that was parsed is not deeper.
const DEPTH_MAX: u8 = 128;

/// The kind of value that a keyword has.
#[derive(Clone, Copy)]
enum Keyword {
    /// A schema, or an array of schemas.
    Schemas,
    /// A schema that clients accept as `false`.
    Rest,
    /// An object whose members are schemas.
    Named,
    /// Anything else.
    Data,
}

/// The keywords that contain schemas, of all drafts.
const KEYWORDS: &[(&str, Keyword)] = &[
    ("$defs", Keyword::Named),
    ("additionalItems", Keyword::Rest),
    ("additionalProperties", Keyword::Rest),
    ("allOf", Keyword::Schemas),
    ("anyOf", Keyword::Schemas),
    ("contains", Keyword::Schemas),
    ("contentSchema", Keyword::Schemas),
    ("definitions", Keyword::Named),
    ("dependencies", Keyword::Named),
    ("dependentSchemas", Keyword::Named),
    ("else", Keyword::Schemas),
    ("if", Keyword::Schemas),
    ("items", Keyword::Schemas),
    ("not", Keyword::Schemas),
    ("oneOf", Keyword::Schemas),
    ("patternProperties", Keyword::Named),
    ("prefixItems", Keyword::Schemas),
    ("properties", Keyword::Named),
    ("propertyNames", Keyword::Schemas),
    ("then", Keyword::Schemas),
    ("unevaluatedItems", Keyword::Rest),
    ("unevaluatedProperties", Keyword::Rest),
];

/// Returns a schema without boolean schemas and with the members of `required`, or `None` if that
/// is what it is already.
fn readable(schema: &Raw, required: &[(&str, &[u8])]) -> Option<Raw> {
    let text = schema.as_bytes();
    if !schema.is_object() {
        return None;
    }
    let is_missing = |(name, _): &&(&str, &[u8])| find(text, name).is_none();
    let mut missing = required.iter().filter(is_missing).peekable();
    if missing.peek().is_none() && !mentions_booleans(text) {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() + 32);
    let mut object = Object::begin(&mut out);
    write_members(&mut object, text, DEPTH_MAX);
    for (name, value) in missing {
        object.raw(name, value);
    }
    object.end();
    (out != text).then(|| Raw::from_written(out))
}

/// Returns whether a JSON text may contain `true` or `false`, including in a string.
fn mentions_booleans(text: &[u8]) -> bool {
    // The searches of `memchr` would add 6 KiB to WebAssembly modules.
    text.windows(4).any(|word| matches!(word, b"true" | b"alse"))
}

/// Writes the members of a schema without boolean schemas in them.
fn write_members(object: &mut Object<'_>, schema: &[u8], depth: u8) {
    for (key, value) in members(schema) {
        let known = KEYWORDS.iter().find(|(name, _)| key_is(key, name));
        let out = object.escaped_key(key);
        match known.map_or(Keyword::Data, |(_, keyword)| *keyword) {
            Keyword::Rest if value == b"false" => out.extend_from_slice(value),
            Keyword::Rest | Keyword::Schemas => write_schemas(out, value, depth),
            Keyword::Named => write_named(out, value, depth),
            Keyword::Data => out.extend_from_slice(value),
        }
    }
}

/// Writes an object whose members are schemas.
fn write_named(out: &mut Vec<u8>, schemas: &[u8], depth: u8) {
    if !schemas.starts_with(b"{") {
        out.extend_from_slice(schemas);
        return;
    }
    let mut object = Object::begin(out);
    for (name, schema) in members(schemas) {
        let out = object.escaped_key(name);
        // The draft 7 keyword `dependencies` also allows arrays of names, which pass unchanged.
        write_schemas(out, schema, depth);
    }
    object.end();
}

/// Writes a schema, or an array of schemas, without boolean schemas.
fn write_schemas(out: &mut Vec<u8>, value: &[u8], depth: u8) {
    match (value.first(), depth.checked_sub(1)) {
        (Some(b't'), _) => out.extend_from_slice(b"{}"),
        (Some(b'f'), _) => out.extend_from_slice(b"{\"not\":{}}"),
        (Some(b'{'), Some(depth)) => {
            let mut object = Object::begin(out);
            write_members(&mut object, value, depth);
            object.end();
        }
        (Some(b'['), Some(depth)) => {
            let mut array = Array::begin(out);
            for element in elements(value) {
                write_schemas(array.next(), element, depth);
            }
            array.end();
        }
        _ => out.extend_from_slice(value),
    }
}

#[cfg(feature = "schema")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;
    use crate::schema::CreateMessage;

    fn input(schema: &str) -> alloc::string::String {
        let tool = Tool::new("t", Raw::from_text(schema).unwrap()).with_readable_schemas();
        assert_eq!(tool.clone().with_readable_schemas(), tool);
        tool.input_schema.as_str().into()
    }

    fn output(schema: &str) -> alloc::string::String {
        let empty = Raw::empty_object();
        let tool = Tool::new("t", empty).output_schema(Raw::from_text(schema).unwrap());
        tool.with_readable_schemas().output_schema.unwrap().as_str().into()
    }

    /// Returns an input schema with `keywords` beside those that every one has.
    fn object(keywords: &str) -> alloc::string::String {
        alloc::format!(r#"{{"type":"object","properties":{{}},{keywords}}}"#)
    }

    // G-01: TypeScript 1.x clients refuse the whole list.
    #[test]
    fn boolean_schemas_become_objects_everywhere() {
        for (before, after) in [
            (r#""$defs":{"any":true,"none":false}"#, r#""$defs":{"any":{},"none":{"not":{}}}"#),
            (r#""definitions":{"any":true}"#, r#""definitions":{"any":{}}"#),
            (r#""patternProperties":{"^x":true}"#, r#""patternProperties":{"^x":{}}"#),
            (r#""dependentSchemas":{"a":false}"#, r#""dependentSchemas":{"a":{"not":{}}}"#),
            (r#""dependencies":{"a":["b"],"c":true}"#, r#""dependencies":{"a":["b"],"c":{}}"#),
            (r#""anyOf":[true,{"not":false}]"#, r#""anyOf":[{},{"not":{"not":{}}}]"#),
            (r#""allOf":[true]"#, r#""allOf":[{}]"#),
            (r#""oneOf":[false]"#, r#""oneOf":[{"not":{}}]"#),
            (r#""if":true,"then":true,"else":false"#, r#""if":{},"then":{},"else":{"not":{}}"#),
            (r#""propertyNames":true"#, r#""propertyNames":{}"#),
            (
                r#""$defs":{"a":{"items":true,"contains":true,"prefixItems":[true,false]}}"#,
                r#""$defs":{"a":{"items":{},"contains":{},"prefixItems":[{},{"not":{}}]}}"#,
            ),
            (
                r#""additionalProperties":{"properties":{"x":true},"additionalProperties":true}"#,
                r#""additionalProperties":{"properties":{"x":{}},"additionalProperties":{}}"#,
            ),
            (
                r#""unevaluatedProperties":true,"additionalItems":true,"unevaluatedItems":true"#,
                r#""unevaluatedProperties":{},"additionalItems":{},"unevaluatedItems":{}"#,
            ),
            (r#""\u0024defs":{"a":true}"#, r#""\u0024defs":{"a":{}}"#),
        ] {
            assert_eq!(input(&object(before)), object(after));
            assert_eq!(output(&object(before)), object(after));
        }
        let properties = r#"{"type":"object","properties":{"a":true,"properties":false}}"#;
        let expected = r#"{"type":"object","properties":{"a":{},"properties":{"not":{}}}}"#;
        assert_eq!((input(properties), output(properties)), (expected.into(), expected.into()));
    }

    #[test]
    fn everything_else_stays_verbatim() {
        for same in [
            r#""additionalProperties":false"#,
            r#""unevaluatedProperties":false,"additionalItems":false,"unevaluatedItems":false"#,
            r#""default":{"properties":{"a":true}},"const":true,"enum":[true,false]"#,
            r#""examples":[{"items":true}],"x-vendor":{"items":false}"#,
            r#""required":["true"],"title":"false","deprecated":true,"uniqueItems":true"#,
            r#""maximum":18446744073709551616,"multipleOf":1.0,"$defs":{"b":{},"a":{}}"#,
        ] {
            assert_eq!(input(&object(same)), object(same));
            assert_eq!(output(&object(same)), object(same));
        }
    }

    #[test]
    fn tools_for_sampling_are_readable() {
        let schema = Raw::from_text(r#"{"type":"object","properties":{"a":true}}"#).unwrap();
        let request = CreateMessage::new(Vec::new(), 5).tools([Tool::new("t", schema)]);
        let sent = crate::NeededInput::from(request).to_request(Revision::V2025_11_25);
        let sent = sent.unwrap().params.unwrap();
        assert!(sent.as_str().contains(r#""a":{}"#), "{sent:?}");
    }

    // G-10: OpenAI's API refuses objects without `properties`.
    #[test]
    fn an_input_schema_is_an_object_with_properties() {
        for (before, after) in [
            ("{}", r#"{"type":"object","properties":{}}"#),
            (r#"{"type":"object"}"#, r#"{"type":"object","properties":{}}"#),
            (
                r#"{"type":"object","additionalProperties":false}"#,
                r#"{"type":"object","additionalProperties":false,"properties":{}}"#,
            ),
            (r#"{"properties":{}}"#, r#"{"properties":{},"type":"object"}"#),
            ("true", "true"),
            ("[]", "[]"),
        ] {
            assert_eq!(input(before), after);
        }
        assert_eq!(output(r#"{"type":"object"}"#), r#"{"type":"object"}"#);
    }

    #[test]
    fn deep_schemas_end_where_parsing_would() {
        let nested = |levels: usize| {
            let value =
                core::iter::repeat_n(r#"{"not":"#, levels).collect::<alloc::string::String>();
            alloc::format!("{value}true{}", "}".repeat(levels))
        };
        let deep = Raw::new(&serde_json::from_str::<serde_json::Value>(&nested(100)).unwrap());
        let tool = Tool::new("t", deep.unwrap()).with_readable_schemas();
        assert!(tool.input_schema.as_str().contains(r#"{"not":{}}"#), "{tool:?}");
        let text = alloc::format!(r#"{{"not":{}}}"#, nested(126));
        assert!(!readable(&Raw::from_text(&text).unwrap(), &[]).unwrap().as_str().contains("true"));
    }
}
