//! The restricted kind of JSON Schema that forms are made of: building one, filling in its
//! defaults, checking answers.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::decode::{Decode, DecodeError, Encode};
use super::macros::{object, words};
use super::open::{List, Map, Open};
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

object! {
    /// A field for words.
    pub struct TextField tagged "type" = "string" {
        /// A name for people.
        optional title: String = "title",
        /// What to fill in.
        optional description: String = "description",
        /// How many characters at least.
        optional min_length: i64 = "minLength",
        /// How many characters at most.
        optional max_length: i64 = "maxLength",
        /// What the words are.
        optional format: TextFormat = "format",
        /// What to fill in for those who do not. (since 2025-11-25)
        optional default: String = "default" in R4..=R5,
    }
}

words! {
    /// What the words of a field are.
    pub enum TextFormat {
        /// A day.
        Date = "date",
        /// A moment.
        DateTime = "date-time",
        /// An address for mail.
        Email = "email",
        /// A URI.
        Uri = "uri",
    }
}

object! {
    /// A field for a number.
    pub struct NumberField {
        /// Whether it must be whole.
        required kind: NumberKind = "type",
        /// A name for people.
        optional title: String = "title",
        /// What to fill in.
        optional description: String = "description",
        /// The least it may be.
        optional minimum: f64 = "minimum",
        /// The most it may be.
        optional maximum: f64 = "maximum",
        /// What to fill in for those who do not. (since 2025-11-25)
        optional default: f64 = "default" in R4..=R5,
    }
}

words! {
    /// Whether a number must be whole.
    pub enum NumberKind {
        /// It must.
        Integer = "integer",
        /// It need not.
        Number = "number",
    }
}

impl NumberField {
    /// A whole number.
    #[must_use]
    pub fn integer() -> Self {
        Self::new(NumberKind::Integer)
    }

    /// Any number.
    #[must_use]
    pub fn number() -> Self {
        Self::new(NumberKind::Number)
    }
}

object! {
    /// A field for yes or no.
    pub struct BoolField tagged "type" = "boolean" {
        /// A name for people.
        optional title: String = "title",
        /// What to fill in.
        optional description: String = "description",
        /// What to fill in for those who do not.
        optional default: bool = "default",
    }
}

object! {
    /// A field for one of several words.
    ///
    /// Names for people can be given with each word (`options`, since 2025-11-25) or beside the words (`names`).
    /// For a peer that only knows the latter, the former is written so.
    pub struct ChoiceField tagged "type" = "string" {
        /// A name for people.
        optional title: String = "title",
        /// What to choose.
        optional description: String = "description",
        /// The words.
        optional values: List<String> = "enum",
        /// Names for people, in the order of the words.
        optional names: List<String> = "enumNames",
        /// The words with their names. (since 2025-11-25)
        optional options: List<ChoiceOption> = "oneOf",
        /// What to choose for those who do not. (since 2025-11-25)
        optional default: String = "default" in R4..=R5,
    }
}

object! {
    /// A word to choose, with a name for people.
    pub struct ChoiceOption {
        /// The word.
        required value: String = "const",
        /// The name.
        required title: String = "title",
    }
}

impl ChoiceField {
    /// One of these words.
    pub fn of<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        Self::new().values(values.into_iter().map(Into::into).collect::<List<String>>())
    }

    /// One of these words, each with a name for people.
    pub fn titled<S: Into<String>>(options: impl IntoIterator<Item = (S, S)>) -> Self {
        let options = options.into_iter().map(|(value, title)| ChoiceOption::new(value, title));
        Self::new().options(options.collect::<List<ChoiceOption>>())
    }

    fn has(&self, word: &str) -> bool {
        self.values.iter().flatten().any(|value| value == word)
            || self.options.iter().flatten().any(|option| option.value == word)
    }

    /// The same choice as peers know it that have no words with names.
    fn plain(&self) -> Self {
        let mut plain = self.clone();
        if let Some(options) = plain.options.take() {
            plain.values = Some(options.iter().map(|option| option.value.clone()).collect());
            plain.names = Some(options.iter().map(|option| option.title.clone()).collect());
        }
        plain
    }
}

object! {
    /// A field for some of several words. (since 2025-11-25)
    pub struct ChoicesField tagged "type" = "array" {
        /// A name for people.
        optional title: String = "title",
        /// What to choose.
        optional description: String = "description",
        /// How many at least.
        optional min_items: i64 = "minItems",
        /// How many at most.
        optional max_items: i64 = "maxItems",
        /// What there is to choose.
        required items: Choices = "items",
        /// What to choose for those who do not.
        optional default: List<String> = "default",
    }
}

object! {
    /// What there is to choose. (since 2025-11-25)
    pub struct Choices {
        /// `string`, where the words have no names.
        optional kind: String = "type",
        /// The words.
        optional values: List<String> = "enum",
        /// The words with their names.
        optional options: List<ChoiceOption> = "anyOf",
    }
}

impl ChoicesField {
    /// Some of these words.
    pub fn of<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        let values: List<String> = values.into_iter().map(Into::into).collect();
        Self::new(Choices::new().kind("string").values(values))
    }

    /// Some of these words, each with a name for people.
    pub fn titled<S: Into<String>>(options: impl IntoIterator<Item = (S, S)>) -> Self {
        let options = options.into_iter().map(|(value, title)| ChoiceOption::new(value, title));
        Self::new(Choices::new().options(options.collect::<List<ChoiceOption>>()))
    }

    fn has(&self, word: &str) -> bool {
        self.items.values.iter().flatten().any(|value| value == word)
            || self.items.options.iter().flatten().any(|option| option.value == word)
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
                expect(field.has(&String::decode(answer)?), "one of the words to choose from")
            }
            Self::Choices(field) => {
                let chosen: Vec<String> = Vec::decode(answer)?;
                expect(chosen.iter().all(|word| field.has(word)), "words to choose from")?;
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
                field.plain().encode(revision, out)
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
        let chooses = || {
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
            Some("string") if chooses() => Self::Choice(ChoiceField::read(reader)?),
            Some("string") => Self::Text(TextField::read(reader)?),
            _ => return Err(unknown()),
        })
    }
}
