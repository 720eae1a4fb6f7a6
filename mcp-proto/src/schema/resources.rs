//! Resources: listing them and their templates, reading one, and hearing of changes.

use alloc::string::String;
use alloc::vec::Vec;

use super::common::{Annotations, CacheScope, Icon, ResultType};
use super::containers::List;
use super::decode::{Decode, DecodeError, Encode};
use super::lifecycle::Empty;
use super::macros::{message, object};
use super::members::Members;
use super::meta::Meta;
use crate::error::Unencodable;
use crate::json::{Reader, Str};
use crate::revision::{R3, R4, R5, Revision};

object! {
    /// A resource, as it is listed.
    pub struct Resource {
        /// What to read it by.
        required uri: String = "uri",
        /// A name for machines.
        required name: String = "name",
        /// A name for people.
        optional title: String = "title" in R3..=R5,
        /// What it is, for a model to read.
        optional description: String = "description",
        /// What its bytes are.
        optional mime_type: String = "mimeType",
        /// How many bytes it has.
        optional size: u64 = "size",
        /// Pictures of it.
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// How to use it.
        optional annotations: Annotations = "annotations",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// A pattern of resources, as it is listed.
    pub struct ResourceTemplate {
        /// The pattern of their URIs. (RFC 6570)
        required uri_template: String = "uriTemplate",
        /// A name for machines.
        required name: String = "name",
        /// A name for people.
        optional title: String = "title" in R3..=R5,
        /// What they are, for a model to read.
        optional description: String = "description",
        /// What their bytes are, if it is the same for all.
        optional mime_type: String = "mimeType",
        /// Pictures of them.
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// How to use them.
        optional annotations: Annotations = "annotations",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// What a resource holds, as words.
    pub struct TextResource {
        /// Which resource.
        required uri: String = "uri",
        /// What the words are.
        optional mime_type: String = "mimeType",
        /// The words.
        required text: Str = "text",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// What a resource holds, as bytes.
    pub struct BlobResource {
        /// Which resource.
        required uri: String = "uri",
        /// What the bytes are.
        optional mime_type: String = "mimeType",
        /// The bytes, in base64.
        required blob: Str = "blob",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Bytes.
    Blob(BlobResource),
    /// Words.
    Text(TextResource),
}

impl ResourceContents {
    /// Words.
    pub fn text(uri: impl Into<String>, text: impl Into<Str>) -> Self {
        let (uri, text) = (uri.into(), text.into());
        Self::Text(TextResource { uri, mime_type: None, text, meta: None, extra: Members::new() })
    }

    /// Bytes, in base64.
    pub fn blob(uri: impl Into<String>, blob: impl Into<Str>) -> Self {
        let (uri, blob) = (uri.into(), blob.into());
        Self::Blob(BlobResource { uri, mime_type: None, blob, meta: None, extra: Members::new() })
    }

    /// The same, of this media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        match &mut self {
            Self::Blob(blob) => blob.mime_type = Some(mime_type.into()),
            Self::Text(text) => text.mime_type = Some(mime_type.into()),
        }
        self
    }

    /// Which resource it is.
    #[must_use]
    pub fn uri(&self) -> &str {
        match self {
            Self::Blob(blob) => &blob.uri,
            Self::Text(text) => &text.uri,
        }
    }
}

impl Encode for ResourceContents {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Blob(blob) => blob.encode(revision, out),
            Self::Text(text) => text.encode(revision, out),
        }
    }
}

/// By what it has: `text`, or else `blob`.
impl Decode for ResourceContents {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if reader.peek_member("text").is_none() && reader.peek_member("blob").is_some() {
            return BlobResource::read(reader).map(Self::Blob);
        }
        TextResource::read(reader).map(Self::Text)
    }
}

object! {
    /// Asks for a page of the resources.
    pub struct ListResources {
        /// Where to go on: what the page before said, to the letter. (PAG-01)
        optional cursor: String = "cursor",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A page of the resources.
    pub struct ListResourcesResult {
        /// The resources of this page.
        required resources: List<Resource> = "resources",
        /// Where the next page begins; `None` on the last one, while an empty string goes on. (PAG-04)
        strict next_cursor: String = "nextCursor",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// For how many milliseconds the result is good. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Who may share it. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/list": ListResources => ListResourcesResult);

object! {
    /// Asks for a page of the templates.
    pub struct ListResourceTemplates {
        /// Where to go on: what the page before said, to the letter. (PAG-01)
        optional cursor: String = "cursor",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A page of the templates.
    pub struct ListResourceTemplatesResult {
        /// The templates of this page.
        required resource_templates: List<ResourceTemplate> = "resourceTemplates",
        /// Where the next page begins; `None` on the last one, while an empty string goes on. (PAG-04)
        strict next_cursor: String = "nextCursor",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// For how many milliseconds the result is good. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Who may share it. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/templates/list": ListResourceTemplates => ListResourceTemplatesResult);

object! {
    /// Reads a resource.
    pub struct ReadResource {
        /// Which one.
        required uri: String = "uri",
        /// What the client answered to the server's questions. (since 2026-07-28)
        optional input_responses: Members = "inputResponses" in R5..=R5,
        /// The state that came with the questions, to the letter. (since 2026-07-28)
        optional request_state: String = "requestState" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// What a resource holds: several parts if it is a folder of them.
    pub struct ReadResourceResult {
        /// The parts.
        required contents: List<ResourceContents> = "contents",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// For how many milliseconds the result is good. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Who may share it. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/read": ReadResource => ReadResourceResult);

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        Self::new([contents])
    }
}

impl From<Vec<ResourceContents>> for ReadResourceResult {
    fn from(contents: Vec<ResourceContents>) -> Self {
        Self::new(contents)
    }
}

object! {
    /// Asks to hear of a resource's changes. (up to 2025-11-25)
    pub struct Subscribe {
        /// Which one.
        required uri: String = "uri",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/subscribe": Subscribe => Empty);

object! {
    /// Asks to hear no more of a resource's changes. (up to 2025-11-25)
    pub struct Unsubscribe {
        /// Which one.
        required uri: String = "uri",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/unsubscribe": Unsubscribe => Empty);

object! {
    /// Says that a resource changed. It may be a part of the one that was subscribed to. (T-122)
    pub struct ResourceUpdated {
        /// Which one.
        required uri: String = "uri",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/resources/updated": ResourceUpdated);

object! {
    /// Says that the list of resources changed.
    pub struct ResourcesListChanged {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/resources/list_changed": ResourcesListChanged);
