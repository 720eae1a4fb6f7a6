//! Content blocks of tool results, prompts and model messages.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::base64::{self, is_base64};
use super::common::{Annotations, Icon};
use super::containers::List;
use super::decode::{Decode, DecodeError, Encode};
use super::macros::object;
use super::meta::Meta;
use super::resources::ResourceContents;
use super::serde_impls::serde_impls;
use crate::error::Unencodable;
use crate::json::{JsonReader, Kind, Raw, Str};
use crate::revision::{R3, R4, R5, Revision};

object! {
    /// A text block.
    pub struct Text tagged "type" = "text" {
        /// The text.
        required text: Str = "text",
        /// Hints on how to use or display the content.
        optional annotations: Annotations = "annotations",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// An image block.
    pub struct Image tagged "type" = "image" checked Image::check {
        /// The content in base64 (RFC 4648, section 4). A block with invalid base64 cannot be sent.
        required data: Str = "data",
        /// Media type.
        required mime_type: String = "mimeType",
        /// Hints on how to use or display the content.
        optional annotations: Annotations = "annotations",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// An audio block. (since 2025-03-26)
    pub struct Audio tagged "type" = "audio" checked Audio::check {
        /// The content in base64 (RFC 4648, section 4). A block with invalid base64 cannot be sent.
        required data: Str = "data",
        /// Media type.
        required mime_type: String = "mimeType",
        /// Hints on how to use or display the content.
        optional annotations: Annotations = "annotations",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

macro_rules! binary_block {
    ($($block:ty, $what:literal;)*) => {$(
        impl $block {
            #[doc = concat!("Creates ", $what, " block from bytes, which are encoded in base64.")]
            ///
            /// `mime_type` is the media type of the bytes; they are not inspected.
            pub fn from_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
                Self::new(base64::encode(bytes.as_ref()), mime_type)
            }

            /// Returns the decoded content, or `None` if `data` is not valid base64.
            #[must_use]
            pub fn to_bytes(&self) -> Option<Vec<u8>> {
                base64::decode(&self.data)
            }

            // SEC-21: binary data is base64.
            fn check(&self, _: Revision) -> Result<(), Unencodable> {
                if is_base64(&self.data) { Ok(()) } else { Err(Unencodable) }
            }
        }
    )*};
}

binary_block! {
    Audio, "an audio";
    Image, "an image";
}

object! {
    /// An embedded resource with its contents.
    pub struct EmbeddedResource tagged "type" = "resource" {
        /// The resource's contents.
        required resource: ResourceContents = "resource",
        /// Hints on how to use or display the content.
        optional annotations: Annotations = "annotations",
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// A link to a resource. (since 2025-06-18)
    pub struct ResourceLink tagged "type" = "resource_link" {
        /// The resource's URI.
        required uri: String = "uri",
        /// Name for use by programs; `title` is for display.
        required name: String = "name",
        /// Display name.
        optional title: String = "title",
        /// Description of the resource, for the model.
        optional description: String = "description",
        /// Media type.
        optional mime_type: String = "mimeType",
        /// Size of the contents in bytes, before base64 encoding.
        optional size: u64 = "size",
        /// Icons for user interfaces. (since 2025-11-25)
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// Hints on how to use or display the content.
        optional annotations: Annotations = "annotations",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

/// One content block of a tool result or prompt message.
///
/// A block of an unknown type is kept verbatim. If the peer's revision does not define audio blocks
/// or resource links, such a block is encoded as a text block with a short description.
///
/// ```
/// use mcp_proto::schema::Content;
///
/// let block: Content = "sunny".into();
/// assert_eq!(block.as_text(), Some("sunny"));
/// ```
// T-119: unknown block types survive. T-120: older peers receive text instead.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// An audio block. (since 2025-03-26)
    Audio(Audio),
    /// An image block.
    Image(Image),
    /// An embedded resource with its contents.
    Resource(EmbeddedResource),
    /// A link to a resource. (since 2025-06-18)
    ResourceLink(ResourceLink),
    /// A text block.
    Text(Text),
    /// A block of an unknown type, verbatim.
    Other(Raw),
}

impl Content {
    /// Returns the text of a text block, or `None` for any other block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(&text.text) } else { None }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(Text::new(text))
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(Text::new(text))
    }
}

impl From<Str> for Content {
    fn from(text: Str) -> Self {
        Self::Text(Text::new(text))
    }
}

macro_rules! from_block {
    ($($variant:ident($block:ty)),*) => {$(
        impl From<$block> for Content {
            fn from(block: $block) -> Self {
                Self::$variant(block)
            }
        }
    )*};
}

from_block!(
    Audio(Audio),
    Image(Image),
    Resource(EmbeddedResource),
    ResourceLink(ResourceLink),
    Text(Text)
);

serde_impls!(Content);

impl Encode for Content {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Audio(audio) if !revision.has_content_type("audio") => {
                write_placeholder(revision, out, alloc::format!("[audio: {}]", audio.mime_type))
            }
            Self::ResourceLink(link) if !revision.has_content_type("resource_link") => {
                write_placeholder(revision, out, alloc::format!("[{}]({})", link.name, link.uri))
            }
            Self::Audio(block) => block.encode(revision, out),
            Self::Image(block) => block.encode(revision, out),
            Self::Resource(block) => block.encode(revision, out),
            Self::ResourceLink(block) => block.encode(revision, out),
            Self::Text(block) => block.encode(revision, out),
            Self::Other(raw) => raw.encode(revision, out),
        }
    }
}

/// Writes a text block in place of one that the peer's revision does not define.
fn write_placeholder(
    revision: Revision,
    out: &mut Vec<u8>,
    text: String,
) -> Result<(), Unencodable> {
    Text::new(text).encode(revision, out)
}

impl Decode for Content {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Ok(match &*block_type(reader)? {
            b"audio" => Self::Audio(Audio::read(reader)?),
            b"image" => Self::Image(Image::read(reader)?),
            b"resource" => Self::Resource(EmbeddedResource::read(reader)?),
            b"resource_link" => Self::ResourceLink(ResourceLink::read(reader)?),
            b"text" => Self::Text(Text::read(reader)?),
            _ => Self::Other(reader.raw()),
        })
    }
}

/// Returns the `type` of the next object.
pub(super) fn block_type<'a>(reader: &mut JsonReader<'a>) -> Result<Cow<'a, [u8]>, DecodeError> {
    if let Some(text) = reader.peek_text("type") {
        return Ok(text);
    }
    if reader.kind() != Some(Kind::Object) {
        return Err(DecodeError::expected("a content block", reader));
    }
    match reader.peek_member("type") {
        Some(raw) => match String::decode(&raw) {
            Ok(text) => Ok(Cow::Owned(text.into_bytes())),
            Err(error) => Err(error.within("type")),
        },
        None => Err(DecodeError::missing("type")),
    }
}
