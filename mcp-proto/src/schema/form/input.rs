//! Forms that a user fills in: titles, choices, and values from the text that was typed.

use alloc::vec::Vec;
use core::ops::Deref;

use serde_json::Value;

use super::{Field, Form};
use crate::collections::SortedMap;
use crate::json::Raw;
use crate::schema::containers::OrUnknown;
use crate::schema::decode::DecodeError;

/// A field of a form with its name. Dereferences to the [`Field`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FormField<'a> {
    /// The name of the field in the form.
    pub name: &'a str,
    /// The field.
    pub field: &'a Field,
    /// Whether the form requires a value.
    pub is_required: bool,
}

impl Deref for FormField<'_> {
    type Target = Field;

    fn deref(&self) -> &Field {
        self.field
    }
}

impl<'a> FormField<'a> {
    /// Returns the display name, or the name in the form if there is none.
    #[must_use]
    pub fn title(&self) -> &'a str {
        self.field.title().unwrap_or(self.name)
    }

    /// Parses what the user typed for this field, as [`Field::parse`] does.
    ///
    /// Blank text means the default value. Without one, it leaves an optional field out: the
    /// result is `None`.
    ///
    /// # Errors
    /// Fails if `text` does not fit the field, or if it is blank and a value is required.
    pub fn parse(&self, text: &str) -> Result<Option<Raw>, DecodeError> {
        if !text.trim().is_empty() {
            return self.field.parse(text).map(Some);
        }
        match self.field.default_value() {
            None if self.is_required => {
                Err(DecodeError { found: None, ..self.field.mismatch(&Raw::null()) })
            }
            default => Ok(default),
        }
    }
}

impl Form {
    /// Iterates over the fields, in order. Leaves out those that are not valid fields.
    ///
    /// The names, titles and descriptions come from the server: before they are shown at a
    /// terminal, make them [printable](crate::printable).
    ///
    /// ```
    /// use mcp_proto::schema::{
    ///     ChoiceField, ElicitResult, ExtraMembers, Form, Map, NumberField,
    /// };
    ///
    /// let form = Form::new(Map::new())
    ///     .field("seats", NumberField::integer().title("Seats").minimum(1.0).maximum(9.0))
    ///     .field("class", ChoiceField::titled([("1", "First"), ("2", "Second")]));
    ///
    /// let mut typed = ["ten", "2", "second"].into_iter();
    /// let mut content = ExtraMembers::new();
    /// for field in form.fields() {
    ///     println!("{}: {}", field.title(), field.expected());
    ///     let value = loop {
    ///         match field.parse(typed.next().unwrap_or_default()) {
    ///             Ok(value) => break value,
    ///             Err(error) => println!("{error}"),
    ///         }
    ///     };
    ///     if let Some(value) = value {
    ///         content.set(field.name, value);
    ///     }
    /// }
    /// let result = ElicitResult::accept(content);
    /// assert_eq!(result.content.unwrap().as_str(), r#"{"seats":2,"class":"2"}"#);
    /// ```
    pub fn fields(&self) -> impl Iterator<Item = FormField<'_>> {
        let required: SortedMap<&str, ()> =
            self.required.iter().flatten().map(|name| (name.as_str(), ())).collect();
        self.properties.iter().filter_map(move |(name, field)| match field {
            OrUnknown::Known(field) => {
                Some(FormField { name, field, is_required: required.contains_key(name) })
            }
            OrUnknown::Unknown(_) => None,
        })
    }
}

