//! Headers that mirror the body of a modern request: `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-*`
//! for annotated tool arguments. Clients write them; servers check them.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::header::{decode, encode, is_token, safe_integer};
use super::headers::Headers;
use crate::json::{JsonReader, Raw, find, unescape};
use crate::revision::named_by;

/// The JSON Schema keyword that annotates a mirrored property.
const ANNOTATION: &str = "x-mcp-header";

/// The prefix of the header names.
const HEADER_PREFIX: &str = "Mcp-Param-";

/// The maximum number of mirrored properties of one tool.
const PARAMS_MAX: usize = 64;

/// The maximum length of an annotation in bytes.
const NAME_BYTES_MAX: usize = 128;

/// The maximum nesting of schemas around an annotation.
const DEPTH_MAX: usize = 32;

/// Returns the values of a request's [standard headers], `Mcp-Method` and `Mcp-Name`.
///
/// [standard headers]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
///
/// Revision 2026-07-28 requires these headers. Values that are not plain text are
/// [encoded](super::header::encode). Servers reject a method that needs encoding.
///
/// `Mcp-Name` repeats a member of `params`, such as `name` or `uri`. The second value is `None` if
/// - requests for `method` have no `Mcp-Name`; or
/// - the member is absent or not a string.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::http::standard_headers;
///
/// let params = Raw::from_text(r#"{"name":"größe"}"#).unwrap();
/// let (method, name) = standard_headers("tools/call", Some(&params));
/// assert_eq!((&*method, name.as_deref()), ("tools/call", Some("=?base64?Z3LDtsOfZQ==?=")));
/// assert_eq!(standard_headers("tools/list", None).1, None);
/// ```
// HTTP-44: every request has `Mcp-Method`, and `Mcp-Name` where the body has a name or URI.
#[must_use]
pub fn standard_headers<'a>(
    method: &'a str,
    params: Option<&Raw>,
) -> (Cow<'a, str>, Option<String>) {
    standard_of(method, params.map(Raw::as_bytes), named_by(method))
}

/// Like [`standard_headers`], for params that are known to be a JSON object. `Mcp-Name` repeats the
/// member `named_by`.
pub(super) fn standard_of<'a>(
    method: &'a str,
    params: Option<&[u8]>,
    named_by: Option<&str>,
) -> (Cow<'a, str>, Option<String>) {
    let name = named_by.and_then(|member| find(params?, member)).and_then(unescape);
    (encode(method), name.map(|name| encode(&name).into_owned()))
}

/// The arguments of a tool that clients repeat in [`Mcp-Param-*` headers][custom].
///
/// An argument is repeated, or *mirrored*, if the tool's input schema annotates its property with
/// `x-mcp-header`. Only revision 2026-07-28 has these headers.
///
/// [custom]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
///
/// [`HttpClient`](super::client::HttpClient) reads the annotations of each listed tool and drops
/// tools with invalid annotations. [`PostHead::read`](super::PostHead::read) reads the annotations
/// of the tool that is called.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::http::ParamHeaders;
///
/// let schema = r#"{"type":"object","properties":{
///     "region":{"type":"string","x-mcp-header":"Region"}}}"#;
/// let mirror = ParamHeaders::from_schema(&Raw::from_text(schema).unwrap()).unwrap();
/// let arguments = Raw::from_text(r#"{"region":"us-west1"}"#).unwrap();
/// let fields = mirror.headers(Some(&arguments));
/// assert_eq!(fields, [("Mcp-Param-Region".to_string(), "us-west1".to_string())]);
/// assert!(mirror.check(Some(&arguments), &fields).is_ok());
/// assert!(mirror.check(None, &fields).is_err());
/// ```
// HTTP-48: clients exclude tools with invalid annotations.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ParamHeaders {
    params: Vec<Param>,
}

/// A mirrored property.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Param {
    /// The header name, in the case of the annotation.
    field: String,
    /// The member names that lead from the arguments to the value.
    path: Vec<Box<str>>,
}

impl ParamHeaders {
    /// Collects the `x-mcp-header` annotations of a tool's input schema.
    ///
    /// # Errors
    /// Returns [`InvalidParamHeader`] if an annotation
    /// - is empty, is not a token, or equals another annotation, ignoring case;
    /// - belongs to a property that is not a string, an integer or a boolean;
    /// - lies under a keyword other than `properties`, such as `items`; or
    /// - exceeds a limit: 64 annotations, 128 bytes per annotation, or 32 levels of nesting.
    // HTTP-47: annotated parameters are mirrored. HTTP-48: constraints on annotations. T-108: only
    // statically reachable properties can be annotated.
    pub fn from_schema(input_schema: &Raw) -> Result<Self, InvalidParamHeader> {
        let mut mirror = Self::default();
        // Most schemas have no annotation. A backslash may hide an escaped spelling of it.
        let text = input_schema.as_bytes();
        if memchr::memmem::find(text, ANNOTATION.as_bytes()).is_some()
            || memchr::memchr(b'\\', text).is_some()
        {
            let mut walk = SchemaWalk { mirror: &mut mirror, path: Vec::new(), depth: 0 };
            walk.schema(&mut JsonReader::new(input_schema), true)?;
        }
        Ok(mirror)
    }

