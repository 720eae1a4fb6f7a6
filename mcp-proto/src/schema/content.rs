//! Content blocks: what tools return, prompts hold and models say.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use super::common::{Annotations, Icon};
use super::containers::List;
use super::decode::{Decode, DecodeError, Encode};
use super::macros::object;
use super::meta::Meta;
use super::resources::ResourceContents;
use crate::error::Unencodable;
use crate::json::{Kind, Raw, Reader, Str};
use crate::revision::{R3, R4, R5, Revision};

object! {
    /// Words.
    pub struct Text tagged "type" = "text" {
        /// The words.
        required text: Str = "text",
        /// How to use it.
        optional annotations: Annotations = "annotations",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// A picture.
    pub struct Image tagged "type" = "image" {
        /// The bytes, in base64.
        required data: Str = "data",
        /// What they are.
        required mime_type: String = "mimeType",
        /// How to use it.
        optional annotations: Annotations = "annotations",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// Sound. (since 2025-03-26)
    pub struct Audio tagged "type" = "audio" {
        /// The bytes, in base64.
        required data: Str = "data",
        /// What they are.
        required mime_type: String = "mimeType",
        /// How to use it.
        optional annotations: Annotations = "annotations",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// A resource, with what it holds.
    pub struct EmbeddedResource tagged "type" = "resource" {
        /// The resource.
        required resource: ResourceContents = "resource",
        /// How to use it.
        optional annotations: Annotations = "annotations",
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// A resource to be read. (since 2025-06-18)
    pub struct ResourceLink tagged "type" = "resource_link" {
        /// What to read it by.
        required uri: String = "uri",
        /// A name for machines.
        required name: String = "name",
        /// A name for people.
        optional title: String = "title",
        /// What it is.
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
        optional meta: Meta = "_meta",
    }
}

/// One block of content.
///
/// A block of a type that is not known here is kept as it came (T-119). For a peer whose revision
/// does not know a type, the block is written as words that say what it was (T-120).
///
/// ```
/// use mcp_proto::schema::Content;
///
/// let block: Content = "sunny".into();
/// assert_eq!(block.as_text(), Some("sunny"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Sound. (since 2025-03-26)
    Audio(Audio),
    /// A picture.
    Image(Image),
    /// A resource, with what it holds.
    Resource(EmbeddedResource),
    /// A resource to be read. (since 2025-06-18)
    ResourceLink(ResourceLink),
    /// Words.
    Text(Text),
    /// A block of another type, as it came.
    Other(Raw),
}

impl Content {
    /// The words, if it is text.
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

impl Encode for Content {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::Audio(audio) if !revision.has_content_type("audio") => {
                stand_in(revision, out, alloc::format!("[audio: {}]", audio.mime_type))
            }
            Self::ResourceLink(link) if !revision.has_content_type("resource_link") => {
                stand_in(revision, out, alloc::format!("[{}]({})", link.name, link.uri))
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

/// Words in place of a block that the peer does not know.
fn stand_in(revision: Revision, out: &mut Vec<u8>, words: String) -> Result<(), Unencodable> {
    Text::new(words).encode(revision, out)
}

impl Decode for Content {
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

/// The `type` of the object that comes next.
pub(super) fn block_type<'a>(reader: &mut Reader<'a>) -> Result<Cow<'a, [u8]>, DecodeError> {
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
