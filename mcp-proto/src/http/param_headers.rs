//! What a request repeats in its head: the method, the name, and those arguments of a tool that its
//! schema says; the same for who sends it and who receives it.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::field::{decode, encode, is_token, safe_integer};
use super::fields::Fields;
use crate::json::{Raw, Reader, find, unescape};
use crate::revision::named_by;

/// The annotation of a property that is repeated.
const ANNOTATION: &str = "x-mcp-header";

/// What the names of the fields begin with.
const FIELD: &str = "Mcp-Param-";

/// The most properties of one tool that can be repeated.
const PARAMS_MAX: usize = 64;

/// The longest annotation.
const NAME_BYTES_MAX: usize = 128;

/// The deepest nesting of schemas in which an annotation can stand.
const DEPTH_MAX: usize = 32;

/// What `Mcp-Method` and `Mcp-Name` of a request say. (HTTP-44)
///
/// Both can be sent as they are: a method that no field can hold is written in a way that no server
/// takes.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::http::standard;
///
/// let params = Raw::from_text(r#"{"name":"größe"}"#).unwrap();
/// let (method, name) = standard("tools/call", Some(&params));
/// assert_eq!((&*method, name.as_deref()), ("tools/call", Some("=?base64?Z3LDtsOfZQ==?=")));
/// assert_eq!(standard("tools/list", None).1, None);
/// ```
#[must_use]
pub fn standard<'a>(method: &'a str, params: Option<&Raw>) -> (Cow<'a, str>, Option<String>) {
    standard_of(method, params.map(Raw::as_bytes))
}

/// Like [`standard`], for params that are known to be an object.
pub(super) fn standard_of<'a>(
    method: &'a str,
    params: Option<&[u8]>,
) -> (Cow<'a, str>, Option<String>) {
    let name = named_by(method).and_then(|member| find(params?, member)).and_then(unescape);
    (encode(method), name.map(|name| encode(&name).into_owned()))
}

/// Which arguments of one tool a request repeats in fields named `Mcp-Param-…`: those whose
/// property in the input schema has an annotation `x-mcp-header`.
///
/// A client makes one of each tool that it was told of, and leaves out those tools where that fails
/// (HTTP-48); a server makes one of the tool that is called.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::http::Mirror;
///
/// let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
/// let mirror = Mirror::of(&Raw::from_text(schema).unwrap()).unwrap();
/// let arguments = Raw::from_text(r#"{"region":"us-west1"}"#).unwrap();
/// let fields = mirror.fields(Some(&arguments));
/// assert_eq!(fields, [("Mcp-Param-Region".to_string(), "us-west1".to_string())]);
/// assert!(mirror.check(Some(&arguments), &fields).is_ok());
/// assert!(mirror.check(None, &fields).is_err());
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Mirror {
    params: Vec<Param>,
}

/// A property that is repeated.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Param {
    /// The field's name, as it is annotated.
    field: String,
    /// The members from the arguments down.
    path: Vec<Box<str>>,
}

impl Mirror {
    /// Reads what the schema of a tool's input says. (HTTP-47)
    ///
    /// # Errors
    /// [`InvalidMirror`] where an annotation is empty, no token, or the same as another whatever
    /// its case; where its property is no string, integer or boolean; where it stands anywhere
    /// but at a property of a property and so on, of the whole (T-108); or beyond bounds: 64
    /// annotations, 128 bytes each, 32 levels. (HTTP-48)
    pub fn of(input_schema: &Raw) -> Result<Self, InvalidMirror> {
        let mut mirror = Self::default();
        // Most schemas have none. With escapes it may be spelled in other ways.
        let text = input_schema.as_bytes();
        if memchr::memmem::find(text, ANNOTATION.as_bytes()).is_some()
            || memchr::memchr(b'\\', text).is_some()
        {
            let mut walk = Walk { mirror: &mut mirror, path: Vec::new(), depth: 0 };
            walk.schema(&mut Reader::new(input_schema), true)?;
        }
        Ok(mirror)
    }

    /// Whether nothing is repeated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.params.is_empty()
    }

    /// The fields of a call with these arguments, and their values, which can be sent as they are.
    /// (HTTP-47, HTTP-49)
    ///
    /// What is absent or `null` has none, and neither has what is not a string, a boolean or an
    /// integer within ±(2^53 - 1): a server refuses that.
    #[must_use]
    pub fn fields(&self, arguments: Option<&Raw>) -> Vec<(String, String)> {
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

    /// Whether the fields of a head repeat these arguments, and nothing else where there are none.
    /// (HTTP-50)
    ///
    /// # Errors
    /// [`Mismatch`] at the first one that does not.
    pub fn check(&self, arguments: Option<&Raw>, fields: &dyn Fields) -> Result<(), Mismatch> {
        for param in &self.params {
            let mismatch = |why| Err(Mismatch { field: param.field.clone(), why });
            let Ok(said) = fields.one(&param.field.to_ascii_lowercase()) else {
                return mismatch("is repeated");
            };
            let Ok(said) = said.map(decode).transpose() else { return mismatch("is malformed") };
            let same = match (said, arguments.and_then(|arguments| param.find(arguments))) {
                (None, None) => true,
                (None, Some(_)) => return mismatch("is missing"),
                (Some(_), None) => return mismatch("repeats an argument that is not there"),
                (Some(said), Some(Value::Text(text))) => said == text,
                // As numbers: `42.0` is 42. (T-109)
                (Some(said), Some(Value::Integer(integer))) => safe_integer(&said) == Some(integer),
                (Some(said), Some(Value::Bool(value))) => {
                    said == if value { "true" } else { "false" }
                }
                (Some(_), Some(Value::Other)) => false,
            };
            if !same {
                return mismatch("is not the argument of the body");
            }
        }
        Ok(())
    }
}

