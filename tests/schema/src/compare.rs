//! Compares JSON values.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Parses `text`, which must be one line and repeat no member name.
///
/// # Errors
///
/// The problem with the text.
pub fn parse(text: &[u8]) -> Result<Value, String> {
    if text.contains(&b'\n') || text.contains(&b'\r') {
        return Err("the text has a line break".to_owned());
    }
    let Unrepeated(value) = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    Ok(value)
}

/// Describes where `right` first differs from `left`; numbers are compared by value.
#[must_use]
pub fn difference(left: &Value, right: &Value) -> Option<String> {
    at(left, right, String::new())
}

fn at(left: &Value, right: &Value, pointer: String) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let gone = left.keys().find(|key| !right.contains_key(*key));
            if let Some(key) = gone {
                return Some(format!("{} is gone", child(&pointer, key)));
            }
            if let Some(key) = right.keys().find(|key| !left.contains_key(*key)) {
                return Some(format!("{} was added", child(&pointer, key)));
            }
            left.iter().find_map(|(key, value)| at(value, &right[key], child(&pointer, key)))
        }
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Some(format!("{pointer} has {} elements, not {}", right.len(), left.len()));
            }
            let mut pairs = left.iter().zip(right).enumerate();
            pairs.find_map(|(index, (left, right))| {
                at(left, right, child(&pointer, &index.to_string()))
            })
        }
        (Value::Number(left), Value::Number(right)) if same_number(left, right) => None,
        _ if left == right => None,
        _ => Some(format!("{pointer} is {right}, not {left}")),
    }
}

fn same_number(left: &Number, right: &Number) -> bool {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left == right,
        _ => left.as_f64() == right.as_f64(),
    }
}

/// Returns the pointer of the member or element `key` below `pointer`.
#[must_use]
pub fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// A JSON value whose objects have no repeated members.
struct Unrepeated(Value);

impl<'de> Deserialize<'de> for Unrepeated {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unrepeating).map(Self)
    }
}

struct Unrepeating;

impl<'de> Visitor<'de> for Unrepeating {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Unrepeated(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Unrepeated(value))) = members.next_entry::<String, Unrepeated>()? {
            if object.insert(name.clone(), value).is_some() {
                return Err(A::Error::custom(format!("the member {name:?} is repeated")));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{difference, parse};

    #[test]
    fn numbers_are_compared_by_value_and_the_rest_by_type() {
        assert_eq!(difference(&json!({ "a": [1, 2.0] }), &json!({ "a": [1.0, 2] })), None);
        for (left, right, expected) in [
            (json!({ "a": 1 }), json!({}), "/a is gone"),
            (json!({}), json!({ "a": 1 }), "/a was added"),
            (json!([1]), json!([1, 2]), " has 2 elements, not 1"),
            (json!({ "a": { "b/c": 1 } }), json!({ "a": { "b/c": 2 } }), "/a/b~1c is 2, not 1"),
            (
                json!(9_007_199_254_740_993_i64),
                json!(9_007_199_254_740_992_i64),
                " is 9007199254740992, not 9007199254740993",
            ),
            (json!("1"), json!(1), " is 1, not \"1\""),
        ] {
            assert_eq!(difference(&left, &right).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_repeated_member_and_a_line_break_are_errors() {
        assert!(parse(br#"{"a":1,"b":{"a":1}}"#).is_ok());
        for text in [&br#"{"a":1,"a":1}"#[..], br#"[{"a":{"b":1,"\u0062":2}}]"#, b"{\n}"] {
            assert!(parse(text).is_err());
        }
    }
}
