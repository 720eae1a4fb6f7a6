//! The field types of a form.

use alloc::string::String;

use crate::revision::{R4, R5};
use crate::schema::containers::List;
use crate::schema::macros::{object, string_enum};

object! {
    /// A text field. (since 2025-06-18)
    pub struct TextField tagged "type" = "string" {
        /// Display name.
        optional title: String = "title",
        /// Description shown to the user.
        optional description: String = "description",
        /// Minimum number of characters.
        optional min_length: i64 = "minLength",
        /// Maximum number of characters.
        optional max_length: i64 = "maxLength",
        /// Required format of the text.
        optional format: TextFormat = "format",
        /// Default value. (since 2025-11-25)
        optional default: String = "default" in R4..=R5,
    }
}

string_enum! {
    /// The format of a text field. (since 2025-06-18)
    pub enum TextFormat {
        /// A date, such as `2026-07-28`.
        Date = "date",
        /// A date and time, such as `2026-07-28T12:00:00Z`.
        DateTime = "date-time",
        /// An e-mail address.
        Email = "email",
        /// A URI.
        Uri = "uri",
    }
}

object! {
    /// A numeric field. (since 2025-06-18)
    pub struct NumberField {
        /// Whether the value must be an integer.
        required kind: NumberKind = "type",
        /// Display name.
        optional title: String = "title",
        /// Description shown to the user.
        optional description: String = "description",
        /// Minimum value.
        optional minimum: f64 = "minimum",
        /// Maximum value.
        optional maximum: f64 = "maximum",
        /// Default value. (since 2025-11-25)
        optional default: f64 = "default" in R4..=R5,
    }
}

string_enum! {
    /// The type of a numeric field. (since 2025-06-18)
    pub enum NumberKind {
        /// Integers only.
        Integer = "integer",
        /// Any number.
        Number = "number",
    }
}

impl NumberField {
    /// Creates a field for integers.
    #[must_use]
    pub fn integer() -> Self {
        Self::new(NumberKind::Integer)
    }

    /// Creates a field for any number.
    #[must_use]
    pub fn number() -> Self {
        Self::new(NumberKind::Number)
    }
}

object! {
    /// A boolean field. (since 2025-06-18)
    pub struct BoolField tagged "type" = "boolean" {
        /// Display name.
        optional title: String = "title",
        /// Description shown to the user.
        optional description: String = "description",
        /// Default value.
        optional default: bool = "default",
    }
}

object! {
    /// A field for which the user chooses one of several values. (since 2025-06-18)
    ///
    /// The choices are in one of two places:
    ///
    /// - `options` contains values with their display names. (since 2025-11-25)
    /// - `values` contains values without display names. `names` can add display names.
    ///
    /// For peers that use a revision before 2025-11-25, `options` is encoded as `values` and
    /// `names`.
    pub struct ChoiceField tagged "type" = "string" {
        /// Display name.
        optional title: String = "title",
        /// Description shown to the user.
        optional description: String = "description",
        /// The values to choose from, if not given by `options`.
        optional values: List<String> = "enum",
        /// Display names, in the order of `values`.
        optional names: List<String> = "enumNames",
        /// The values with their display names. (since 2025-11-25)
        optional options: List<ChoiceOption> = "oneOf",
        /// Default value. (since 2025-11-25)
        optional default: String = "default" in R4..=R5,
    }
}

object! {
    /// A value that the user can choose, with its display name. (since 2025-11-25)
    pub struct ChoiceOption {
        /// The value.
        required value: String = "const",
        /// The display name.
        required title: String = "title",
    }
}

impl ChoiceField {
    /// Creates a field whose choices are `values`, without display names.
    pub fn of<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        Self::new().values(values.into_iter().map(Into::into).collect::<List<String>>())
    }

    /// Creates a field whose choices are `options`, pairs of a value and its display name.
    pub fn titled<S: Into<String>>(options: impl IntoIterator<Item = (S, S)>) -> Self {
        let options = options.into_iter().map(|(value, title)| ChoiceOption::new(value, title));
        Self::new().options(options.collect::<List<ChoiceOption>>())
    }

    /// Returns the field without `options`, for peers whose revision does not define them.
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
    /// A field for which the user chooses any number of values. (since 2025-11-25)
    pub struct ChoicesField tagged "type" = "array" {
        /// Display name.
        optional title: String = "title",
        /// Description shown to the user.
        optional description: String = "description",
        /// Minimum number of chosen values.
        optional min_items: i64 = "minItems",
        /// Maximum number of chosen values.
        optional max_items: i64 = "maxItems",
        /// The values to choose from.
        required items: ChoiceItems = "items",
        /// Default value.
        optional default: List<String> = "default",
    }
}

object! {
    /// The values to choose from in a [`ChoicesField`]. (since 2025-11-25)
    pub struct ChoiceItems {
        /// JSON type of the values: `string` if `values` is set, `None` if `options` is set.
        optional kind: String = "type",
        /// The values to choose from, if not given by `options`.
        optional values: List<String> = "enum",
        /// The values with their display names.
        optional options: List<ChoiceOption> = "anyOf",
    }
}

impl ChoicesField {
    /// Creates a field whose choices are `values`, without display names.
    pub fn of<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Self {
        let values: List<String> = values.into_iter().map(Into::into).collect();
        Self::new(ChoiceItems::new().kind("string").values(values))
    }

    /// Creates a field whose choices are `options`, pairs of a value and its display name.
    pub fn titled<S: Into<String>>(options: impl IntoIterator<Item = (S, S)>) -> Self {
        let options = options.into_iter().map(|(value, title)| ChoiceOption::new(value, title));
        Self::new(ChoiceItems::new().options(options.collect::<List<ChoiceOption>>()))
    }
}
