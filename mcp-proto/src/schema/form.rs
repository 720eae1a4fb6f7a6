//! Elicitation forms, a restricted kind of JSON Schema: construction, defaults and validation.

mod fields;
mod input;
mod text_format;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Display;

pub use fields::{
    BoolField, ChoiceField, ChoiceItems, ChoiceOption, ChoicesField, NumberField, NumberKind,
    TextField, TextFormat,
};
pub use input::FormField;

use super::containers::{List, Map, OrUnknown};
use super::decode::{Decode, DecodeError, Encode};
use super::macros::object;
use super::serde_impls::serde_impls;
use crate::collections::SortedMap;
use crate::error::Unencodable;
use crate::json::{JsonReader, Kind, Raw, whole_number};
use crate::revision::{R4, R5, Revision};

object! {
    /// The JSON Schema of an elicitation form. (since 2025-06-18)
    ///
    /// A form is a flat object whose fields have simple types; see [`Field`]. To let a user fill it
    /// in, see [`fields`](Form::fields).
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>.
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
        /// URI of the JSON Schema dialect. (since 2025-11-25)
        optional dialect: String = "$schema" in R4..=R5,
        /// The fields, by name; a field that is not a valid [`Field`] is kept verbatim.
        required properties: Map<OrUnknown<Field>> = "properties",
        /// Names of the required fields.
        optional required: List<String> = "required",
    }
}

impl Form {
    /// Adds a required field, replacing any existing field named `name`.
    ///
    /// Appends `name` to the `required` list, even if the list already contains it.
    #[must_use]
    pub fn field(mut self, name: &str, field: impl Into<Field>) -> Self {
        self.required.get_or_insert_default().push(name.to_owned());
        self.optional_field(name, field)
    }

    /// Adds an optional field, replacing any existing field named `name`.
    ///
    /// The `required` list remains unchanged. If the list already contains `name`, the new field is
    /// therefore required.
    #[must_use]
    pub fn optional_field(mut self, name: &str, field: impl Into<Field>) -> Self {
        self.properties = self.properties.with(name, OrUnknown::Known(field.into()));
        self
    }

    /// Returns a copy of `content` in which absent fields have their default values.
    ///
    /// A field without a default value remains absent. If `content` is not an object, the result
    /// contains only the default values.
    #[must_use]
    pub fn with_defaults(&self, content: &Raw) -> Raw {
        let mut filled: Map<Raw> = Map::decode(content).unwrap_or_default();
        let given: SortedMap<String, ()> =
            filled.iter().map(|(name, _)| (name.to_owned(), ())).collect();
        for (name, field) in self.properties.iter().filter(|(name, _)| !given.contains_key(*name)) {
            let default = match field {
                OrUnknown::Known(field) => field.default_value(),
                OrUnknown::Unknown(raw) => raw.member("default"),
            };
            if let Some(default) = default {
                filled.items.push((name.into(), default));
            }
        }
        filled.to_raw(R5).unwrap_or_else(|Unencodable| content.clone())
    }

    /// Checks that `content` contains all required fields and that each value fits its field.
    ///
    /// Unknown fields are accepted. The `format` of a [`TextField`] is not checked. If a field of
    /// the form is not a valid [`Field`], its value is not checked.
    ///
    /// # Errors
    /// Fails if `content` is not an object, if a required field is missing, or if a value does not
    /// fit its field. The error's `pointer` identifies the field.
    pub fn check(&self, content: &Raw) -> Result<(), DecodeError> {
        let answers: Map<Raw> = Map::decode(content)?;
        let answers: SortedMap<&str, &Raw> = answers.iter().collect();
        if let Some(name) =
            self.required.iter().flatten().find(|name| !answers.contains_key(name.as_str()))
        {
            return Err(DecodeError::missing(name));
        }
        for (name, field) in self.properties.iter() {
            if let (OrUnknown::Known(field), Some(answer)) = (field, answers.get(name)) {
                field.check(answer).map_err(|error| error.within(name))?;
            }
        }
        Ok(())
    }
}

