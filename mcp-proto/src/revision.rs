//! The differences between the five protocol revisions, as tables.
//!
//! [`Rules`] has one row per revision, `CAPABILITIES` has one per capability, and `METHODS` has one
//! per method and range of revisions. The rest of the crate looks rules up here instead of
//! comparing revisions.

mod capabilities;
mod methods;

use core::fmt;

use crate::error::code;
pub use capabilities::Capability;
pub(crate) use capabilities::{CAPABILITIES, CapabilityRule};
#[cfg(test)]
pub(crate) use methods::QUESTIONS;
pub(crate) use methods::{Condition, ConditionValue, METHODS, MethodRule, Patience};

/// A revision of the protocol. Revisions are ordered from oldest to newest.
///
/// On the wire, a revision is named by a date. See
/// [Versioning](https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning).
///
/// ```
/// use mcp_proto::Revision;
///
/// assert_eq!(Revision::from_name("2025-06-18"), Some(Revision::V2025_06_18));
/// assert_eq!(Revision::V2025_06_18.name(), "2025-06-18");
/// assert_eq!(Revision::from_name("1999-01-01"), None);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Revision {
    /// Revision 2024-11-05.
    V2024_11_05,
    /// Revision 2025-03-26.
    V2025_03_26,
    /// Revision 2025-06-18.
    V2025_06_18,
    /// Revision 2025-11-25.
    V2025_11_25,
    /// Revision 2026-07-28.
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The revisions of the [legacy era](Era::Legacy), oldest first.
    pub const LEGACY: [Self; 4] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25];

    /// Returns the revision with this wire name, or `None` if the name is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Returns the wire name, a date such as `2025-06-18`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.rules().name
    }

    /// Returns the era that the revision belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        self.rules().era
    }

    /// Returns whether the revision belongs to `era`.
    pub(crate) fn is_of(self, era: Era) -> bool {
        self.era() == era
    }

    /// Returns whether the revision belongs to the modern era.
    pub(crate) const fn is_modern(self) -> bool {
        matches!(self.era(), Era::Modern)
    }

    /// Returns the rules of this revision.
    #[must_use]
    pub const fn rules(self) -> &'static Rules {
        match self {
            Self::V2024_11_05 => &RULES[0],
            Self::V2025_03_26 => &RULES[1],
            Self::V2025_06_18 => &RULES[2],
            Self::V2025_11_25 => &RULES[3],
            Self::V2026_07_28 => &RULES[4],
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A group of protocol revisions: those with sessions, or those without.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Era {
    /// Up to 2025-11-25: a handshake opens a session, and both sides send requests.
    Legacy,
    /// From 2026-07-28: each request carries its own context, and only clients send requests.
    Modern,
}

/// Formats the era as `legacy` or `modern`, the terms of the specification.
impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

/// The rules of one revision, as far as revisions have different rules.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rules {
    /// The wire name, a date.
    pub name: &'static str,
    /// The era that the revision belongs to.
    pub era: Era,
    // BAT-01, BAT-12: only 2025-03-26 has batches.
    /// Whether the revision allows JSON-RPC batches.
    pub batches: bool,
    // D-01: the schema allows an error without an `id` only since 2025-11-25.
    /// Whether an error response has `"id":null` if the id of the rejected message is unknown.
    ///
    /// If false, such a response has no `id` member.
    pub unknown_id_is_null: bool,
    // PRG-07: 2024-11-05 has no `message`.
    /// Whether progress notifications can have a `message`.
    pub progress_message: bool,
    // STL-46: the code changed with 2026-07-28.
    /// The error code for a resource that does not exist.
    pub resource_not_found: i64,
    // CAP-15: legacy revisions have no separate code.
    /// The error code for a request that requires a capability the client did not declare.
    pub missing_capability: i64,
    // JSON-24: the specification reserves a range of codes.
    /// The error codes from -32099 to -32020 that the revision defines; `None` if any may be sent.
    pub(crate) reserved_codes: Option<&'static [i64]>,
    // STL-13, FRM-16, FRM-17: modern servers ask within results.
    /// Whether servers can send requests.
    ///
    /// If false, a server that needs input from the client responds to the client's request with an
    /// interim result that asks for the input.
    pub server_requests: bool,
    // HTTP-15, HTTP-16: a stream that begins with an event id can be resumed.
    /// Whether an HTTP event stream begins with an empty event that has an id.
    ///
    /// With the id, the client can resume the stream if the server closes it early.
    pub primes_event_streams: bool,
    // PAG-04: since 2026-07-28, only an absent cursor ends a list.
    /// Whether a page whose `nextCursor` is the empty string is taken for the last one.
    ///
    /// Legacy revisions do not say so, but their servers mean it: to others, the empty cursor names
    /// the first page.
    pub empty_cursor_ends: bool,
    // HTTP-36, HTTP-39: the `MCP-Protocol-Version` header.
    /// Whether HTTP requests carry the `MCP-Protocol-Version` header.
    ///
    /// Up to 2025-11-25, the header is absent until `initialize` is answered. Since 2026-07-28,
    /// every request carries the header.
    pub version_header: bool,
    /// Whether a sampling message can hold several content blocks.
    pub(crate) content_lists: bool,
    /// Whether sampling requests have `tools` and `toolChoice`.
    pub(crate) sampling_tools: bool,
    /// Whether tool results have `structuredContent`.
    pub(crate) structured_content: bool,
    /// Whether `structuredContent` can be any JSON value rather than only an object.
    pub(crate) any_structured_content: bool,
    /// Whether forms have titled and multiple choices.
    pub(crate) titled_choices: bool,
    /// Whether the `elicitation` capability lists modes. Earlier, its presence means forms.
    pub(crate) elicitation_modes: bool,
    /// Whether `requestId` is optional in a cancellation.
    pub(crate) cancelled_without_id: bool,
    /// How the revision identifies URL elicitations.
    pub(crate) elicitation_urls: UrlElicitation,
    // HTTP-40…42, requirements §3.2: other errors are sent with status 200.
    /// The error codes that require an HTTP status other than 200, each paired with that status.
    pub http_statuses: &'static [(i64, u16)],
}