impl Field {
    /// Returns the display name; `None` if there is none.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        match self {
            Self::Bool(field) => field.title.as_deref(),
            Self::Choice(field) => field.title.as_deref(),
            Self::Choices(field) => field.title.as_deref(),
            Self::Number(field) => field.title.as_deref(),
            Self::Text(field) => field.title.as_deref(),
        }
    }

    /// Returns the description for the user; `None` if there is none.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        match self {
            Self::Bool(field) => field.description.as_deref(),
            Self::Choice(field) => field.description.as_deref(),
            Self::Choices(field) => field.description.as_deref(),
            Self::Number(field) => field.description.as_deref(),
            Self::Text(field) => field.description.as_deref(),
        }
    }

    /// Iterates over the values to choose from, each with its display name, or with itself if there
    /// is none. Yields nothing if the field offers no choice.
    ///
    /// ```
    /// use mcp_proto::schema::{ChoiceField, ChoicesField, Field};
    ///
    /// let colour = Field::from(ChoiceField::titled([("r", "Red"), ("g", "Green")]));
    /// assert_eq!(colour.choices().collect::<Vec<_>>(), [("r", "Red"), ("g", "Green")]);
    /// let days = Field::from(ChoicesField::of(["mo", "tu"]));
    /// assert_eq!(days.choices().collect::<Vec<_>>(), [("mo", "mo"), ("tu", "tu")]);
    /// ```
    pub fn choices(&self) -> impl Iterator<Item = (&str, &str)> {
        let (values, names, options) = match self {
            Self::Choice(field) => (&field.values, &field.names, &field.options),
            Self::Choices(field) => (&field.items.values, &None, &field.items.options),
            _ => (&None, &None, &None),
        };
        let is_whole = values.as_ref().is_some_and(|values| values.broken.is_empty());
        // Without a malformed element, both lists correspond.
        let names = names.as_ref().filter(|names| is_whole && names.broken.is_empty());
        let values = values.iter().flatten().enumerate().map(move |(index, value)| {
            let name = names.and_then(|names| names.get(index)).unwrap_or(value);
            (value.as_str(), name.as_str())
        });
        values.chain(options.iter().flatten().map(|option| (&*option.value, &*option.title)))
    }

    /// Parses text that a user typed, without regard to white space around it.
    ///
    /// | field | text |
    /// |---|---|
    /// | boolean | `true`, `yes`, `y`, `false`, `no` or `n`, in any case |
    /// | number | a decimal number, such as `-1.5` or `1e3` |
    /// | choice | a value, a display name in any case, or the number of a choice, from 1 |
    /// | several choices | choices between commas |
    /// | text | itself, without the line break at its end |
    ///
    /// Bounds and the format of a text are checked.
    ///
    /// ```
    /// use mcp_proto::schema::{ChoicesField, Field, NumberField};
    ///
    /// let days = Field::from(ChoicesField::titled([("mo", "Monday"), ("tu", "Tuesday")]));
    /// assert_eq!(days.parse("tuesday, 1\n").unwrap().as_str(), r#"["tu","mo"]"#);
    ///
    /// let age = Field::from(NumberField::integer().minimum(0.0));
    /// let error = age.parse("old").unwrap_err();
    /// assert_eq!(error.to_string(), r#"expected an integer at least 0, found "old""#);
    /// ```
    ///
    /// # Errors
    /// Fails if `text` does not fit the field. The error describes the allowed values.
    pub fn parse(&self, text: &str) -> Result<Raw, DecodeError> {
        let trimmed = text.trim();
        let value = match self {
            Self::Bool(_) => parse_bool(trimmed).map(Value::from),
            Self::Choice(_) => self.choose(trimmed).map(Value::from),
            Self::Choices(_) => self.choose_several(trimmed).map(Value::from),
            Self::Number(_) => parse_number(trimmed),
            Self::Text(field) => match &field.format {
                Some(format) => format.allows(trimmed).then(|| trimmed.into()),
                None => Some(text.trim_end_matches(['\r', '\n']).into()),
            },
        };
        let fitting = value.map(Raw::from).filter(|answer| self.fits(answer));
        fitting.ok_or_else(|| self.mismatch(&Value::from(trimmed).into()))
    }

    fn choose(&self, text: &str) -> Option<&str> {
        let is_alike = |(value, title): &(&str, &str)| {
            title.eq_ignore_ascii_case(text) || value.eq_ignore_ascii_case(text)
        };
        self.choices()
            .find(|(value, _)| *value == text)
            .or_else(|| self.choices().find(|(_, title)| *title == text))
            .or_else(|| self.choices().find(is_alike))
            .or_else(|| self.choices().nth(text.parse::<usize>().ok()?.checked_sub(1)?))
            .map(|(value, _)| value)
    }

    fn choose_several(&self, text: &str) -> Option<Vec<&str>> {
        if let Some(one) = self.choose(text) {
            return Some(Vec::from([one]));
        }
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let mut chosen = Vec::new();
        for part in parts {
            let value = self.choose(part)?;
            if !chosen.contains(&value) {
                chosen.push(value);
            }
        }
        Some(chosen)
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 3]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is_one_of(["true", "yes", "y"]) {
        return Some(true);
    }
    is_one_of(["false", "no", "n"]).then_some(false)
}

