//! Content blocks: what tools return and prompts hold.

use alloc::string::String;
use alloc::vec::Vec;

use super::decode::{Decode, DecodeError, Encode, object_text, required};
use crate::error::Unencodable;
use crate::json::{Object, Raw, find, unescape};
use crate::revision::Revision;

/// One block of content.
///
/// A block of a type that is not known here is kept as it came. (T-119)
///
/// ```
/// use mcp_proto::schema::Content;
///
/// let block: Content = "sunny".into();
/// assert_eq!(block.as_text(), Some("sunny"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Sound, in base64. (since 2025-03-26)
    Audio {
        /// The bytes, in base64.
        data: String,
        /// What they are.
        mime_type: String,
    },
    /// A picture, in base64.
    Image {
        /// The bytes, in base64.
        data: String,
        /// What they are.
        mime_type: String,
    },
    /// Anything else, as it stands in JSON.
    Other(Raw),
    /// Words.
    Text(String),
}

impl Content {
    /// The words, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Encode for Content {
    /// A block of a type that came after `revision` cannot be written. (T-120)
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let kind = match self {
            Self::Audio { .. } => "audio".into(),
            Self::Image { .. } => "image".into(),
            Self::Other(raw) => find(object_text(raw)?, "type").and_then(unescape).unwrap_or_default(),
            Self::Text(_) => "text".into(),
        };
        if !revision.has_content_type(&kind) {
            return Err(Unencodable);
        }
        if let Self::Other(raw) = self {
            return raw.encode(revision, out);
        }
        let mut object = Object::begin(out);
        object.str("type", &kind);
        match self {
            Self::Audio { data, mime_type } => {
                object.str("data", data);
                object.str("mimeType", mime_type);
            }
            Self::Image { data, mime_type } => {
                object.str("data", data);
                object.str("mimeType", mime_type);
            }
            Self::Other(_) => {}
            Self::Text(text) => object.str("text", text),
        }
        object.end();
        Ok(())
    }
}

impl Decode for Content {
    fn decode(raw: &Raw) -> Result<Self, DecodeError> {
        if !raw.is_object() {
            return Err(DecodeError::new("a content block", raw));
        }
        let kind: String = required(raw, "type")?;
        // Annotations and `_meta` are kept by keeping the whole block.
        let plain = raw.member("annotations").is_none() && raw.member("_meta").is_none();
        Ok(match kind.as_str() {
            "text" if plain => Self::Text(required(raw, "text")?),
            "image" if plain => {
                Self::Image { data: required(raw, "data")?, mime_type: required(raw, "mimeType")? }
            }
            "audio" if plain => {
                Self::Audio { data: required(raw, "data")?, mime_type: required(raw, "mimeType")? }
            }
            _ => Self::Other(raw.clone()),
        })
    }
}
