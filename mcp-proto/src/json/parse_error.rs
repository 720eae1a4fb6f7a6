//! The error of [`Raw::parse`](super::Raw::parse), and where in the value it occurred.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::escape::unescape_key;
use super::whole_numbers::string_end;

/// The reason why a JSON value does not match a type, and its location.
///
/// ```
/// use mcp_proto::Raw;
///
/// let raw = Raw::from_text(r#"{"days":[1,"two"]}"#).unwrap();
/// let error = raw.parse::<std::collections::BTreeMap<String, Vec<u8>>>().unwrap_err();
/// assert_eq!(error.pointer, "/days/1");
/// assert_eq!(
///     error.to_string(),
///     r#"invalid type: string "two", expected an integer from 0 to 255 at "/days/1""#
/// );
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ParseError {
    /// The location of the error, as a JSON pointer (RFC 6901); empty for the whole value.
    ///
    /// A type that buffers its input, such as an untagged enum, only reports where it is itself.
    pub pointer: String,
    /// What was found and what is allowed. Quotes at most the start of a long value.
    pub reason: String,
}

/// The maximum length of a reason and of a pointer in characters: both can contain the value.
const CHARS_MAX: usize = 512;

impl ParseError {
    /// Describes why `json` could not be deserialized.
    pub(super) fn new(json: &[u8], error: &serde_json::Error) -> Self {
        // Values have one line.
        let mut pointer = pointer_to(json, error.column());
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        let reason = message.get(..end).unwrap_or_default();
        // The object that lacks the member, or has it, was read last.
        let member = ["missing field `", "unknown field `"]
            .iter()
            .find_map(|what| reason.strip_prefix(what)?.split_once('`').map(|(member, _)| member));
        if let Some(member) = member {
            push(&mut pointer, member);
        }
        Self { pointer: shortened(&pointer), reason: shortened(&with_named_types(reason)) }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.pointer.is_empty() { Ok(()) } else { write!(f, " at \"{}\"", self.pointer) }
    }
}

impl core::error::Error for ParseError {}

/// The Rust types that errors of `serde` expect, in words.
const TYPES: [(&str, &str); 13] = [
    ("u8", "an integer from 0 to 255"),
    ("u16", "an integer from 0 to 65535"),
    ("u32", "an integer from 0 to 4294967295"),
    ("u64", "an integer from 0 to 18446744073709551615"),
    ("usize", "an integer that is not negative"),
    ("i8", "an integer from -128 to 127"),
    ("i16", "an integer from -32768 to 32767"),
    ("i32", "an integer from -2147483648 to 2147483647"),
    ("i64", "an integer from -9223372036854775808 to 9223372036854775807"),
    ("f32", "a number"),
    ("f64", "a number"),
    ("unit", "null"),
    ("a map", "an object"),
];