fn parse_number(text: &str) -> Option<Value> {
    match text.parse::<i64>() {
        Ok(number) => Some(number.into()),
        Err(_) => text.parse::<f64>().ok().map(Value::from),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use serde_json::json;

    use super::*;
    use crate::schema::TextFormat;
    use crate::schema::{
        BoolField, ChoiceField, ChoicesField, Decode, Map, NumberField, TextField,
    };

    fn field(value: Value) -> Field {
        Field::decode(&value.into()).unwrap()
    }

    fn assert_parses(field: impl Into<Field>, cases: &[(&str, Option<Value>)]) {
        let field = field.into();
        for (text, expected) in cases {
            let parsed = field.parse(text).ok().map(|raw| raw.parse::<Value>().unwrap());
            assert_eq!(parsed, *expected, "{text:?} for {}", field.expected());
        }
    }

    #[test]
    fn every_spelling_of_choices_is_known() {
        let titled = json!([{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]);
        for (schema, titles) in [
            (json!({"type": "string", "enum": ["r", "g"]}), ["r", "g"]),
            (
                json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}),
                ["Red", "Green"],
            ),
            (json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red"]}), ["Red", "g"]),
            (json!({"type": "string", "enum": ["r", "g"], "enumNames": [1, "Green"]}), ["r", "g"]),
            (json!({"type": "string", "oneOf": titled}), ["Red", "Green"]),
            (json!({"type": "array", "items": {"type": "string", "enum": ["r", "g"]}}), ["r", "g"]),
            (json!({"type": "array", "items": {"anyOf": titled}}), ["Red", "Green"]),
        ] {
            let field = field(schema.clone());
            let expected = Vec::from([("r", titles[0]), ("g", titles[1])]);
            assert_eq!(field.choices().collect::<Vec<_>>(), expected, "{schema}");
        }
        assert_eq!(Field::from(TextField::new()).choices().count(), 0);
    }

    #[test]
    fn text_becomes_a_value_of_the_field() {
        assert_parses(
            BoolField::new(),
            &[("Yes\n", Some(json!(true))), ("n", Some(json!(false))), ("1", None), ("", None)],
        );
        assert_parses(
            NumberField::integer().minimum(-1.0).maximum(9.0),
            &[("-1", Some(json!(-1))), (" 9 ", Some(json!(9))), ("10", None), ("1.5", None)],
        );
        assert_parses(
            NumberField::number(),
            &[("1.5", Some(json!(1.5))), ("2", Some(json!(2))), ("nan", None), ("1,5", None)],
        );
        assert_parses(
            ChoiceField::titled([("2", "Two"), ("1", "One"), ("x", "2")]),
            &[
                ("2", Some(json!("2"))),
                ("one", Some(json!("1"))),
                ("X", Some(json!("x"))),
                ("3", Some(json!("x"))),
                ("0", None),
                ("4", None),
            ],
        );
        assert_parses(
            ChoicesField::titled([("a", "A, b"), ("c", "C"), ("d", "D")]).max_items(2),
            &[
                ("A, b", Some(json!(["a"]))),
                ("c,1,c,", Some(json!(["c", "a"]))),
                ("1,2,3", None),
                ("c,e", None),
                ("", Some(json!([]))),
            ],
        );
        assert_parses(
            TextField::new().max_length(4),
            &[(" a b\r\n", Some(json!(" a b"))), ("abcde", None)],
        );
    }

    #[test]
    fn the_format_of_a_text_is_checked() {
        for (format, right, wrong) in [
            (TextFormat::Date, ["2024-02-29", "2026-12-31"], ["2023-02-29", "2026-7-28"]),
            (
                TextFormat::DateTime,
                ["2026-07-28T12:00:00Z", "2026-07-28t23:59:60.5+01:30"],
                ["2026-07-28T24:00:00Z", "2026-07-28T12:00:00"],
            ),
            (TextFormat::Email, ["a@b.c", "a.b+c@d"], ["a@b@c", "a b@c"]),
            (TextFormat::Uri, ["https://a/b", "urn:x"], ["a/b", "https://a b"]),
        ] {
            let field = Field::from(TextField::new().format(format));
            for text in right {
                assert_eq!(field.parse(text).unwrap().to_text().unwrap(), text);
            }
            for text in wrong.into_iter().chain(["", "é"]) {
                assert!(field.parse(text).is_err(), "{text:?} as {}", field.expected());
            }
        }
    }

    #[test]
    fn a_blank_answer_means_the_default_or_nothing() {
        let form = Form::new(Map::new())
            .field("name", TextField::new().title("Your name"))
            .field("seats", NumberField::integer().default(2.0))
            .optional_field("vegan", BoolField::new());
        let form = Form::decode(&form.with_unknown("x")).unwrap();
        let fields: Vec<_> = form.fields().collect();
        let titles: Vec<_> = fields.iter().map(FormField::title).collect();
        assert_eq!(titles, ["Your name", "seats", "vegan"]);
        let parsed: Vec<_> = fields.iter().map(|field| field.parse(" \n")).collect();
        let error = parsed[0].clone().unwrap_err();
        assert_eq!(error.to_string(), "expected a text, found nothing");
        assert_eq!(parsed[1].clone().unwrap().unwrap().parse::<f64>(), Ok(2.0));
        assert_eq!(parsed[2], Ok(None));
        assert_eq!(fields[0].parse("Ada").unwrap().unwrap().as_str(), "\"Ada\"");
    }

    #[test]
    fn an_error_says_what_is_allowed() {
        for (field, expected) in [
            (Field::from(BoolField::new()), "true or false"),
            (NumberField::number().maximum(0.5).into(), "a number at most 0.5"),
            (ChoiceField::titled([("r", "Red"), ("g", "g")]).into(), r#"one of "r" (Red), "g""#),
            (ChoicesField::of(["a"]).min_items(1).into(), r#"at least 1 of "a""#),
            (ChoicesField::of(["a", "b"]).into(), r#"any of "a", "b""#),
            (TextField::new().max_length(0).into(), "a text of at most 0 characters"),
            (TextField::new().format(TextFormat::Date).into(), "a date such as 2026-07-28"),
        ] {
            assert_eq!(field.parse("?").unwrap_err().expected, expected);
        }
        let many = Field::from(ChoiceField::of((0..30).map(|number| number.to_string())));
        assert!(many.expected().ends_with("\"19\", …"), "{}", many.expected());
    }

    impl Form {
        /// Returns the form with another field, of an unknown kind.
        fn with_unknown(mut self, name: &str) -> Raw {
            let unknown = OrUnknown::Unknown(Raw::empty_object());
            self.properties.items.push((name.into(), unknown));
            Raw::new(&self).unwrap()
        }
    }
}
