//! `_meta`: protocol metadata of messages and objects, and its reserved keys.

use alloc::string::String;
use alloc::vec::Vec;

use super::containers::AnyObject;
use super::decode::{Decode, DecodeError, Encode};
use super::macros::object;
use super::members::ExtraMembers;
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Raw};
use crate::revision::Revision;
use crate::rpc::RequestId;

/// Protocol metadata: the `_meta` member of a message or other object.
///
/// Unknown keys are preserved. Reserved keys have typed accessors. An accessor treats a malformed
/// value as absent, but [`member`](Self::member) still returns that value.
///
/// See <https://modelcontextprotocol.io/specification/2026-07-28/basic>.
///
/// ```
/// use mcp_proto::Raw;
/// use mcp_proto::schema::Meta;
///
/// let mut meta = Meta::new();
/// meta.set_member("com.example/ticket", Raw::new(&42).unwrap());
/// assert!(Meta::is_key("com.example/ticket") && !Meta::is_key("com..example/x"));
/// assert!(meta.progress_token().is_none());
/// ```
// Decoded on demand, as few receivers read it; equal if the members are, however they are written.
#[derive(Clone, Debug, Eq)]
pub struct Meta(AnyObject);

/// The reserved keys of `_meta`.
// Requirements §2.5.
pub mod key {
    /// In a request: the progress token.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// In a message about a task: the [`RelatedTask`](super::RelatedTask). (2025-11-25 only)
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// In a result that creates a task: an interim response for the model. (2025-11-25 only)
    pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
    /// In a request: its protocol revision. (since 2026-07-28)
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// In a request: the client's capabilities. (since 2026-07-28)
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// In a request: the client's name and version. (since 2026-07-28)
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// In a request: the minimum level of log messages about the request. (since 2026-07-28)
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// In a result: the server's name and version. (since 2026-07-28)
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// In a message for a subscription: the id of the request that opened the subscription. (since
    /// 2026-07-28)
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// In any message: the `traceparent` value of W3C Trace Context.
    pub const TRACEPARENT: &str = "traceparent";
    /// In any message: the `tracestate` value of W3C Trace Context.
    pub const TRACESTATE: &str = "tracestate";
    /// In any message: the `baggage` value of W3C Baggage.
    pub const BAGGAGE: &str = "baggage";
}

object! {
    /// The task that a message belongs to. (2025-11-25 only)
    pub struct RelatedTask {
        /// The task's id.
        required task_id: String = "taskId",
    }
}

impl Meta {
    /// Creates an empty `_meta`.
    #[must_use]
    pub const fn new() -> Self {
        Self(AnyObject(Raw::empty_object()))
    }

    /// Decodes all members, in order.
    #[must_use]
    pub fn members(&self) -> ExtraMembers {
        ExtraMembers::decode(&self.0).unwrap_or_default()
    }

    /// Returns the value of the last member `key`, if any. Each call scans the object.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Raw> {
        self.0.member(key)
    }

    /// Sets the member `key` to `value` and moves the member to the end.
    pub fn set_member(&mut self, key: &str, value: impl Into<Raw>) {
        let mut members = self.members();
        members.set(key, value);
        self.0 = members.into();
    }

    /// Decodes the value of `key`. Returns `None` if the key is absent or its value is not a `T`.
    #[must_use]
    pub fn read<T: Decode>(&self, key: &str) -> Option<T> {
        self.member(key).and_then(|value| T::decode(&value).ok())
    }

    /// Sets `key` to `value`, encoded for a peer that uses `revision`.
    ///
    /// # Errors
    /// Fails with [`Unencodable`] if `revision` cannot represent the value.
    pub fn set<T: Encode>(
        &mut self,
        key: &str,
        value: &T,
        revision: Revision,
    ) -> Result<(), Unencodable> {
        value.to_raw(revision).map(|value| self.set_member(key, value))
    }

    /// Returns the progress token, if the request has one.
    #[must_use]
    pub fn progress_token(&self) -> Option<RequestId> {
        self.read(key::PROGRESS_TOKEN)
    }

    /// Returns the task that the message belongs to, if any. (2025-11-25 only)
    #[must_use]
    pub fn related_task(&self) -> Option<RelatedTask> {
        self.read(key::RELATED_TASK)
    }

    /// Returns the name of the request's protocol revision, if present. (since 2026-07-28)
    #[must_use]
    pub fn protocol_version(&self) -> Option<String> {
        self.read(key::PROTOCOL_VERSION)
    }

    /// Returns the id of the subscription that the message belongs to, if any. (since 2026-07-28)
    // ID-12: a subscription is identified by the id of its request.
    #[must_use]
    pub fn subscription_id(&self) -> Option<RequestId> {
        self.read(key::SUBSCRIPTION_ID)
    }

    /// Returns whether `key` is a valid `_meta` key.
    ///
    /// A valid key is `name` or `prefix/name`, in ASCII:
    ///
    /// - The prefix consists of labels separated by dots. A label contains letters, digits and
    ///   hyphens. Each label starts with a letter and ends with a letter or digit.
    /// - The name contains letters, digits, hyphens, underscores and dots. The name starts and ends
    ///   with a letter or digit, unless it is empty.
    // Requirements §2.5.
    #[must_use]
    pub fn is_key(key: &str) -> bool {
        let (prefix, name) = key.split_once('/').map_or((None, key), |(a, b)| (Some(a), b));
        let is_name = name.is_empty() || is_word(name, char::is_ascii_alphanumeric, "-_.");
        let is_label = |label| is_word(label, char::is_ascii_alphabetic, "-");
        is_name && prefix.is_none_or(|prefix| prefix.split('.').all(is_label))
    }

    /// Returns whether any revision reserves the prefix of `key` for the protocol.
    ///
    /// Returns `false` for every key without a prefix, even for `progressToken`.
    // D-30: revisions differ in which label they compare.
    #[must_use]
    pub fn is_reserved(key: &str) -> bool {
        let Some((prefix, _)) = key.split_once('/') else { return false };
        let is_ours = |label| matches!(label, "modelcontextprotocol" | "mcp");
        // Newer revisions compare the second label, older ones the second to last.
        [prefix.split('.').nth(1), prefix.rsplit('.').nth(1)].into_iter().flatten().any(is_ours)
    }
}

/// Checks a label or name, of ASCII letters, digits and `others`, which are neither first nor last.
fn is_word(text: &str, first: fn(&char) -> bool, others: &str) -> bool {
    text.chars().next().as_ref().is_some_and(first)
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

impl Default for Meta {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Meta {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.members() == other.members()
    }
}

serde_impls!(Meta, RequestId);

impl Encode for Meta {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.members().encode(revision, out)
    }
}

impl Decode for Meta {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        AnyObject::read(reader).map(Self)
    }
}

impl Encode for RequestId {
    fn encode(&self, _: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        self.write(out);
        Ok(())
    }
}

impl Decode for RequestId {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        let before = reader.clone();
        Self::from_json(reader.raw().as_bytes())
            .ok_or_else(|| DecodeError::expected("an integer or a string", &before))
    }
}