    /// Returns whether the tool has no mirrored arguments.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// Returns the names and encoded values of the headers for a call with these arguments.
    ///
    /// An argument that is absent or `null` has no header. An argument that is not a string, a
    /// boolean or an integer within ±(2^53 - 1) has no header either; servers reject a call with
    /// such an argument.
    // HTTP-47: `null` and absent arguments are omitted. HTTP-49: encoding of values.
    #[must_use]
    pub fn headers(&self, arguments: Option<&Raw>) -> Vec<(String, String)> {
        let fields = self.params.iter().filter_map(|param| {
            let value = match param.find(arguments?)? {
                Value::Text(text) => encode(&text).into_owned(),
                Value::Integer(integer) => integer.to_string(),
                Value::Bool(value) => value.to_string(),
                Value::Other => return None,
            };
            Some((param.field.clone(), value))
        });
        fields.collect()
    }

    /// Checks that the headers of a request agree with its arguments.
    ///
    /// # Errors
    /// Returns a [`ParamHeaderMismatch`] for the first header that
    /// - is missing, repeated or malformed;
    /// - differs from its argument; or
    /// - is present although its argument is absent.
    // HTTP-50: servers reject requests whose headers and arguments differ.
    pub fn check(
        &self,
        arguments: Option<&Raw>,
        fields: &dyn Headers,
    ) -> Result<(), ParamHeaderMismatch> {
        for param in &self.params {
            let mismatch = |why| Err(ParamHeaderMismatch { field: param.field.clone(), why });
            let Ok(value) = fields.single(&param.field.to_ascii_lowercase()) else {
                return mismatch("is repeated");
            };
            let Ok(sent) = value.map(decode).transpose() else { return mismatch("is malformed") };
            let is_equal = match (sent, arguments.and_then(|arguments| param.find(arguments))) {
                (None, None) => true,
                (None, Some(_)) => return mismatch("is missing"),
                (Some(_), None) => return mismatch("has no argument in the body"),
                (Some(sent), Some(Value::Text(text))) => sent == text,
                // T-109: integers are compared by value: `42.0` equals 42.
                (Some(sent), Some(Value::Integer(integer))) => safe_integer(&sent) == Some(integer),
                (Some(sent), Some(Value::Bool(value))) => {
                    sent == if value { "true" } else { "false" }
                }
                (Some(_), Some(Value::Other)) => false,
            };
            if !is_equal {
                return mismatch("does not match the argument in the body");
            }
        }
        Ok(())
    }
}

/// A mirrored argument, by the type of its value.
enum Value<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Bool(bool),
    /// No header can represent the value.
    Other,
}

impl Param {
    /// Returns the argument, unless it is absent or `null`.
    fn find<'a>(&self, arguments: &'a Raw) -> Option<Value<'a>> {
        let value =
            self.path.iter().try_fold(arguments.as_bytes(), |object, name| find(object, name))?;
        Some(match value {
            b"null" => return None,
            b"true" => Value::Bool(true),
            b"false" => Value::Bool(false),
            _ => match (unescape(value), core::str::from_utf8(value).ok().and_then(safe_integer)) {
                (Some(text), _) => Value::Text(text),
                (None, Some(integer)) => Value::Integer(integer),
                (None, None) => Value::Other,
            },
        })
    }
}

/// A depth-first walk over a schema, with its current position.
struct SchemaWalk<'m> {
    mirror: &'m mut ParamHeaders,
    path: Vec<Box<str>>,
    depth: usize,
}

/// The kind of value that a JSON Schema keyword has.
enum KeywordKind {
    /// An object of schemas by property name.
    Properties,
    /// An object of schemas by other names.
    SchemaMap,
    /// A schema, or an array of schemas.
    Schemas,
    /// Data without schemas.
    Data,
}

impl KeywordKind {
    fn of(keyword: &str) -> Self {
        match keyword {
            "properties" => Self::Properties,
            "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies" => {
                Self::SchemaMap
            }
            "items"
            | "prefixItems"
            | "additionalItems"
            | "unevaluatedItems"
            | "contains"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "allOf"
            | "anyOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "contentSchema" => Self::Schemas,
            _ => Self::Data,
        }
    }
}

