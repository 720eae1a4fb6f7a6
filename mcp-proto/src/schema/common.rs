//! Types shared by several features: roles, icons, annotations, cache scope.

use alloc::string::String;

use super::containers::List;
use super::decode::DecodeError;
use super::macros::{object, string_enum};
use super::uri::has_scheme;
use crate::revision::{R3, R5};

string_enum! {
    /// A participant in a conversation: the author of a message or the audience of content.
    pub enum Role {
        /// The model.
        Assistant = "assistant",
        /// The user.
        User = "user",
    }
}

object! {
    /// An icon for user interfaces. (since 2025-11-25)
    ///
    /// Decoding fails if the source is neither an `https:` nor a `data:` URI. A decoded [`List`] of
    /// icons leaves such icons out; see [`Icon::is_safe`].
    pub struct Icon, accepted Icon::accept {
        /// URI of the image.
        required src: String = "src",
        /// Media type.
        optional mime_type: String = "mimeType",
        /// Sizes at which the image can be used; each is `any` or a size such as `48x48`.
        optional sizes: List<String> = "sizes",
        /// Background theme that the image is designed for.
        optional theme: Theme = "theme",
    }
}

impl Icon {
    /// Returns whether the icon is safe to display: its source is an `https:` or `data:` URI.
    // SEC-11: other schemes could run scripts or read local files.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        has_scheme(&self.src, &["https", "data"])
    }

    // SEC-11: clients reject other schemes.
    fn accept(&self) -> Result<(), DecodeError> {
        if self.is_safe() {
            return Ok(());
        }
        Err(DecodeError::unacceptable("an https or data URI", "src", &self.src))
    }
}

string_enum! {
    /// The background theme that an icon is designed for. (since 2025-11-25)
    pub enum Theme {
        /// A dark background.
        Dark = "dark",
        /// A light background.
        Light = "light",
    }
}

object! {
    /// Hints about how a client should use or display content.
    pub struct Annotations {
        /// Intended audience.
        optional audience: List<Role> = "audience",
        /// Importance, from 0 (least) to 1 (most).
        optional priority: f64 = "priority",
        /// Time of the last change, in ISO 8601 format. (since 2025-06-18)
        optional last_modified: String = "lastModified" in R3..=R5,
    }
}

string_enum! {
    /// The kind of a result. (since 2026-07-28)
    pub enum ResultType {
        /// The final result.
        Complete = "complete",
        /// The server needs input from the client before it can produce the final result.
        InputRequired = "input_required",
        /// The request runs as a task, which will provide the final result. (tasks extension)
        Task = "task",
    }
}

/// Defaults to `Complete`.
// JSON-21: a result without `resultType` is complete.
impl Default for ResultType {
    fn default() -> Self {
        Self::Complete
    }
}

string_enum! {
    /// Which users may share a cached result. (since 2026-07-28)
    ///
    /// See <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>.
    pub enum CacheScope {
        /// Only the requesting user.
        Private = "private",
        /// All users.
        Public = "public",
    }
}

/// Defaults to `Private`.
// D-17: a result without `cacheScope` is private.
impl Default for CacheScope {
    fn default() -> Self {
        Self::Private
    }
}