const RULES: [Rules; 5] = [
    Rules {
        name: "2024-11-05",
        era: Era::Legacy,
        batches: false,
        unknown_id_is_null: true,
        progress_message: false,
        resource_not_found: -32002,
        missing_capability: -32603,
        reserved_codes: None,
        server_requests: true,
        primes_event_streams: false,
        empty_cursor_ends: true,
        version_header: false,
        content_lists: false,
        sampling_tools: false,
        structured_content: false,
        any_structured_content: false,
        titled_choices: false,
        elicitation_modes: false,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::None,
        http_statuses: &[],
    },
    Rules {
        name: "2025-03-26",
        era: Era::Legacy,
        batches: true,
        unknown_id_is_null: true,
        progress_message: true,
        resource_not_found: -32002,
        missing_capability: -32603,
        reserved_codes: None,
        server_requests: true,
        primes_event_streams: false,
        empty_cursor_ends: true,
        version_header: false,
        content_lists: false,
        sampling_tools: false,
        structured_content: false,
        any_structured_content: false,
        titled_choices: false,
        elicitation_modes: false,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::None,
        http_statuses: &[],
    },
    Rules {
        name: "2025-06-18",
        era: Era::Legacy,
        batches: false,
        unknown_id_is_null: true,
        progress_message: true,
        resource_not_found: -32002,
        missing_capability: -32603,
        reserved_codes: None,
        server_requests: true,
        primes_event_streams: false,
        empty_cursor_ends: true,
        version_header: true,
        content_lists: false,
        sampling_tools: false,
        structured_content: true,
        any_structured_content: false,
        titled_choices: false,
        elicitation_modes: false,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::None,
        http_statuses: &[],
    },
    Rules {
        name: "2025-11-25",
        era: Era::Legacy,
        batches: false,
        unknown_id_is_null: false,
        progress_message: true,
        resource_not_found: -32002,
        missing_capability: -32603,
        reserved_codes: None,
        server_requests: true,
        primes_event_streams: true,
        empty_cursor_ends: true,
        version_header: true,
        content_lists: true,
        sampling_tools: true,
        structured_content: true,
        any_structured_content: false,
        titled_choices: true,
        elicitation_modes: true,
        cancelled_without_id: true,
        elicitation_urls: UrlElicitation::WithId,
        http_statuses: &[],
    },
    Rules {
        name: "2026-07-28",
        era: Era::Modern,
        batches: false,
        unknown_id_is_null: false,
        progress_message: true,
        resource_not_found: -32602,
        missing_capability: -32021,
        reserved_codes: Some(&[-32020, -32021, -32022]),
        server_requests: false,
        primes_event_streams: false,
        empty_cursor_ends: false,
        version_header: true,
        content_lists: true,
        sampling_tools: true,
        structured_content: true,
        any_structured_content: true,
        titled_choices: true,
        elicitation_modes: true,
        cancelled_without_id: false,
        elicitation_urls: UrlElicitation::Plain,
        http_statuses: &[(-32601, 404), (-32020, 400), (-32021, 400), (-32022, 400)],
    },
];