type WalkResult = Result<(), InvalidParamHeader>;

impl SchemaWalk<'_> {
    /// Visits one schema. It is `reachable` if only `properties` lead to it from the root.
    fn schema(&mut self, reader: &mut JsonReader<'_>, reachable: bool) -> WalkResult {
        let mut annotation = None;
        let mut kind = None;
        self.depth += 1;
        let walked = reader.members(|keyword, reader| {
            match KeywordKind::of(keyword) {
                KeywordKind::Properties => return self.schema_map(reader, reachable),
                KeywordKind::SchemaMap => return self.schema_map(reader, false),
                KeywordKind::Schemas => return self.schemas(reader),
                KeywordKind::Data => {}
            }
            match keyword {
                ANNOTATION => annotation = Some(reader.raw()),
                "type" => kind = Some(reader.raw()),
                _ => reader.skip(),
            }
            Ok(())
        });
        match walked {
            None => reader.skip(),
            Some(result) => result?,
        }
        self.depth -= 1;
        annotation
            .map_or(Ok(()), |annotation| self.on_annotation(&annotation, kind.as_ref(), reachable))
    }

    /// Visits the schemas of an object. They are `reachable` if they are properties of such a
    /// schema.
    fn schema_map(&mut self, reader: &mut JsonReader<'_>, reachable: bool) -> WalkResult {
        let walked = reader.members(|name, reader| {
            self.path.push(name.into());
            let result = self.schema(reader, reachable);
            self.path.pop();
            result
        });
        walked.unwrap_or_else(|| {
            reader.skip();
            Ok(())
        })
    }

    /// Visits one schema or an array of them, none of which may be annotated.
    fn schemas(&mut self, reader: &mut JsonReader<'_>) -> WalkResult {
        reader
            .elements(|_, reader| self.schema(reader, false))
            .unwrap_or_else(|| self.schema(reader, false))
    }

    fn on_annotation(
        &mut self,
        annotation: &Raw,
        kind: Option<&Raw>,
        reachable: bool,
    ) -> WalkResult {
        let invalid = |why| {
            Err(InvalidParamHeader { property: self.path.last().cloned().unwrap_or_default(), why })
        };
        let name = annotation.to_text().unwrap_or_default();
        let field = [HEADER_PREFIX, &*name].concat();
        if !reachable || self.path.is_empty() {
            return invalid("must be reachable through `properties` only");
        }
        if self.depth >= DEPTH_MAX {
            return invalid("is nested deeper than 32 levels");
        }
        if !is_token(&name) {
            return invalid("is not a valid header name");
        }
        if name.len() > NAME_BYTES_MAX {
            return invalid("is longer than 128 bytes");
        }
        if !kind.is_some_and(|kind| {
            matches!(kind.as_str(), r#""string""# | r#""integer""# | r#""boolean""#)
        }) {
            return invalid("requires a string, integer or boolean property");
        }
        if self.mirror.params.iter().any(|param| param.field.eq_ignore_ascii_case(&field)) {
            return invalid("duplicates another header name");
        }
        if self.mirror.params.len() == PARAMS_MAX {
            return invalid("exceeds the limit of 64 annotations");
        }
        self.mirror.params.push(Param { field, path: self.path.clone() });
        Ok(())
    }
}

/// The error for an invalid `x-mcp-header` annotation.
///
/// [`HttpClient`](super::client::HttpClient) removes tools with such annotations from tool lists.
// HTTP-48: clients exclude such tools.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InvalidParamHeader {
    /// The name of the annotated property. The peer controls this text.
    pub property: Box<str>,
    /// The problem with the annotation, for example `duplicates another header name`.
    pub why: &'static str,
}

impl fmt::Display for InvalidParamHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The name is peer-controlled: print at most 64 characters, on one line.
        let name: String = self.property.chars().filter(|c| !c.is_control()).take(64).collect();
        write!(f, "`x-mcp-header` of property `{name}` {}", self.why)
    }
}

impl core::error::Error for InvalidParamHeader {}

/// The error for a header that does not match its tool argument.
// HTTP-50: servers reject such requests.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ParamHeaderMismatch {
    /// The header name, with the capitalization of the annotation.
    pub field: String,
    /// The problem with the header, for example `is missing`.
    pub why: &'static str,
}

impl fmt::Display for ParamHeaderMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.field, self.why)
    }
}

impl core::error::Error for ParamHeaderMismatch {}

#[cfg(test)]
mod tests;
