//! The reasons why a result does not pass the check against its output schema.

use std::fmt;

/// The reason why a result did not pass [`check_result`](crate::Connection::check_result) (feature
/// `jsonschema`).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CheckError {
    /// The result does not match the output schema. Describes the first mismatch.
    Mismatch(String),
    /// The result matches the output schema as far as it could be checked.
    ///
    /// These patterns were not checked: this library cannot run them, they are too large, or they
    /// took too many steps.
    PartlyChecked(Vec<String>),
    /// The result was not checked: it is too large for the schema, or the check took too long.
    TooCostly(String),
    /// The output schema cannot be used. Describes why.
    UnusableSchema(String),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch(why) | Self::TooCostly(why) | Self::UnusableSchema(why) => {
                f.write_str(why)
            }
            Self::PartlyChecked(patterns) => {
                write!(f, "not checked against the patterns {patterns:?}, which cannot be run")
            }
        }
    }
}

impl std::error::Error for CheckError {}
