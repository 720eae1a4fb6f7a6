//! `Serialize` and `Deserialize` for [`Raw`], in JSON and in other self-describing formats.

use alloc::boxed::Box;
use alloc::string::ToString;
use core::fmt;
use core::iter;

use serde::de::value::MapDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::{Raw, elements, members, unescape, unescape_key};

/// The text remains verbatim, which only JSON serializers support, and no `flatten` or `tag`.
impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_slice::<&RawValue>(self.as_bytes())
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

/// Validated JSON, serialized part by part in any format, and under `flatten` and `tag`.
///
/// Escapes can be written differently. Only JSON keeps digits that no primitive type holds.
pub(crate) struct Parts<'a>(pub(crate) &'a [u8]);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.first() {
            Some(b'{') => serializer
                .collect_map(members(self.0).map(|(key, value)| (unescape_key(key), Self(value)))),
            Some(b'[') => serializer.collect_seq(elements(self.0).map(Self)),
            Some(b'"') => serializer.serialize_str(&unescape(self.0).unwrap_or_default()),
            Some(b'f' | b't') => serializer.serialize_bool(self.0 == b"true"),
            Some(b'n') | None => serializer.serialize_unit(),
            Some(_) => serialize_number(self.0, serializer),
        }
    }
}

fn serialize_number<S: Serializer>(json: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let text = core::str::from_utf8(json).unwrap_or_default();
    if let Ok(number) = text.parse() {
        return serializer.serialize_i64(number);
    }
    if let Ok(number) = text.parse() {
        return serializer.serialize_u64(number);
    }
    match text.parse().ok().filter(|number: &f64| number.is_finite()) {
        // An `f64` holds any 15 digits.
        Some(number) if text.bytes().filter(u8::is_ascii_digit).count() <= 15 => {
            serializer.serialize_f64(number)
        }
        _ => {
            serde_json::from_str::<&RawValue>(text).map_err(S::Error::custom)?.serialize(serializer)
        }
    }
}

/// JSON text remains verbatim. A value that `serde` has buffered, for example for an untagged enum,
/// loses the order of its members.
impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(AnyFormat(deserializer))?;
        Self::from_text(value.get()).map_err(D::Error::custom)
    }
}

/// Lets a `RawValue` be deserialized from formats other than JSON.
///
/// A `RawValue` asks for a newtype struct of a private name. JSON deserializers answer with a map
/// of that name to the text; others visit the value itself.
struct AnyFormat<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for AnyFormat<D> {
    type Error = D::Error;

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, TextOrValue { name, visitor })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct TextOrValue<V> {
    name: &'static str,
    visitor: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for TextOrValue<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(map)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<V::Value, D::Error> {
        let text = Value::deserialize(deserializer)?.to_string();
        self.visitor.visit_map(MapDeserializer::new(iter::once((self.name, text))))
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::string::String;

    use serde_json::json;

    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::from_text(text).unwrap()
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Value(Raw),
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Flat {
        id: u8,
        #[serde(flatten)]
        rest: Raw,
    }

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
        Value(Raw),
    }

    #[test]
    fn json_keeps_every_digit_and_the_order() {
        for text in [
            r#"{"b":[],"a":{"":null},"c":[true,false,"\"é"]}"#,
            "[0,-9223372036854775808,18446744073709551615,1.0,-0.5,1e+300]",
            "[18446744073709551616,0.1234567890123456789,1e400]",
        ] {
            assert_eq!(serde_json::to_string(&Parts(text.as_bytes())).unwrap(), text);
            assert_eq!(serde_json::to_string(&raw(text)).unwrap(), text);
            assert_eq!(serde_json::from_str::<Raw>(text).unwrap(), raw(text));
        }
        let spelled = br#"{ "\u00e9\n" : 1e2 }"#;
        assert_eq!(serde_json::to_string(&Parts(spelled)).unwrap(), "{\"é\\n\":100.0}");
        let value = json!({"a": [1]});
        assert_eq!(serde_json::to_value(raw(r#"{"a":[1]}"#)).unwrap(), value);
        assert_eq!(serde_json::to_value(Parts(br#"{"a":[1]}"#)).unwrap(), value);
        assert_eq!(serde_json::from_value::<Raw>(json!({"a": [1]})).unwrap(), raw(r#"{"a":[1]}"#));
    }

    #[test]
    fn attributes_of_serde_see_the_members() {
        let read: Tagged = serde_json::from_str(r#"{"kind":"Value","a":[1]}"#).unwrap();
        assert_eq!(read, Tagged::Value(raw(r#"{"a":[1]}"#)));
        let read: Flat = serde_json::from_str(r#"{"id":1,"a":{"b":2}}"#).unwrap();
        assert_eq!(read, Flat { id: 1, rest: raw(r#"{"a":{"b":2}}"#) });
        assert_eq!(serde_json::from_str::<Untagged>("7").unwrap(), Untagged::Number(7));
        let read: Untagged = serde_json::from_str(r#"{"a":[null,-1.5]}"#).unwrap();
        assert_eq!(read, Untagged::Value(raw(r#"{"a":[null,-1.5]}"#)));
    }

    #[test]
    fn a_value_within_others_is_read_and_written() {
        let all = BTreeMap::from([(String::from("x"), raw("[1]"))]);
        assert_eq!(serde_json::to_string(&all).unwrap(), r#"{"x":[1]}"#);
        let read: BTreeMap<String, Raw> = serde_json::from_str(r#"{"x":[1]}"#).unwrap();
        assert_eq!(read, all);
        assert!(serde_json::from_str::<Raw>("{").is_err());
    }
}
