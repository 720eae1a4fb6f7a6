//! `_meta`: what travels along with messages and things, and the keys that the protocol reserves in
//! it.

use alloc::string::String;
use alloc::vec::Vec;

use super::decode::{Decode, DecodeError, Encode};
use super::macros::object;
use super::members::Members;
use crate::error::Unencodable;
use crate::json::{Raw, Reader};
use crate::revision::Revision;
use crate::rpc::RequestId;

/// The `_meta` of a message or of a thing: any members, of which the protocol reserves some.
///
/// Unknown keys are kept and passed on, never refused. What a reserved key holds can be read typed;
/// one that holds something else counts as absent there and is still in [`members`](Self::members).
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::Meta;
///
/// let mut meta = Meta::new();
/// meta.members.set("com.example/ticket", Raw::new(&42).unwrap());
/// assert!(Meta::is_key("com.example/ticket") && !Meta::is_key("com..example/x"));
/// assert!(meta.progress_token().is_none());
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Meta {
    /// All members.
    pub members: Members,
}

/// The keys that the protocol reserves. (requirements §2.5)
pub mod key {
    /// Request: the token to tell progress by.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// Any message of a task: which task. (2025-11-25)
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// A task's creation: what to tell the model meanwhile. (2025-11-25)
    pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
    /// Request: the revision it is made in. (since 2026-07-28)
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Request: what the client can do. (since 2026-07-28)
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Request: who the client is. (since 2026-07-28)
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Request: the least grave log message that is wanted. (since 2026-07-28)
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Result: who the server is. (since 2026-07-28)
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// Messages of a subscription: the id of the request that opened it. (since 2026-07-28)
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// Anything: the trace it belongs to, in W3C's form.
    pub const TRACEPARENT: &str = "traceparent";
    /// Anything: what vendors add to the trace.
    pub const TRACESTATE: &str = "tracestate";
    /// Anything: what travels with the trace.
    pub const BAGGAGE: &str = "baggage";
}

object! {
    /// Which task a message belongs to. (2025-11-25)
    pub struct RelatedTask {
        /// The task's id.
        required task_id: String = "taskId",
    }
}

impl Meta {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: Members::new() }
    }

    /// What `key` holds, read as `T`; `None` when it is absent or no `T`.
    #[must_use]
    pub fn read<T: Decode>(&self, key: &str) -> Option<T> {
        self.members.find(key).and_then(|value| T::decode(value).ok())
    }

    /// Sets `key` to `value`, written for a peer of `revision`.
    ///
    /// # Errors
    /// When the value cannot be written.
    pub fn set<T: Encode>(
        &mut self,
        key: &str,
        value: &T,
        revision: Revision,
    ) -> Result<(), Unencodable> {
        let mut out = Vec::new();
        value.encode(revision, &mut out)?;
        self.members.set(key, Raw::from_written(out));
        Ok(())
    }

    /// The token to tell progress by.
    #[must_use]
    pub fn progress_token(&self) -> Option<RequestId> {
        self.read(key::PROGRESS_TOKEN)
    }

    /// The task that the message belongs to. (2025-11-25)
    #[must_use]
    pub fn related_task(&self) -> Option<RelatedTask> {
        self.read(key::RELATED_TASK)
    }

    /// The name of the revision that the request is made in. (since 2026-07-28)
    #[must_use]
    pub fn protocol_version(&self) -> Option<String> {
        self.read(key::PROTOCOL_VERSION)
    }

    /// The subscription that the message belongs to. (since 2026-07-28, ID-12)
    #[must_use]
    pub fn subscription_id(&self) -> Option<RequestId> {
        self.read(key::SUBSCRIPTION_ID)
    }

    /// Whether `key` is one that `_meta` may have: `name`, or `prefix/name` with a prefix of labels
    /// between dots. (requirements §2.5)
    #[must_use]
    pub fn is_key(key: &str) -> bool {
        let (prefix, name) =
            key.split_once('/').map_or((None, key), |(prefix, name)| (Some(prefix), name));
        let is_name = name.is_empty()
            || (starts_and_ends(
                name,
                |c| c.is_ascii_alphanumeric(),
                |c| c.is_ascii_alphanumeric(),
            ) && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
        is_name && prefix.is_none_or(|prefix| prefix.split('.').all(is_label))
    }

    /// Whether the protocol reserves the prefix of `key`, by the rule of any revision. (D-30)
    #[must_use]
    pub fn is_reserved(key: &str) -> bool {
        let Some((prefix, _)) = key.split_once('/') else { return false };
        let is_ours = |label: &&str| matches!(*label, "modelcontextprotocol" | "mcp");
        let labels: Vec<&str> = prefix.split('.').collect();
        // The later rule: the second label. The earlier one: the last but one.
        labels.get(1).is_some_and(is_ours) || labels.iter().rev().nth(1).is_some_and(is_ours)
    }
}

fn is_label(label: &str) -> bool {
    starts_and_ends(label, |c| c.is_ascii_alphabetic(), |c| c.is_ascii_alphanumeric())
        && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

fn starts_and_ends(text: &str, start: fn(char) -> bool, end: fn(char) -> bool) -> bool {
    text.chars().next().is_some_and(start) && text.chars().next_back().is_some_and(end)
}

impl Encode for Meta {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.members.encode(revision, out)
    }
}

impl Decode for Meta {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Members::read(reader).map(|members| Self { members })
    }
}

impl Encode for RequestId {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.write(out);
        Ok(())
    }
}

impl Decode for RequestId {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let before = reader.clone();
        let value = reader.raw();
        Self::from_json(value.as_bytes())
            .ok_or_else(|| DecodeError::expected("an integer or a string", &before))
    }
}
