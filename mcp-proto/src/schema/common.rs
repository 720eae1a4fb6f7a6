//! What many types share: who speaks, how things look, how long they keep.

use alloc::string::String;

use super::containers::List;
use super::macros::{object, string_enum};
use crate::revision::{R3, R5};

string_enum! {
    /// Who says something, or whom it is for.
    pub enum Role {
        /// The model.
        Assistant = "assistant",
        /// The person.
        User = "user",
    }
}

object! {
    /// A picture that stands for something.
    ///
    /// Only `https:` and `data:` sources are fit to be shown; see [`Icon::is_safe`]. (SEC-11)
    pub struct Icon {
        /// Where the picture is: a URI.
        required src: String = "src",
        /// What kind of picture it is.
        optional mime_type: String = "mimeType",
        /// The sizes it is fit for, as `48x48` or `any`.
        optional sizes: List<String> = "sizes",
        /// The background it is made for.
        optional theme: Theme = "theme",
    }
}

impl Icon {
    /// Whether the source is of a scheme that an icon may have: `https:` or `data:`. (SEC-11)
    #[must_use]
    pub fn is_safe(&self) -> bool {
        let scheme = self.src.split_once(':').map_or("", |(scheme, _)| scheme);
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("data")
    }
}

string_enum! {
    /// The background an icon is made for.
    pub enum Theme {
        /// A dark one.
        Dark = "dark",
        /// A light one.
        Light = "light",
    }
}

object! {
    /// Hints on how to use a piece of content.
    pub struct Annotations {
        /// Whom it is for.
        optional audience: List<Role> = "audience",
        /// How much it matters, from 0 to 1.
        optional priority: f64 = "priority",
        /// When it last changed, in ISO 8601.
        optional last_modified: String = "lastModified" in R3..=R5,
    }
}

string_enum! {
    /// How a result came about. (since 2026-07-28)
    pub enum ResultType {
        /// It is the answer.
        Complete = "complete",
        /// The server needs input first.
        InputRequired = "input_required",
        /// The answer comes as a task. (extension)
        Task = "task",
    }
}

/// A result that does not say is complete. (JSON-21)
impl Default for ResultType {
    fn default() -> Self {
        Self::Complete
    }
}

string_enum! {
    /// Who may share a cached result. (since 2026-07-28)
    pub enum CacheScope {
        /// Only whoever asked.
        Private = "private",
        /// Everybody.
        Public = "public",
    }
}

/// A result that does not say is for whoever asked. (D-17)
impl Default for CacheScope {
    fn default() -> Self {
        Self::Private
    }
}