/// An argument, as a field can repeat it.
enum Value<'a> {
    Text(Cow<'a, str>),
    Integer(i64),
    Bool(bool),
    /// It cannot.
    Other,
}

impl Param {
    /// The argument; none if it is absent or `null`.
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

/// Where the walk over a schema is.
struct Walk<'m> {
    mirror: &'m mut Mirror,
    path: Vec<Box<str>>,
    depth: usize,
}

/// How a keyword of JSON Schema holds schemas.
enum Holds {
    /// As the values of an object, by the names of properties.
    Properties,
    /// As the values of an object.
    Members,
    /// As one schema, or several in an array.
    Schemas,
    /// Not at all: what it holds is data, whatever it looks like.
    Data,
}

impl Holds {
    fn of(keyword: &str) -> Self {
        match keyword {
            "properties" => Self::Properties,
            "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies" => {
                Self::Members
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

type Step = Result<(), InvalidMirror>;

impl Walk<'_> {
    /// Takes one schema; `reachable`: only through `properties`.
    fn schema(&mut self, reader: &mut Reader<'_>, reachable: bool) -> Step {
        let mut annotation = None;
        let mut kind = None;
        self.depth += 1;
        let walked = reader.members(|keyword, reader| {
            match Holds::of(keyword) {
                Holds::Properties => return self.members(reader, reachable),
                Holds::Members => return self.members(reader, false),
                Holds::Schemas => return self.schemas(reader),
                Holds::Data => {}
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
            Some(step) => step?,
        }
        self.depth -= 1;
        annotation
            .map_or(Ok(()), |annotation| self.annotated(&annotation, kind.as_ref(), reachable))
    }

    /// Takes schemas that stand in an object; with `reachable` they are properties of what is
    /// annotated.
    fn members(&mut self, reader: &mut Reader<'_>, reachable: bool) -> Step {
        let walked = reader.members(|name, reader| {
            self.path.push(name.into());
            let step = self.schema(reader, reachable);
            self.path.pop();
            step
        });
        walked.unwrap_or_else(|| {
            reader.skip();
            Ok(())
        })
    }

    /// Takes one schema, or an array of them, that an annotation is out of place in.
    fn schemas(&mut self, reader: &mut Reader<'_>) -> Step {
        reader
            .elements(|_, reader| self.schema(reader, false))
            .unwrap_or_else(|| self.schema(reader, false))
    }

    fn annotated(&mut self, annotation: &Raw, kind: Option<&Raw>, reachable: bool) -> Step {
        let invalid = |why| {
            Err(InvalidMirror { property: self.path.last().cloned().unwrap_or_default(), why })
        };
        let name = annotation.to_text().unwrap_or_default();
        let field = [FIELD, &*name].concat();
        if !reachable || self.path.is_empty() {
            return invalid("is annotated where only `properties` must lead");
        }
        if self.depth >= DEPTH_MAX {
            return invalid("is annotated too deep down");
        }
        if !is_token(&name) {
            return invalid("is annotated with what can name no header field");
        }
        if name.len() > NAME_BYTES_MAX {
            return invalid("is annotated with too long a name");
        }
        if !kind.is_some_and(|kind| {
            matches!(kind.as_str(), r#""string""# | r#""integer""# | r#""boolean""#)
        }) {
            return invalid("is annotated and neither a string, an integer nor a boolean");
        }
        if self.mirror.params.iter().any(|param| param.field.eq_ignore_ascii_case(&field)) {
            return invalid("is annotated as another one is");
        }
        if self.mirror.params.len() == PARAMS_MAX {
            return invalid("is annotated, and too many others are");
        }
        self.mirror.params.push(Param { field, path: self.path.clone() });
        Ok(())
    }
}

/// A tool's annotations `x-mcp-header` are none: the tool cannot be called. (HTTP-48)
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct InvalidMirror {
    /// The property with the annotation, as the schema names it; the peer's words.
    pub property: Box<str>,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for InvalidMirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Enough of the name to recognise it, on one line.
        let name: String = self.property.chars().filter(|c| !c.is_control()).take(64).collect();
        write!(f, "the property `{name}` {}", self.why)
    }
}

impl core::error::Error for InvalidMirror {}

/// A field does not repeat the argument that it has to. (HTTP-50)
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The field, as the tool names it.
    pub field: String,
    /// How it differs.
    pub why: &'static str,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.field, self.why)
    }
}

impl core::error::Error for Mismatch {}

#[cfg(test)]
mod tests;
