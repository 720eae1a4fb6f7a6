//! [`TextForm`]: a document with a text form, and [`Numbered`]: a kind with a stable number.

use alloc::vec::Vec;

use super::value::{VERSION, VERSION_KEY, Value};
use crate::json::{JsonReader, Raw, write_str, write_u64};
use crate::schema::DecodeError;

/// A value with a text form: JSON on one line, from which an equal value can be read.
///
/// Other crates cannot implement this trait. See the [module](crate::text) for the form.
pub trait TextForm: Value {
    /// Returns the value as a JSON object.
    fn to_json(&self) -> Raw {
        let mut out = Vec::new();
        self.write(&mut out);
        // Every document has members. The version is last, because the tag is looked for first.
        out.pop();
        out.push(b',');
        write_str(&mut out, VERSION_KEY);
        out.push(b':');
        write_u64(&mut out, VERSION);
        out.push(b'}');
        Raw::from_written(out)
    }

    /// Reads a value from JSON.
    ///
    /// # Errors
    /// Fails if a member is unknown, missing or malformed, or if the version is another one. The
    /// error names the member, and what is allowed.
    fn from_json(json: &Raw) -> Result<Self, DecodeError> {
        Self::read(&mut JsonReader::new(json))
    }
}

/// A kind of error, close reason or violation, with a number and a name that never change.
///
/// A number belongs to one kind of one type. Other crates cannot implement this trait.
///
/// ```
/// use mcp_proto::text::Numbered;
/// use mcp_proto::{CallError, Misuse};
///
/// assert_eq!((Misuse::Stale.number(), Misuse::Stale.name()), (4, "stale"));
/// assert!(CallError::ALL.contains(&(113, "timed_out")));
/// ```
pub trait Numbered: Value {
    /// The numbers and names of all kinds of this type.
    const ALL: &'static [(u16, &'static str)];

    /// Returns the number.
    fn number(&self) -> u16;

    /// Returns the name.
    fn name(&self) -> &'static str {
        let number = self.number();
        Self::ALL.iter().find(|(known, _)| *known == number).map_or("", |(_, name)| name)
    }
}

/// A type whose variants have names.
pub(super) trait Tagged {
    /// The names, in the order of the variants.
    const NAMES: &'static [&'static str];
}
