//! [`InvalidRecord`]: why a stored record cannot be read.

use core::fmt;

use super::document::InvalidDocument;

/// The version of the format. Records of other versions are not read.
pub(super) const VERSION: u64 = 1;

/// Why a stored record cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InvalidRecord {
    /// The record exceeds
    /// [`AuthLimits::record_bytes_max`](crate::auth::AuthLimits::record_bytes_max).
    Length,
    /// The record is not a JSON object, or has unknown members.
    Json,
    /// The record is of another version.
    Version,
    /// The named member is missing or invalid.
    Member(&'static str),
}

impl fmt::Display for InvalidRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("the record exceeds `AuthLimits::record_bytes_max`"),
            Self::Json => f.write_str("the record is not a JSON object with known members"),
            Self::Version => write!(f, "the record is not of version {VERSION}: authorize again"),
            Self::Member(name) => write!(f, "`{name}` of the record is missing or invalid"),
        }
    }
}

impl core::error::Error for InvalidRecord {}

impl From<InvalidDocument> for InvalidRecord {
    fn from(invalid: InvalidDocument) -> Self {
        match invalid {
            InvalidDocument::Length => Self::Length,
            InvalidDocument::Json => Self::Json,
            InvalidDocument::Member(name) => Self::Member(name),
        }
    }
}
