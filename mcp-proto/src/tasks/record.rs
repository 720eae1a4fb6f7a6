//! [`TaskRecord`]: the durable part of a task, and its stored form.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::account::AccountId;
use super::id::TaskId;
use super::protocol::TaskProtocol;
use super::status::State;
use crate::json::{
    Array, Frame, Object, Raw, elements, key_is, members, unescape, write_str, write_u64,
};
use crate::rpc::ErrorObject;
use crate::schema::TaskStatus;
use crate::vocabulary::Principal;

/// The version of the format. Records of other versions are not read.
const VERSION: u64 = 1;

/// What happens to a running task when it is restored after a restart of the server.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::tasks::OnRestart;
///
/// assert_eq!(OnRestart::default(), OnRestart::Fail);
/// let request = Raw::from_text(r#"{"name":"index","arguments":{"path":"/srv"}}"#).unwrap();
/// let again = OnRestart::Run(request);
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum OnRestart {
    /// The task fails: its handler must not run twice.
    #[default]
    Fail,
    /// The task is handed to its handler again, with this checkpoint: whatever the driver needs to
    /// run the handler, such as the request and the progress so far.
    Run(Raw),
}

/// The outcome of a task.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    /// The task runs, or was cancelled.
    None,
    Result(Raw),
    Error(Box<ErrorObject>),
}

impl Outcome {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Result(result) => result.as_bytes().len(),
            Self::Error(error) => {
                error.message.len() + error.data.as_ref().map_or(0, |data| data.as_bytes().len())
            }
        }
    }
}

/// Everything about a task that survives a restart, as a value to keep in a durable store.
///
/// Serializes as a JSON object with a version. The record contains the id of the task, its owner
/// and its result: protect the store as you protect these.
///
/// ```
/// use mcp_proto::tasks::*;
///
/// let mut table = TaskTable::new(TaskLimits::default());
/// let requestor = Requestor { principal: None, protocol: TaskProtocol::Extension };
/// let id = TaskId::from_random([7; 16]);
/// table.create(TaskTime::default(), requestor, id, NewTask::default()).unwrap();
///
/// let record = table.record(id).unwrap();
/// let stored = serde_json::to_string(&record).unwrap();
/// assert_eq!(serde_json::from_str::<TaskRecord>(&stored).unwrap(), record);
/// ```
#[derive(Clone, Eq, PartialEq)]
pub struct TaskRecord {
    pub(super) id: TaskId,
    /// The position in lists, which never changes.
    pub(super) number: u64,
    pub(super) owner: Option<Principal>,
    /// Of a requestor that is not authenticated; see [`NewTask::source`](super::NewTask::source).
    pub(super) source: Option<u64>,
    pub(super) protocol: TaskProtocol,
    pub(super) state: State,
    pub(super) message: Option<Box<str>>,
    pub(super) created_ms: u64,
    pub(super) updated_ms: u64,
    pub(super) ttl_ms: u64,
    pub(super) poll_ms: u64,
    /// The number of input requests so far, from which keys are made.
    pub(super) inputs: u64,
    pub(super) outcome: Outcome,
    pub(super) restart: OnRestart,
    // AUT-24
    /// The scopes that a request for the outcome needs.
    pub(super) scopes: Vec<String>,
}

impl TaskRecord {
    /// Returns whose limits count the task.
    pub(super) fn account(&self) -> AccountId {
        self.source.map_or_else(|| AccountId::Owner(self.owner.clone()), AccountId::Source)
    }

    /// Returns the id of the task, the key to store the record under.
    #[must_use]
    pub const fn id(&self) -> TaskId {
        self.id
    }

    /// Returns the principal of the requestor.
    #[must_use]
    pub const fn owner(&self) -> Option<&Principal> {
        self.owner.as_ref()
    }

    /// Returns when the task expires, in milliseconds since 1970-01-01T00:00:00Z.
    ///
    /// A store may then drop the record.
    #[must_use]
    pub const fn expires_unix_ms(&self) -> u64 {
        self.created_ms.saturating_add(self.ttl_ms)
    }

