//! Prompts: listing and retrieving them.

use alloc::string::String;
use alloc::vec::Vec;

use super::common::{CacheScope, Icon, ResultType, Role};
use super::containers::{List, Map};
use super::content::Content;
use super::macros::{message, object};
use super::members::ExtraMembers;
use super::meta::Meta;
use crate::revision::{R3, R4, R5};

object! {
    /// A prompt as listed.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/prompts>.
    pub struct Prompt {
        /// Name that identifies the prompt.
        required name: String = "name",
        /// Display name.
        optional title: String = "title" in R3..=R5,
        /// Description.
        optional description: String = "description",
        /// Arguments that the prompt accepts.
        optional arguments: List<PromptArgument> = "arguments",
        /// Icons for user interfaces.
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// An argument of a prompt.
    pub struct PromptArgument {
        /// Name that identifies the argument.
        required name: String = "name",
        /// Display name.
        optional title: String = "title" in R3..=R5,
        /// Description.
        optional description: String = "description",
        /// Whether the argument is required.
        flag required: bool = "required",
    }
}

object! {
    /// Requests a page of the list of prompts.
    pub struct ListPrompts {
        /// The previous page's `next_cursor`, verbatim; `None` for the first page.
        // PAG-01: cursors are opaque and are echoed verbatim.
        optional cursor: String = "cursor",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A page of the list of prompts.
    pub struct ListPromptsResult {
        /// The prompts on this page.
        required prompts: List<Prompt> = "prompts",
        /// Cursor of the next page; `None` on the last page. An empty string is a valid cursor.
        // PAG-04: only an absent cursor ends the list.
        strict next_cursor: String = "nextCursor",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// How long the result may be cached, in milliseconds. (since 2026-07-28)
        stamped ttl_ms: u64 = "ttlMs" in R5..=R5,
        /// Which clients may share a cached copy. (since 2026-07-28)
        stamped cache_scope: CacheScope = "cacheScope" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "prompts/list": ListPrompts => ListPromptsResult);

object! {
    /// Requests a prompt with its arguments filled in.
    pub struct GetPrompt {
        /// The prompt's name.
        required name: String = "name",
        /// Description shown to the user.
        optional arguments: Map<String> = "arguments",
        /// Responses to the server's input requests, by key. (since 2026-07-28)
        optional input_responses: ExtraMembers = "inputResponses" in R5..=R5,
        /// The server's request state, echoed verbatim. (since 2026-07-28)
        optional request_state: String = "requestState" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A prompt with its arguments filled in.
    pub struct GetPromptResult {
        /// Description.
        optional description: String = "description",
        /// The messages of the prompt.
        required messages: List<PromptMessage> = "messages",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "prompts/get": GetPrompt => GetPromptResult);

impl From<PromptMessage> for GetPromptResult {
    fn from(message: PromptMessage) -> Self {
        Self::new([message])
    }
}

impl From<Vec<PromptMessage>> for GetPromptResult {
    fn from(messages: Vec<PromptMessage>) -> Self {
        Self::new(messages)
    }
}

object! {
    /// A message of a prompt.
    pub struct PromptMessage {
        /// The author.
        required role: Role = "role",
        /// The content block.
        required content: Content = "content",
    }
}

object! {
    /// Notifies clients that the list of prompts changed.
    pub struct PromptsListChanged {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/prompts/list_changed": PromptsListChanged);
