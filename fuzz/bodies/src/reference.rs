//! JSON as `serde_json` parses it, with everything preserved except the spelling.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value that preserves repeated members and distinguishes integers from other numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Unsigned(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// The verdict of `serde_json` on a text.
#[derive(Debug)]
pub(crate) enum Reading {
    Json(Tree),
    NotJson,
    /// Undecided: a number out of its range, more nesting than it supports, or an unpaired
    /// surrogate, which a `String` cannot hold.
    Unsure,
}

pub(crate) fn read(text: &[u8]) -> Reading {
    match serde_json::from_slice(text) {
        Ok(tree) => Reading::Json(tree),
        Err(error) => {
            let why = error.to_string();
            let is_limit =
                ["number out of range", "recursion limit", "lone", "unexpected end of hex"]
                    .iter()
                    .any(|limit| why.starts_with(limit));
            if is_limit { Reading::Unsure } else { Reading::NotJson }
        }
    }
}

impl Tree {
    /// Returns the member of this name; the last one, if repeated.
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        self.members().iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    pub(crate) fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns whether the value contains `-0`, an integer, or `-0.0`, which is not one: both
    /// become one float.
    pub(crate) fn has_minus_zero(&self) -> bool {
        match self {
            Self::Float(value) => *value == 0.0 && value.is_sign_negative(),
            Self::Array(elements) => elements.iter().any(Self::has_minus_zero),
            Self::Object(members) => members.iter().any(|(_, value)| value.has_minus_zero()),
            _ => false,
        }
    }

    /// Returns the value with an integer for a number without a fraction; `None` for a number that
    /// is too large for an exact float.
    pub(crate) fn with_integer(&self) -> Option<Self> {
        match self {
            Self::Float(number) if number.abs() >= 2_f64.powi(53) => None,
            Self::Float(number) if number.fract() != 0.0 => Some(self.clone()),
            Self::Float(number) if *number < 0.0 => Some(Self::Negative(*number as i64)),
            Self::Float(number) => Some(Self::Unsigned(*number as u64)),
            other => Some(other.clone()),
        }
    }

    /// Returns the nesting depth.
    pub(crate) fn depth(&self) -> usize {
        match self {
            Self::Array(elements) => 1 + elements.iter().map(Self::depth).max().unwrap_or_default(),
            Self::Object(members) => {
                1 + members.iter().map(|(_, value)| value.depth()).max().unwrap_or_default()
            }
            _ => 0,
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Negative(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Tree, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = array.next_element()? {
            elements.push(element);
        }
        Ok(Tree::Array(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = object.next_entry()? {
            members.push(member);
        }
        Ok(Tree::Object(members))
    }
}