impl Rules {
    /// Returns the code that this revision uses for an error of the application.
    // STL-46, CAP-15, JSON-24: some codes differ between revisions, and some do not exist.
    pub(crate) fn error_code(&self, code: i64) -> i64 {
        match code {
            code::RESOURCE_NOT_FOUND => self.resource_not_found,
            code::MISSING_CLIENT_CAPABILITY => self.missing_capability,
            -32099..=-32020 if self.reserved_codes.is_some_and(|all| !all.contains(&code)) => {
                code::INTERNAL_ERROR
            }
            code => code,
        }
    }
}

/// How a revision identifies a URL elicitation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum UrlElicitation {
    /// The revision has no URL elicitation.
    None,
    /// By its `elicitationId`.
    WithId,
    /// By its key within the result that contains it.
    Plain,
}

/// One side of a connection.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Side {
    /// The side that opens the connection and uses what the server provides, such as tools.
    Client,
    /// The side that provides tools, resources and prompts.
    Server,
}

impl Side {
    /// Returns the opposite side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

#[cfg(test)]
use Revision::V2024_11_05 as R1;
pub(crate) use Revision::{
    V2025_03_26 as R2, V2025_06_18 as R3, V2025_11_25 as R4, V2026_07_28 as R5,
};

impl Revision {
    /// Returns whether the revision lies in `range`.
    pub(crate) fn is_in(self, range: &core::ops::RangeInclusive<Self>) -> bool {
        range.contains(&self)
    }
}

// Requirements §2.4.
/// Content types added after the first revision, each with the revision that added it.
const CONTENT_TYPES: &[(&str, Revision)] =
    &[("audio", R2), ("resource_link", R3), ("tool_result", R4), ("tool_use", R4)];

impl Revision {
    // T-120: a peer receives only content types its revision defines.
    /// Returns whether content of type `name` may be sent to a peer of this revision. Types that no
    /// revision defines are always allowed.
    pub(crate) fn has_content_type(self, name: &str) -> bool {
        CONTENT_TYPES.iter().all(|(later, since)| *later != name || *since <= self)
    }
}

// HTTP-44, TSK-36, requirements §2.6: the `Mcp-Name` header repeats a member of the params.
/// Methods whose requests carry the `Mcp-Name` header, each with the params member it repeats. The
/// `tasks/` methods belong to the tasks extension.
#[cfg(feature = "http")]
const NAMES: &[(&str, &str)] = &[
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    ("tasks/get", "taskId"),
    ("tasks/update", "taskId"),
    ("tasks/cancel", "taskId"),
];

/// Returns the params member that the `Mcp-Name` header repeats for `method`.
#[cfg(feature = "http")]
pub(crate) fn named_by(method: &str) -> Option<&'static str> {
    NAMES.iter().find(|(name, _)| *name == method).map(|(_, member)| *member)
}

#[cfg(test)]
mod tests;