    /// Writes the record as JSON.
    #[must_use]
    pub fn to_json(&self) -> Raw {
        let mut out = Vec::with_capacity(256 + self.outcome.bytes());
        let mut object = Object::begin(&mut out);
        write_u64(object.key("version"), VERSION);
        object.str("id", &self.id.to_text());
        object.str("protocol", self.protocol.rules().name);
        object.opt_str("owner", self.owner.as_ref().map(Principal::id));
        object.str("status", self.state.status().name());
        object.opt_str("message", self.message.as_deref());
        let numbers = [
            ("number", self.number),
            ("created_ms", self.created_ms),
            ("updated_ms", self.updated_ms),
            ("ttl_ms", self.ttl_ms),
            ("poll_ms", self.poll_ms),
            ("inputs", self.inputs),
        ];
        let numbers = numbers.into_iter().chain(self.source.map(|source| ("source", source)));
        for (name, value) in numbers {
            write_u64(object.key(name), value);
        }
        match &self.outcome {
            Outcome::None => {}
            Outcome::Result(result) => object.raw("result", result.as_bytes()),
            Outcome::Error(error) => error.write(object.key("error")),
        }
        if let OnRestart::Run(checkpoint) = &self.restart {
            object.raw("checkpoint", checkpoint.as_bytes());
        }
        if !self.scopes.is_empty() {
            let mut scopes = Array::begin(object.key("scopes"));
            self.scopes.iter().for_each(|scope| write_str(scopes.next(), scope));
            scopes.end();
        }
        object.end();
        Raw::from_written(out)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// Returns [`InvalidTaskRecord`] for anything but a complete record of this version.
    pub fn parse(record: &Raw) -> Result<Self, InvalidTaskRecord> {
        let object = record.as_bytes();
        let member = |name| members(object).find(|(key, _)| key_is(key, name)).map(|(_, it)| it);
        let text = |name| member(name).map(|value| unescape(value).ok_or(Invalid(name)));
        let text = |name| text(name).transpose();
        let needed = |name| text(name)?.ok_or(Invalid(name));
        let integer = |name| {
            let digits = member(name).and_then(|value| core::str::from_utf8(value).ok());
            digits.and_then(|digits| digits.parse::<u64>().ok()).ok_or(Invalid(name))
        };
        let raw = |name| member(name).map(|value| Frame::Borrowed(value).keep(value, false));

        if integer("version")? != VERSION {
            return Err(Invalid("version"));
        }
        let state = State::of(&TaskStatus::from(&*needed("status")?)).ok_or(Invalid("status"))?;
        let outcome = match (raw("result"), raw("error")) {
            (None, None) => Outcome::None,
            (Some(result), None) if result.is_object() => Outcome::Result(result),
            (None, Some(error)) => Outcome::Error(Box::new(read_error(&error)?)),
            (Some(_), _) => return Err(Invalid("result")),
        };
        let fits = match state {
            State::Working | State::InputRequired | State::Cancelled => outcome == Outcome::None,
            State::Completed => matches!(outcome, Outcome::Result(_)),
            State::Failed => outcome != Outcome::None,
        };
        if !fits {
            return Err(Invalid("result"));
        }
        let owner = text("owner")?;
        let scopes = member("scopes").map_or(Some(Vec::new()), |scopes| {
            let scope = |scope| unescape(scope).map(Into::into);
            scopes.starts_with(b"[").then(|| elements(scopes).map(scope).collect())?
        });
        Ok(Self {
            id: TaskId::parse(&needed("id")?).ok_or(Invalid("id"))?,
            number: integer("number")?,
            owner: owner.map(|id| Principal::new(id).ok_or(Invalid("owner"))).transpose()?,
            source: member("source").map(|_| integer("source")).transpose()?,
            protocol: TaskProtocol::by_name(&needed("protocol")?).ok_or(Invalid("protocol"))?,
            state,
            message: text("message")?.map(Box::from),
            created_ms: integer("created_ms")?,
            updated_ms: integer("updated_ms")?,
            ttl_ms: integer("ttl_ms")?,
            poll_ms: integer("poll_ms")?,
            inputs: integer("inputs")?,
            outcome,
            restart: raw("checkpoint").map_or(OnRestart::Fail, OnRestart::Run),
            scopes: scopes.ok_or(Invalid("scopes"))?,
        })
    }
}

fn read_error(error: &Raw) -> Result<ErrorObject, InvalidTaskRecord> {
    let code = error.member("code").and_then(|code| code.parse().ok()).ok_or(Invalid("error"))?;
    let message = error.member("message");
    let message = message.as_ref().and_then(Raw::to_text).ok_or(Invalid("error"))?;
    let mut read = ErrorObject::new(code, message);
    read.data = error.member("data");
    Ok(read)
}

/// Shows neither the result nor the owner.
impl fmt::Debug for TaskRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskRecord")
            .field("id", &self.id)
            .field("protocol", &self.protocol)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Serialize for TaskRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TaskRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = Raw::deserialize(deserializer)?;
        Self::parse(&record).map_err(de::Error::custom)
    }
}

/// A member of a stored task that is missing or invalid: its name.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::tasks::TaskRecord;
///
/// let invalid = TaskRecord::parse(&Raw::empty_object()).unwrap_err();
/// assert_eq!(invalid.to_string(), "`version` of the stored task is missing or invalid");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InvalidTaskRecord(&'static str);

use InvalidTaskRecord as Invalid;

impl fmt::Display for InvalidTaskRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of the stored task is missing or invalid", self.0)
    }
}

impl core::error::Error for InvalidTaskRecord {}
