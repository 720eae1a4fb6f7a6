//! The field types of a form.

use alloc::string::String;

use crate::revision::{R4, R5};
use crate::schema::containers::List;
use crate::schema::macros::{object, string_enum};

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

string_enum! {
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

string_enum! {
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

    pub(super) fn contains(&self, word: &str) -> bool {
        self.values.iter().flatten().any(|value| value == word)
            || self.options.iter().flatten().any(|option| option.value == word)
    }

    /// The same choice as peers know it that have no words with names.
    pub(super) fn untitled(&self) -> Self {
        let mut untitled = self.clone();
        if let Some(options) = untitled.options.take() {
            untitled.values = Some(options.iter().map(|option| option.value.clone()).collect());
            untitled.names = Some(options.iter().map(|option| option.title.clone()).collect());
        }
        untitled
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

    pub(super) fn contains(&self, word: &str) -> bool {
        self.items.values.iter().flatten().any(|value| value == word)
            || self.items.options.iter().flatten().any(|option| option.value == word)
    }
}
