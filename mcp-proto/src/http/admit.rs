//! Whether an HTTP request may come in, by its head alone; knows nothing of what its body will say.

use alloc::boxed::Box;
use core::str::from_utf8;

use super::field::{Authority, accepts, is_event_id, is_media_type, text, visible};
use super::fields::{Fields, all};
use super::policy::Policy;
use super::refusal::Refusal;
use crate::revision::{Era, Revision};

/// JSON's media type.
pub(super) const JSON: &str = "application/json";

/// That of event streams.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The longest name of a revision that is looked at.
const VERSION_BYTES_MAX: usize = 64;

/// A request that may come in, as far as its head tells.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Admitted {
    /// A message; what it is depends on its body.
    Post(Head),
    /// A client wants to hear what a session says besides answers, or once more what it missed.
    /// (HTTP-22)
    Get(Get),
    /// A client is done with this session. (HTTP-35)
    Delete(Box<str>),
}

/// What a client wants to hear of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Get {
    /// The session's id, of visible ASCII.
    pub session: Box<str>,
    /// The event after which to go on, in the stream that it belongs to.
    pub last_event_id: Option<Box<str>>,
}

/// What the head of a POST says that matters once its body is there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Head {
    pub(super) version: Version,
    pub(super) session: Presented,
}

/// What `MCP-Protocol-Version` says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Version {
    Absent,
    /// Repeated, empty, too long, or of characters that are none of a version's.
    Malformed,
    Known(Revision),
    Unknown(Box<str>),
}

impl Version {
    fn of(fields: &dyn Fields) -> Self {
        match fields.one("mcp-protocol-version") {
            Ok(None) => Self::Absent,
            Ok(Some(value)) => match visible(value, VERSION_BYTES_MAX) {
                None => Self::Malformed,
                Some(name) => Revision::from_name(name)
                    .map_or_else(|| Self::Unknown(name.into()), Self::Known),
            },
            Err(_) => Self::Malformed,
        }
    }

    pub(super) const fn revision(&self) -> Option<Revision> {
        if let Self::Known(revision) = self { Some(*revision) } else { None }
    }
}

/// What `Mcp-Session-Id` says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Presented {
    Absent,
    Repeated,
    /// Something that is no id of ours, whatever sessions there are.
    Foreign,
    Id(Box<str>),
}

impl Presented {
    fn of(policy: &Policy, fields: &dyn Fields) -> Self {
        match fields.one("mcp-session-id") {
            Ok(None) => Self::Absent,
            Ok(Some(value)) if value.iter().all(|byte| matches!(byte, b' ' | b'\t')) => {
                Self::Absent
            }
            Ok(Some(value)) => visible(value, policy.session_id_bytes_max())
                .map_or(Self::Foreign, |id| Self::Id(id.into())),
            Err(_) => Self::Repeated,
        }
    }

    /// The id, where one is required. (HTTP-32, HTTP-33)
    pub(super) fn required(&self) -> Result<Box<str>, Refusal> {
        match self {
            Self::Id(id) => Ok(id.clone()),
            Self::Absent => Err(Refusal::new(400, "`Mcp-Session-Id` is missing")),
            Self::Repeated => Err(Refusal::new(400, "`Mcp-Session-Id` is repeated")),
            // Whoever holds an id that we never gave must be told to begin anew, as with one that
            // we forgot: it may be of the server that stood here before.
            Self::Foreign => Err(Refusal::unknown_session(None)),
        }
    }
}

/// Whether a request may come in, by its verb and its fields, before anything of its body is read.
///
/// In this order: where it is addressed to and comes from ([`screen`]), its verb, its size and
/// coding, its media type, and what it accepts in return. What depends on the body, such as which
/// era a POST is of, is left to [`Head::read`]. Over HTTP/2 and later the driver passes
/// `:authority` as `host`. (requirements §3.2)
///
/// ```
/// use mcp_proto::http::{Admitted, Policy, admit};
///
/// let mut fields = vec![
///     ("Host", "localhost:8080"),
///     ("Content-Type", "application/json"),
///     ("Accept", "application/json, text/event-stream"),
/// ];
/// assert!(matches!(admit(&Policy::default(), "POST", &fields), Ok(Admitted::Post(_))));
///
/// fields.push(("Origin", "https://evil.example"));
/// assert_eq!(admit(&Policy::default(), "POST", &fields).unwrap_err().status, 403);
/// ```
///
/// # Errors
/// How to refuse it.
pub fn admit(policy: &Policy, verb: &str, fields: &dyn Fields) -> Result<Admitted, Refusal> {
    screen(policy, fields)?;
    let sessions = policy.offers_sessions();
    match verb {
        "POST" => post(policy, fields).map(Admitted::Post),
        "GET" if sessions => get(policy, fields).map(Admitted::Get),
        "DELETE" if sessions => {
            legacy(policy, fields)?;
            Presented::of(policy, fields).required().map(Admitted::Delete)
        }
        "GET" | "DELETE" => Err(not_allowed(policy, "this server has no sessions")),
        _ => Err(not_allowed(policy, "the verb is not one of Streamable HTTP")),
    }
}

