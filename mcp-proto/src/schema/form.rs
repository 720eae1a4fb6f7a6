//! The restricted kind of JSON Schema that forms are made of: building one, filling in its
//! defaults, checking answers.

mod fields;

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

pub use fields::{
    BoolField, ChoiceField, ChoiceOption, Choices, ChoicesField, NumberField, NumberKind,
    TextField, TextFormat,
};

use super::containers::{List, Map, Open};
use super::decode::{Decode, DecodeError, Encode};
use super::macros::object;
use crate::error::Unencodable;
use crate::json::{Kind, Raw, Reader};
use crate::revision::{R4, R5, Revision};

object! {
    /// A form: flat, with fields of a few kinds. (since 2025-06-18)
    ///
    /// ```
    /// use mcp_proto::Raw;
    /// use mcp_proto::schema::{Form, NumberField, TextField};
    ///
    /// let form = Form::new(mcp_proto::schema::Map::new())
    ///     .field("name", TextField::new().max_length(20))
    ///     .optional_field("age", NumberField::integer().minimum(0.0));
    /// let good = Raw::from_text(r#"{"name":"Ada","age":36}"#).unwrap();
    /// assert!(form.check(&good).is_ok());
    /// let bad = Raw::from_text(r#"{"name":"Ada","age":"old"}"#).unwrap();
    /// assert_eq!(form.check(&bad).unwrap_err().pointer, "/age");
    /// ```
    pub struct Form tagged "type" = "object" {
        /// The dialect of JSON Schema. (since 2025-11-25)
        optional dialect: String = "$schema" in R4..=R5,
        /// The fields, by name.
        required properties: Map<Open<Field>> = "properties",
        /// The names of the fields that must be filled in.
        optional required: List<String> = "required",
    }
}

impl Form {
    /// The same form with one more field, which must be filled in.
    #[must_use]
    pub fn field(mut self, name: &str, field: impl Into<Field>) -> Self {
        self.required.get_or_insert_default().push(name.to_owned());
        self.optional_field(name, field)
    }

    /// The same form with one more field, which can be left empty.
    #[must_use]
    pub fn optional_field(mut self, name: &str, field: impl Into<Field>) -> Self {
        self.properties = self.properties.with(name, Open::Known(field.into()));
        self
    }

    /// `content` with the defaults of the fields that it leaves out.
    #[must_use]
    pub fn with_defaults(&self, content: &Raw) -> Raw {
        let mut filled: Map<Raw> = Map::decode(content).unwrap_or_default();
        let given: BTreeSet<String> = filled.iter().map(|(name, _)| name.to_owned()).collect();
        for (name, field) in self.properties.iter().filter(|(name, _)| !given.contains(*name)) {
            let default = match field {
                Open::Known(field) => field.default_value(),
                Open::Other(raw) => raw.member("default"),
            };
            if let Some(default) = default {
                filled.items.push((name.into(), default));
            }
        }
        let mut out = Vec::new();
        match filled.encode(R5, &mut out) {
            Ok(()) => Raw::from_written(out),
            Err(Unencodable) => content.clone(),
        }
    }

    /// Checks what a user filled in: that nothing required is missing and that each field is what
    /// it must be.
    ///
    /// Fields that the form does not have are let through; formats are taken on trust.
    ///
    /// # Errors
    /// The first field that is wrong, and what it must be.
    pub fn check(&self, content: &Raw) -> Result<(), DecodeError> {
        let answers: Map<Raw> = Map::decode(content)?;
        let answers: BTreeMap<&str, &Raw> = answers.iter().collect();
        if let Some(name) =
            self.required.iter().flatten().find(|name| !answers.contains_key(name.as_str()))
        {
            return Err(DecodeError::missing(name));
        }
        for (name, field) in self.properties.iter() {
            if let (Open::Known(field), Some(answer)) = (field, answers.get(name)) {
                field.check(answer).map_err(|error| error.within(name))?;
            }
        }
        Ok(())
    }
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Field {
    /// For yes or no.
    Bool(BoolField),
    /// For one of several words.
    Choice(ChoiceField),
    /// For some of several words. (since 2025-11-25)
    Choices(ChoicesField),
    /// For a number.
    Number(NumberField),
    /// For words.
    Text(TextField),
}

macro_rules! from_field {
    ($($variant:ident($field:ty)),*) => {$(
        impl From<$field> for Field {
            fn from(field: $field) -> Self {
                Self::$variant(field)
            }
        }
    )*};
}

from_field!(
    Bool(BoolField),
    Choice(ChoiceField),
    Choices(ChoicesField),
    Number(NumberField),
    Text(TextField)
);

impl Field {
    fn default_value(&self) -> Option<Raw> {
        let mut out = Vec::new();
        let written = match self {
            Self::Bool(field) => field.default.as_ref().map(|value| value.encode(R5, &mut out)),
            Self::Choice(field) => field.default.as_ref().map(|value| value.encode(R5, &mut out)),
            Self::Choices(field) => field.default.as_ref().map(|value| value.encode(R5, &mut out)),
            Self::Number(field) => field.default.as_ref().map(|value| value.encode(R5, &mut out)),
            Self::Text(field) => field.default.as_ref().map(|value| value.encode(R5, &mut out)),
        };
        written.and_then(Result::ok).map(|()| Raw::from_written(out))
    }

