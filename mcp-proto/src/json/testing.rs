//! Generators of JSON for property tests: any value, in any spelling the grammar allows.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Number, Value};

/// Characters that are special in JSON or boundary cases of its encodings.
const SPECIAL_CHARACTERS: &[char] = &[
    '"',
    '\\',
    '/',
    '\0',
    '\n',
    '\r',
    '\t',
    '\u{8}',
    '\u{c}',
    '\u{1f}',
    ' ',
    'a',
    'Z',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\u{7f}',
    '\u{80}',
    '\u{a2}',
    '\u{dc}',
    'é',
    '\u{2028}',
    '\u{d7ff}',
    '\u{e000}',
    '\u{feff}',
    '\u{ffff}',
    '\u{10000}',
    '\u{1f600}',
    '\u{10ffff}',
];

/// Any string, with a preference for special characters.
pub(crate) fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,3}",
        ".{0,12}",
        proptest::collection::vec(select(SPECIAL_CHARACTERS), 0..24)
            .prop_map(|characters| characters.into_iter().collect()),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let fixed = select(&["a", "b", "_meta", "_mete", "id", "méta", ""][..]);
    prop_oneof![3 => fixed.prop_map(String::from), 1 => string()]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-10_i64..10).prop_map(Value::from),
        proptest::num::f64::NORMAL
            .prop_map(|float| Number::from_f64(float).map_or(Value::Null, Value::Number)),
    ]
}

/// Any value, a few levels deep.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        string().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            proptest::collection::vec((key(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Any object.
pub(crate) fn object() -> impl Strategy<Value = Map<String, Value>> {
    proptest::collection::vec((key(), value()), 0..6)
        .prop_map(|members| members.into_iter().collect())
}

/// Any value as text, in any spelling. Members may be repeated.
pub(crate) fn text() -> impl Strategy<Value = String> {
    (value(), Style::any()).prop_map(|(value, mut style)| style.spell(&value))
}

/// Any object as text, in any spelling.
pub(crate) fn object_text() -> impl Strategy<Value = String> {
    (object(), Style::any()).prop_map(|(object, mut style)| style.spell(&Value::Object(object)))
}

/// A sequence of choices between spellings, repeated as needed.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    choices: Vec<u8>,
    next: usize,
}

impl Style {
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        // Half of the texts use the canonical spelling.
        prop_oneof![Just(vec![]), proptest::collection::vec(any::<u8>(), 1..64)]
            .prop_map(|choices| Self { choices, next: 0 })
    }

    fn choose(&mut self, of: u8) -> u8 {
        self.next += 1;
        match self.choices.len() {
            0 => of - 1,
            len => self.choices[self.next % len] % of,
        }
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(
            [" ", "\n", "\t", "\r\n", " \n\n  ", "", "", "", "", "", ""]
                [usize::from(self.choose(11))],
        );
    }

    /// Writes `value` without surrounding white space.
    pub(crate) fn spell(&mut self, value: &Value) -> String {
        let mut out = String::new();
        self.value(&mut out, value);
        out
    }

    fn value(&mut self, out: &mut String, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
            Value::Number(number) => match self.choose(16) {
                0 => out.push_str("-0"),
                1 => out.push_str("1.50E+2"),
                2 => out.push_str("0e-0"),
                3 => out.push_str("123456789012345678901234567890"),
                _ => out.push_str(&number.to_string()),
            },
            Value::String(text) => self.string(out, text),
            Value::Array(elements) => {
                out.push('[');
                self.space(out);
                for (at, element) in elements.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    self.space(out);
                    self.value(out, element);
                    self.space(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                self.space(out);
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    if self.choose(12) == 0 {
                        self.member(out, key, &Value::from("overridden"));
                        out.push(',');
                    }
                    self.member(out, key, value);
                }
                out.push('}');
            }
        }
    }

    fn member(&mut self, out: &mut String, key: &str, value: &Value) {
        self.space(out);
        self.string(out, key);
        self.space(out);
        out.push(':');
        self.space(out);
        self.value(out, value);
        self.space(out);
    }

    pub(crate) fn string(&mut self, out: &mut String, text: &str) {
        out.push('"');
        for character in text.chars() {
            let choice = self.choose(10);
            match character {
                _ if choice < 2 => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        out.push_str(&if choice == 0 {
                            format!("\\u{unit:04x}")
                        } else {
                            format!("\\u{unit:04X}")
                        });
                    }
                }
                '/' if choice < 5 => out.push_str("\\/"),
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
                plain => out.push(plain),
            }
        }
        out.push('"');
    }
}
