//! Resources: listing, reading and subscriptions.

use alloc::string::String;
use alloc::vec::Vec;

use super::base64::{self, is_base64};
use super::common::{Annotations, CacheScope, Icon, ResultType};
use super::containers::List;
use super::decode::{Decode, DecodeError, Encode};
use super::lifecycle::EmptyResult;
use super::macros::{message, object};
use super::members::ExtraMembers;
use super::meta::Meta;
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Str};
use crate::revision::{R3, R4, R5, Revision};

object! {
    /// A resource, as described in the result of `resources/list`.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/resources>.
    pub struct Resource {
        /// URI that identifies the resource.
        required uri: String = "uri",
        /// Name for use by programs; `title` is for display.
        required name: String = "name",
        /// Display name. (since 2025-06-18)
        optional title: String = "title" in R3..=R5,
        /// Description, for the model.
        optional description: String = "description",
        /// Media type.
        optional mime_type: String = "mimeType",
        /// Size of the contents in bytes, before base64 encoding.
        optional size: u64 = "size",
        /// Icons for user interfaces. (since 2025-11-25)
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// Hints on how to use or display the resource.
        optional annotations: Annotations = "annotations",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// A resource template, as described in the result of `resources/templates/list`.
    pub struct ResourceTemplate {
        /// URI template (RFC 6570) that identifies a family of resources.
        required uri_template: String = "uriTemplate",
        /// Name for use by programs; `title` is for display.
        required name: String = "name",
        /// Display name. (since 2025-06-18)
        optional title: String = "title" in R3..=R5,
        /// Description, for the model.
        optional description: String = "description",
        /// Media type, if all resources that match the template share it.
        optional mime_type: String = "mimeType",
        /// Icons for user interfaces. (since 2025-11-25)
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// Hints on how to use or display the resources that match the template.
        optional annotations: Annotations = "annotations",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// The contents of a text resource.
    pub struct TextResource {
        /// The resource's URI.
        required uri: String = "uri",
        /// Media type.
        optional mime_type: String = "mimeType",
        /// The text.
        required text: Str = "text",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// The contents of a binary resource.
    pub struct BlobResource checked BlobResource::check {
        /// The resource's URI.
        required uri: String = "uri",
        /// Media type.
        optional mime_type: String = "mimeType",
        /// The contents in base64 (RFC 4648, section 4).
        ///
        /// Encoding the resource fails if this text is not valid base64.
        required blob: Str = "blob",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

impl BlobResource {
    /// Returns the decoded contents, or `None` if `blob` is not valid base64.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        base64::decode(&self.blob)
    }

    // SEC-21: binary data is base64.
    fn check(&self, _: Revision) -> Result<(), Unencodable> {
        if is_base64(&self.blob) { Ok(()) } else { Err(Unencodable) }
    }
}

/// The contents of a resource, text or binary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResourceContents {
    /// Binary contents, base64-encoded.
    Blob(BlobResource),
    /// Text contents.
    Text(TextResource),
}

impl ResourceContents {
    /// Creates text contents.
    pub fn text(uri: impl Into<String>, text: impl Into<Str>) -> Self {
        let (uri, text) = (uri.into(), text.into());
        Self::Text(TextResource {
            uri,
            mime_type: None,
            text,
            meta: None,
            extra: ExtraMembers::new(),
        })
    }

    /// Creates binary contents from their base64 text.
    pub fn blob(uri: impl Into<String>, blob: impl Into<Str>) -> Self {
        let (uri, blob) = (uri.into(), blob.into());
        Self::Blob(BlobResource {
            uri,
            mime_type: None,
            blob,
            meta: None,
            extra: ExtraMembers::new(),
        })
    }

    /// Creates binary contents from bytes, which are encoded in base64.
    pub fn from_bytes(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self::blob(uri, base64::encode(bytes.as_ref()))
    }

    /// Sets the media type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        match &mut self {
            Self::Blob(blob) => blob.mime_type = Some(mime_type.into()),
            Self::Text(text) => text.mime_type = Some(mime_type.into()),
        }
        self
    }