    fn check(&self, answer: &Raw) -> Result<(), DecodeError> {
        let expect = |good: bool, expected| {
            if good { Ok(()) } else { Err(DecodeError::expected(expected, &Reader::new(answer))) }
        };
        match self {
            Self::Bool(_) => bool::decode(answer).map(|_| ()),
            Self::Choice(field) => {
                expect(field.contains(&String::decode(answer)?), "one of the words to choose from")
            }
            Self::Choices(field) => {
                let chosen: Vec<String> = Vec::decode(answer)?;
                expect(chosen.iter().all(|word| field.contains(word)), "words to choose from")?;
                expect(
                    is_within(chosen.len(), field.min_items, field.max_items),
                    "as many words as allowed",
                )
            }
            Self::Number(field) => {
                let number = f64::decode(answer)?;
                let whole = field.kind != NumberKind::Integer || i64::decode(answer).is_ok();
                expect(whole, "a whole number")?;
                let good = field.minimum.is_none_or(|least| number >= least)
                    && field.maximum.is_none_or(|most| number <= most);
                expect(good, "a number within its bounds")
            }
            Self::Text(field) => {
                let characters = String::decode(answer)?.chars().count();
                expect(
                    is_within(characters, field.min_length, field.max_length),
                    "as many characters as allowed",
                )
            }
        }
    }
}

fn is_within(count: usize, least: Option<i64>, most: Option<i64>) -> bool {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most)
}

impl Encode for Field {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Bool(field) => field.encode(revision, out),
            Self::Choice(field) if !revision.rules().titled_choices => {
                field.untitled().encode(revision, out)
            }
            Self::Choice(field) => field.encode(revision, out),
            Self::Choices(_) if !revision.rules().titled_choices => Err(Unencodable),
            Self::Choices(field) => field.encode(revision, out),
            Self::Number(field) => field.encode(revision, out),
            Self::Text(field) => field.encode(revision, out),
        }
    }
}

/// By its `type`, and by whether there is something to choose from.
impl Decode for Field {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() != Some(Kind::Object) {
            return Err(DecodeError::expected("a field of a form", reader));
        }
        let kind = reader.peek_member("type");
        let kind = kind.as_ref().and_then(Raw::to_text);
        let has_choices = || {
            let mut reader = reader.clone();
            reader.peek_member("enum").is_some() || reader.peek_member("oneOf").is_some()
        };
        let before = reader.clone();
        let unknown = || DecodeError::expected("a kind of field that forms have", &before);
        Ok(match kind.as_deref() {
            Some("array") => Self::Choices(ChoicesField::read(reader)?),
            Some("boolean") => Self::Bool(BoolField::read(reader)?),
            Some("integer" | "number") => {
                let field = NumberField::read(reader)?;
                // A second `type` may have said something else.
                match field.kind {
                    NumberKind::Integer | NumberKind::Number => Self::Number(field),
                    _ => return Err(unknown()),
                }
            }
            Some("string") if has_choices() => Self::Choice(ChoiceField::read(reader)?),
            Some("string") => Self::Text(TextField::read(reader)?),
            _ => return Err(unknown()),
        })
    }
}