/// A field of a form. (since 2025-06-18)
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Field {
    /// A boolean field.
    Bool(BoolField),
    /// A field for which the user chooses one of several values.
    Choice(ChoiceField),
    /// A field for which the user chooses any number of values. (since 2025-11-25)
    Choices(ChoicesField),
    /// A numeric field.
    Number(NumberField),
    /// A text field.
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
    /// Returns the default value as JSON; `None` if there is none.
    #[must_use]
    pub fn default_value(&self) -> Option<Raw> {
        match self {
            Self::Bool(field) => field.default.as_ref()?.to_raw(R5),
            Self::Choice(field) => field.default.as_ref()?.to_raw(R5),
            Self::Choices(field) => field.default.as_ref()?.to_raw(R5),
            Self::Number(field) => field.default.as_ref()?.to_raw(R5),
            Self::Text(field) => field.default.as_ref()?.to_raw(R5),
        }
        .ok()
    }

    /// Checks that `answer` fits the field. The `format` of a text is not checked.
    fn check(&self, answer: &Raw) -> Result<(), DecodeError> {
        if self.fits(answer) { Ok(()) } else { Err(self.mismatch(answer)) }
    }

    fn mismatch(&self, answer: &Raw) -> DecodeError {
        DecodeError::expected(self.expected(), &JsonReader::new(answer))
    }

    fn fits(&self, answer: &Raw) -> bool {
        let is_offered = |chosen: &String| self.choices().any(|(value, _)| value == chosen);
        match self {
            Self::Bool(_) => bool::decode(answer).is_ok(),
            Self::Choice(_) => String::decode(answer).is_ok_and(|chosen| is_offered(&chosen)),
            Self::Choices(field) => Vec::decode(answer).is_ok_and(|chosen: Vec<String>| {
                chosen.iter().all(is_offered)
                    && is_within(chosen.len(), field.min_items, field.max_items)
            }),
            Self::Number(field) => f64::decode(answer).is_ok_and(|number| {
                let may_be_fraction = field.kind != NumberKind::Integer;
                (may_be_fraction || whole_number(answer.as_str()).is_some())
                    && field.minimum.is_none_or(|least| number >= least)
                    && field.maximum.is_none_or(|most| number <= most)
            }),
            Self::Text(field) => String::decode(answer).is_ok_and(|text| {
                is_within(text.chars().count(), field.min_length, field.max_length)
            }),
        }
    }

    /// Describes the allowed values, for example `an integer from 1 to 10`.
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::Bool(_) => "true or false".into(),
            Self::Choice(_) => format!("one of {}", self.first_choices()),
            Self::Choices(field) => {
                let count = range(field.min_items, field.max_items);
                format!("{} of {}", count.as_deref().unwrap_or("any"), self.first_choices())
            }
            Self::Number(field) => {
                let kind =
                    if field.kind == NumberKind::Integer { "an integer" } else { "a number" };
                match range(field.minimum, field.maximum) {
                    Some(range) => format!("{kind} {range}"),
                    None => kind.into(),
                }
            }
            Self::Text(field) => {
                let kind = field.format.as_ref().map_or("a text", TextFormat::example);
                match range(field.min_length, field.max_length) {
                    Some(range) => format!("{kind} of {range} characters"),
                    None => kind.into(),
                }
            }
        }
    }

    /// Lists the first choices, with their display names where these differ.
    fn first_choices(&self) -> String {
        let mut choices = self.choices().map(|(value, title)| {
            if value == title { format!("{value:?}") } else { format!("{value:?} ({title})") }
        });
        let mut first: Vec<String> = choices.by_ref().take(20).collect();
        first.extend(choices.next().map(|_| "…".into()));
        first.join(", ")
    }
}

fn is_within(count: usize, least: Option<i64>, most: Option<i64>) -> bool {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    least.is_none_or(|least| count >= least) && most.is_none_or(|most| count <= most)
}

fn range<T: Display>(least: Option<T>, most: Option<T>) -> Option<String> {
    match (least, most) {
        (Some(least), Some(most)) => Some(format!("from {least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

serde_impls!(Field);

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

/// Selects the variant by `type`, and by the presence of `enum` or `oneOf`.
impl Decode for Field {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() != Some(Kind::Object) {
            return Err(DecodeError::expected("a form field", reader));
        }
        let kind = reader.peek_member("type");
        let kind = kind.as_ref().and_then(Raw::to_text);
        let has_choices = || {
            let mut reader = reader.clone();
            reader.peek_member("enum").is_some() || reader.peek_member("oneOf").is_some()
        };
        let before = reader.clone();
        let unknown = || DecodeError::expected("a known type of form field", &before);
        Ok(match kind.as_deref() {
            Some("array") => Self::Choices(ChoicesField::read(reader)?),
            Some("boolean") => Self::Bool(BoolField::read(reader)?),
            Some("integer" | "number") => {
                let field = NumberField::read(reader)?;
                // A duplicate `type` may contradict the first.
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