    /// Returns the text of text contents, or `None` for binary contents.
    ///
    /// ```
    /// use mcp_proto::schema::ResourceContents;
    ///
    /// assert_eq!(ResourceContents::text("note://1", "buy milk").as_text(), Some("buy milk"));
    /// assert_eq!(ResourceContents::from_bytes("image://1", [137, 80]).as_text(), None);
    /// ```
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(&text.text) } else { None }
    }

    /// Returns the resource's URI.
    #[must_use]
    pub fn uri(&self) -> &str {
        match self {
            Self::Blob(blob) => &blob.uri,
            Self::Text(text) => &text.uri,
        }
    }
}

serde_impls!(ResourceContents);

impl Encode for ResourceContents {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Blob(blob) => blob.encode(revision, out),
            Self::Text(text) => text.encode(revision, out),
        }
    }
}

/// Decodes binary contents if `blob` is present and `text` is absent, and text contents otherwise.
impl Decode for ResourceContents {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        if reader.peek_member("text").is_none() && reader.peek_member("blob").is_some() {
            return BlobResource::read(reader).map(Self::Blob);
        }
        TextResource::read(reader).map(Self::Text)
    }
}

object! {
    /// The params of a `resources/list` request for one page of the list.
    pub struct ListResources {
        /// The previous page's `next_cursor`, verbatim; `None` for the first page.
        // PAG-01: cursors are opaque and are echoed verbatim.
        optional cursor: String = "cursor",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `resources/list` request: one page of the list.
    pub struct ListResourcesResult {
        /// The resources on this page.
        required resources: List<Resource> = "resources",
        /// Cursor of the next page; `None` on the last page. An empty string is a valid cursor.
        // PAG-04: only an absent cursor ends the list.
        strict next_cursor: String = "nextCursor",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// How long the result may be cached, in milliseconds. Default: 0. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Which users may share a cached copy. Default: `Private`. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/list": ListResources => ListResourcesResult);

object! {
    /// The params of a `resources/templates/list` request for one page of the list.
    pub struct ListResourceTemplates {
        /// The previous page's `next_cursor`, verbatim; `None` for the first page.
        // PAG-01: cursors are opaque and are echoed verbatim.
        optional cursor: String = "cursor",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `resources/templates/list` request: one page of the list.
    pub struct ListResourceTemplatesResult {
        /// The templates on this page.
        required resource_templates: List<ResourceTemplate> = "resourceTemplates",
        /// Cursor of the next page; `None` on the last page. An empty string is a valid cursor.
        // PAG-04: only an absent cursor ends the list.
        strict next_cursor: String = "nextCursor",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// How long the result may be cached, in milliseconds. Default: 0. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Which users may share a cached copy. Default: `Private`. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(
    ClientRequest "resources/templates/list":
    ListResourceTemplates => ListResourceTemplatesResult
);

object! {
    /// The params of a `resources/read` request.
    pub struct ReadResource {
        /// The resource's URI.
        required uri: String = "uri",
        /// Responses to input requests, each under the key of its input request. (since 2026-07-28)
        optional input_responses: ExtraMembers = "inputResponses" in R5..=R5,
        /// The `request_state` of the server's `InputRequired` result, verbatim. (since 2026-07-28)
        optional request_state: String = "requestState" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `resources/read` request.
    pub struct ReadResourceResult {
        /// The resource's contents, possibly in several parts, such as the files of a folder.
        required contents: List<ResourceContents> = "contents",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// How long the result may be cached, in milliseconds. Default: 0. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Which users may share a cached copy. Default: `Private`. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// Protocol metadata (`_meta`).
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
    /// The params of a `resources/subscribe` request. (up to 2025-11-25)
    ///
    /// Subscribes the client to notifications of changes to the resource.
    pub struct Subscribe {
        /// The resource's URI.
        required uri: String = "uri",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/subscribe": Subscribe => EmptyResult);

object! {
    /// The params of a `resources/unsubscribe` request. (up to 2025-11-25)
    ///
    /// Ends the client's subscription to the resource.
    pub struct Unsubscribe {
        /// The resource's URI.
        required uri: String = "uri",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "resources/unsubscribe": Unsubscribe => EmptyResult);

object! {
    /// The params of a `notifications/resources/updated` notification.
    // T-122: it may be a sub-resource of the one subscribed to.
    pub struct ResourceUpdated {
        /// URI of the changed resource, which can be a sub-resource of a subscribed resource.
        required uri: String = "uri",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/resources/updated": ResourceUpdated);

object! {
    /// The params of a `notifications/resources/list_changed` notification.
    pub struct ResourcesListChanged {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/resources/list_changed": ResourcesListChanged);