/// Whether a request is addressed to this server and comes from a page that may use it; the first
/// thing that [`admit`] asks. A server that asks who the client is does so after this and before
/// anything else. (HTTP-55, T-90)
///
/// # Errors
/// How to refuse it.
pub fn screen(policy: &Policy, fields: &dyn Fields) -> Result<(), Refusal> {
    let Ok(Some(host)) = fields.one("host") else {
        return Err(Refusal::new(400, "there is not one `Host`"));
    };
    let Some(host) = Authority::parse(host) else {
        return Err(Refusal::new(400, "`Host` is malformed"));
    };
    if !policy.takes_host(&host) {
        return Err(Refusal::new(403, "the host is not one of this server's"));
    }
    match fields.one("origin") {
        Ok(None) => Ok(()),
        Ok(Some(origin)) if policy.takes_origin(origin) => Ok(()),
        _ => Err(Refusal::new(403, "the origin is not allowed")),
    }
}

fn post(policy: &Policy, fields: &dyn Fields) -> Result<Head, Refusal> {
    check_length(policy, fields)?;
    // Whoever can decode a body does so before, and takes the field away.
    let coded = all(fields, "content-encoding").any(|coding| {
        !text(coding)
            .is_some_and(|coding| coding.is_empty() || coding.eq_ignore_ascii_case("identity"))
    });
    if coded {
        return Err(Refusal::new(415, "the body must not be encoded"));
    }
    match fields.one("content-type") {
        Ok(Some(value)) if is_media_type(value, JSON) => {}
        Ok(_) => return Err(Refusal::new(415, "the body must be `application/json`")),
        Err(_) => return Err(Refusal::new(400, "`Content-Type` is repeated")),
    }
    // Which of the two an answer is depends on what it will be. (HTTP-04, HTTP-10)
    if ![JSON, EVENT_STREAM].iter().all(|kind| accepts(all(fields, "accept"), kind)) {
        let why = "the client must accept both `application/json` and `text/event-stream`";
        return Err(Refusal::new(406, why));
    }
    Ok(Head { version: Version::of(fields), session: Presented::of(policy, fields) })
}

fn check_length(policy: &Policy, fields: &dyn Fields) -> Result<(), Refusal> {
    let malformed = || Refusal::new(400, "`Content-Length` is malformed");
    let Some(length) = fields.one("content-length").map_err(|_| malformed())? else {
        return Ok(());
    };
    let digits = text(length).filter(|digits| !digits.is_empty()).ok_or_else(malformed)?;
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(malformed());
    }
    // More digits than a number can have are too many bytes all the same.
    match digits.parse::<u64>() {
        Ok(length)
            if usize::try_from(length).is_ok_and(|length| length <= policy.body_bytes_max()) =>
        {
            Ok(())
        }
        _ => Err(too_long()),
    }
}

pub(super) fn too_long() -> Refusal {
    Refusal::new(413, "the body is longer than this server takes")
}

fn get(policy: &Policy, fields: &dyn Fields) -> Result<Get, Refusal> {
    legacy(policy, fields)?;
    if !accepts(all(fields, "accept"), EVENT_STREAM) {
        return Err(Refusal::new(406, "the client must accept `text/event-stream`"));
    }
    let session = Presented::of(policy, fields).required()?;
    let malformed = || Refusal::new(400, "`Last-Event-ID` is malformed");
    let last_event_id = match fields.one("last-event-id").map_err(|_| malformed())? {
        None => None,
        Some(id) => {
            // Blanks around a value are none of it; what is beyond ASCII travels as UTF-8.
            let id = from_utf8(id).map_err(|_| malformed())?.trim_matches([' ', '\t']);
            Some(id)
                .filter(|id| is_event_id(id, policy.event_id_bytes_max()))
                .ok_or_else(malformed)?
                .into()
        }
    };
    Ok(Get { session, last_event_id: last_event_id.map(Into::into) })
}

/// GET and DELETE are of sessions: clients of revisions without any are told so, and others must
/// name one that is spoken, if any. (HTTP-37, HTTP-38, HTTP-52)
fn legacy(policy: &Policy, fields: &dyn Fields) -> Result<(), Refusal> {
    match Version::of(fields) {
        Version::Absent => Ok(()),
        Version::Known(revision) if revision.era() == Era::Modern => {
            Err(not_allowed(policy, "the revision has no sessions"))
        }
        version => spoken(policy, &version).map(|_| ()),
    }
}

/// The revision that a legacy request names, if any. (HTTP-38)
pub(super) fn spoken(policy: &Policy, version: &Version) -> Result<Option<Revision>, Refusal> {
    match version {
        Version::Absent => Ok(None),
        Version::Known(revision) if policy.speaks(*revision) => Ok(Some(*revision)),
        Version::Known(_) | Version::Unknown(_) => Err(Refusal::new(
            400,
            "this server does not speak the version of `MCP-Protocol-Version`",
        )),
        Version::Malformed => Err(Refusal::new(400, "`MCP-Protocol-Version` is malformed")),
    }
}

fn not_allowed(policy: &Policy, why: &'static str) -> Refusal {
    let verbs = if policy.offers_sessions() { "POST, GET, DELETE" } else { "POST" };
    Refusal::new(405, why).field("allow", verbs)
}

#[cfg(test)]
mod tests;
