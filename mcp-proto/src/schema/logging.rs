//! Log levels and log messages.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::containers::OrUnknown;
use super::decode::{Decode, DecodeError, Encode};
use super::lifecycle::EmptyResult;
use super::macros::{message, object};
use super::meta::Meta;
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Raw, write_str};
use crate::revision::Revision;

/// The severity of a log message (RFC 5424). More severe levels compare as greater.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(missing_docs, reason = "the names are those of RFC 5424")]
pub enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    /// All levels, least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// Returns the level's name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// Returns the level whose name on the wire is `name`, or `None` if there is no such level.
    ///
    /// The name must match exactly: `warning` is a level, but `warn` and `WARNING` are not.
    // LOG-04: exactly the eight names of RFC 5424.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

serde_impls!(Level);

impl Encode for Level {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        write_str(out, self.name());
        Ok(())
    }
}

impl Decode for Level {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let before = reader.clone();
        reader
            .text()
            .and_then(|name| Self::from_name(&name))
            .ok_or_else(|| DecodeError::expected("a log level", &before))
    }
}

object! {
    /// The params of a `logging/setLevel` request. (up to 2025-11-25)
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging>.
    // LOG-02: sets the minimum level.
    pub struct SetLevel {
        /// The minimum level of the log messages that the server should send.
        required level: Level = "level",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "logging/setLevel": SetLevel => EmptyResult);

object! {
    /// The params of a `notifications/message` notification: a log message.
    pub struct LogMessage {
        /// Severity of the message.
        required level: OrUnknown<Level> = "level",
        /// Name of the logger that issued the message.
        optional logger: String = "logger",
        /// The message, as text or any other JSON value.
        required data: Raw = "data",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/message": LogMessage);
