//! Arguments of tools and prompts as Rust types.

use mcp_proto::Raw;
use mcp_proto::schema::{JsonReader, Tool};
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;

use crate::server::handler::handler_error::HandlerError;

/// Deserializes arguments.
///
/// An empty object is also accepted as `()`, a unit struct and `None`, which are `null` in JSON.
/// For `()` and unit structs, members are ignored unless `is_closed`: the schema then allows none.
///
/// # Errors
/// The location of the first mismatch, and what is allowed.
pub(crate) fn parse_arguments<A: DeserializeOwned>(
    arguments: &Raw,
    is_closed: bool,
) -> Result<A, String> {
    let error = match arguments.parse() {
        Ok(parsed) => return Ok(parsed),
        Err(error) => error,
    };
    let names = member_names(arguments);
    match (&names[..], A::deserialize(Unit)) {
        ([], _) => serde_json::from_str("null").map_err(|_| error.to_string()),
        (_, Ok(unit)) if !is_closed => Ok(unit),
        (_, Ok(_)) => Err(format!("unknown members {}: none are allowed", names.join(", "))),
        (_, Err(_)) => Err(error.to_string()),
    }
}

/// Deserializes the arguments of a tool; see [`parse_arguments`].
pub(crate) fn parse<A: DeserializeOwned>(
    arguments: &Raw,
    is_closed: bool,
) -> Result<A, HandlerError> {
    parse_arguments(arguments, is_closed)
        .map_err(|why| HandlerError::failed(format!("invalid arguments: {why}")))
}

/// Returns whether the input schema of a tool allows no members but its own.
pub(crate) fn is_closed(tool: &Tool) -> bool {
    let rest = tool.input_schema.member("additionalProperties");
    rest.is_some_and(|rest| rest.as_str() == "false")
}

/// Returns the names of the members of an object, the first few if there are many.
fn member_names(object: &Raw) -> Vec<String> {
    let mut names = Vec::new();
    let _stopped_early = JsonReader::new(object).members(|name, reader| {
        reader.skip();
        names.push(format!("`{}`", name.chars().take(NAME_CHARS_MAX).collect::<String>()));
        if names.len() < NAMES_MAX { Ok(()) } else { Err(()) }
    });
    names
}

const NAMES_MAX: usize = 8;
const NAME_CHARS_MAX: usize = 64;

/// Deserializes only as a type without a value, unlike `null`, which is also `None`.
struct Unit;

impl<'de> Deserializer<'de> for Unit {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("not a unit"))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