fn with_named_types(reason: &str) -> String {
    let Some((found, expected)) = reason.rsplit_once(", expected ") else {
        return reason.to_owned();
    };
    // Names of the data model of `serde` that JSON calls otherwise.
    let found = match found {
        "invalid type: map" => "invalid type: object",
        "invalid type: sequence" => "invalid type: array",
        other => other,
    };
    let named = TYPES.iter().find(|(name, _)| *name == expected);
    let named = match (named, expected.strip_prefix("struct ")) {
        (Some((_, words)), _) => words,
        (None, Some(name)) if !name.contains(' ') => "an object",
        (None, _) => expected,
    };
    alloc::format!("{found}, expected {named}")
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => alloc::format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// An object or array that encloses a position.
enum Level<'a> {
    /// The index of the current element.
    Array(usize),
    /// The current key without quotes, and whether its colon has been read.
    Object(Option<&'a [u8]>, bool),
}

/// Returns the pointer to the value that ends at byte `read`, contains it, or follows it after a
/// separator; to the enclosing object if `read` is at a key.
///
/// `serde_json` has consumed the value that an error is about, or everything before that value.
fn pointer_to(json: &[u8], read: usize) -> String {
    let mut levels = Vec::new();
    let mut at = 0;
    while let Some(byte) = json.get(at).filter(|_| at < read) {
        let start = at;
        at += 1;
        match (byte, levels.last_mut()) {
            (b'{', _) => levels.push(Level::Object(None, false)),
            (b'[', _) => levels.push(Level::Array(0)),
            (b'}' | b']', _) => drop(levels.pop()),
            (b',', Some(Level::Array(index))) => *index += 1,
            (b',', Some(object)) => *object = Level::Object(None, false),
            (b':', Some(Level::Object(_, has_colon))) => *has_colon = true,
            (b'"', level) => {
                at = string_end(json, at);
                if let Some(Level::Object(key @ None, _)) = level {
                    *key = json.get(start + 1..at - 1);
                }
            }
            _ => {}
        }
    }
    let mut pointer = String::new();
    for level in levels {
        match level {
            Level::Array(index) => push(&mut pointer, &index.to_string()),
            Level::Object(Some(key), true) => push(&mut pointer, &unescape_key(key)),
            Level::Object(..) => {}
        }
    }
    pointer
}

/// Appends a key or an index to a JSON pointer (RFC 6901).
pub(crate) fn push(pointer: &mut String, member: &str) {
    pointer.push('/');
    for char in member.chars() {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(char),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use alloc::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::super::raw::Raw;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Order {
        count: u8,
        #[serde(default)]
        list: Vec<i32>,
        #[serde(default, rename = "a/b")]
        slashed: Option<bool>,
        kind: Option<Kind>,
        next: Option<Box<Self>>,
        shape: Option<Shape>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Fast,
        Slow,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    use super::*;

    fn error<T: DeserializeOwned + fmt::Debug>(json: &str) -> ParseError {
        Raw::from_text(json).unwrap().parse::<T>().unwrap_err()
    }

    #[test]
    fn an_error_points_to_the_value_and_says_what_is_allowed() {
        for (json, pointer, reason) in [
            (r#"{"count":"5"}"#, "/count", "string \"5\", expected an integer from 0 to 255"),
            (r#"{"count":300}"#, "/count", "integer `300`, expected an integer from 0 to 255"),
            (r#"{"count":-1}"#, "/count", "`-1`, expected an integer from 0 to 255"),
            (r#"{"count":1.5}"#, "/count", "floating point `1.5`, expected an integer"),
            (r#"{"count":null}"#, "/count", "null, expected an integer"),
            (r#"{"count":[1]}"#, "/count", "array, expected an integer"),
            (r#"{"count": {"a":1}}"#, "/count", "object, expected an integer"),
            (r#"{"count":1.0,"list":[1,2.0,"x"]}"#, "/list/2", "string \"x\", expected an integer"),
            (r#"{"count":1,"list":[[1]]}"#, "/list/0", "array, expected an integer"),
            (r#"{"count":1,"list":[1, {}]}"#, "/list/1", "object, expected an integer"),
            (r#"{"count":1,"list":3}"#, "/list", "integer `3`, expected a sequence"),
            (r#"{"count":1,"a/b":"yes"}"#, "/a~1b", "expected a boolean"),
            (
                r#"{"count":1,"kind":"quick"}"#,
                "/kind",
                "unknown variant `quick`, expected `fast` or `slow`",
            ),
            (r#"{"count":1,"next":{"list":[]}}"#, "/next/count", "missing field `count`"),
            (r#"{"list":[]}"#, "/count", "missing field `count`"),
            (
                r#"{"count":1,"size":2}"#,
                "/size",
                "unknown field `size`, expected one of `count`, `list`",
            ),
            (r#"{"count":1,"next":{"count":2,"size":2}}"#, "/next/size", "unknown field `size`"),
            (
                r#"{"count":1,"shape":{"Circle":{"radius":"x"}}}"#,
                "/shape/Circle/radius",
                "expected a number",
            ),
            (
                r#"{"count":1,"shape":{"Square":{}}}"#,
                "/shape",
                "unknown variant `Square`, expected `Circle` or `Point`",
            ),
            ("[]", "", "invalid length 0"),
            ("7", "", "integer `7`, expected an object"),
        ] {
            let error = error::<Order>(json);
            assert_eq!(error.pointer, pointer, "{json}: {error}");
            assert!(error.reason.contains(reason), "{json}: {error}");
            assert!(!error.to_string().contains("column"), "{error}");
        }
    }

    #[test]
    fn keys_of_maps_are_unescaped_and_long_values_are_shortened() {
        let map = error::<BTreeMap<String, u8>>(r#"{"a":1,"b\"~":"x"}"#);
        assert_eq!(map.pointer, "/b\"~0");
        let long = error::<u8>(&alloc::format!("\"{}\"", "x".repeat(100_000)));
        assert!(long.to_string().chars().count() <= 2 * CHARS_MAX + 20, "{long}");
    }

    #[test]
    fn whole_numbers_are_integers() {
        #[derive(Debug, Deserialize, PartialEq)]
        #[serde(untagged)]
        enum Size {
            Count(u64),
            Name(String),
        }
        #[derive(Debug, Deserialize, PartialEq)]
        struct Rest {
            id: u64,
            #[serde(flatten)]
            rest: BTreeMap<String, i16>,
        }
        fn parse<T: DeserializeOwned>(json: &str) -> T {
            Raw::from_text(json).unwrap().parse().unwrap()
        }
        for text in ["1.0", "1e0", "10e-1", "0.1E1"] {
            assert_eq!(parse::<u64>(text), 1, "{text}");
        }
        assert_eq!(parse::<u64>("1e19"), 10_000_000_000_000_000_000);
        assert_eq!(parse::<i64>("9007199254740993.0"), 9_007_199_254_740_993);
        assert_eq!(parse::<i8>("-0.0"), 0);
        assert_eq!(parse::<i8>("-0"), 0);
        assert_eq!(parse::<Vec<i32>>("[1.0,-2e1]"), [1, -20]);
        assert_eq!(parse::<BTreeMap<String, u8>>(r#"{"a":2.0}"#)["a"], 2);
        assert_eq!(parse::<(f64, u8)>("[1.5,2.0]"), (1.5, 2));
        assert_eq!(parse::<f64>("1e300"), 1e300);
        assert_eq!(parse::<Vec<Size>>(r#"[3.0,"x"]"#), [Size::Count(3), Size::Name("x".into())]);
        let rest = parse::<Rest>(r#"{"id":7.0,"a":1e2}"#);
        assert_eq!(rest, Rest { id: 7, rest: BTreeMap::from([("a".into(), 100)]) });
    }
}
