//! Prompts: listing and retrieval.

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
    /// A prompt, as described in the result of `prompts/list`.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/prompts>.
    pub struct Prompt {
        /// Name that identifies the prompt.
        required name: String = "name",
        /// Display name. (since 2025-06-18)
        optional title: String = "title" in R3..=R5,
        /// Description of the prompt.
        optional description: String = "description",
        /// Arguments that the prompt accepts.
        optional arguments: List<PromptArgument> = "arguments",
        /// Icons for user interfaces. (since 2025-11-25)
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// An argument of a prompt.
    pub struct PromptArgument {
        /// Name that identifies the argument.
        required name: String = "name",
        /// Display name. (since 2025-06-18)
        optional title: String = "title" in R3..=R5,
        /// Description of the argument.
        optional description: String = "description",
        /// Whether the argument is required. Default: `false`.
        flag required: bool = "required",
    }
}

impl PromptArgument {
    /// Makes the argument required.
    ///
    /// ```
    /// use mcp_proto::schema::PromptArgument;
    ///
    /// assert!(PromptArgument::new("city").required().required);
    /// ```
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

object! {
    /// The params of a `prompts/list` request for one page of the list.
    pub struct ListPrompts {
        /// The previous page's `next_cursor`, verbatim; `None` for the first page.
        // PAG-01: cursors are opaque and are echoed verbatim.
        optional cursor: String = "cursor",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `prompts/list` request: one page of the list.
    pub struct ListPromptsResult {
        /// The prompts on this page.
        required prompts: List<Prompt> = "prompts",
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

message!(ClientRequest "prompts/list": ListPrompts => ListPromptsResult);

object! {
    /// The params of a `prompts/get` request, which renders a prompt with the given arguments.
    pub struct GetPrompt {
        /// The prompt's name.
        required name: String = "name",
        /// Values of the prompt's arguments, by name.
        optional arguments: Map<String> = "arguments",
        /// Responses to input requests, each under the key of its input request. (since 2026-07-28)
        optional input_responses: ExtraMembers = "inputResponses" in R5..=R5,
        /// The `request_state` of the server's `InputRequired` result, verbatim. (since 2026-07-28)
        optional request_state: String = "requestState" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `prompts/get` request: the rendered prompt.
    pub struct GetPromptResult {
        /// Description of the prompt.
        optional description: String = "description",
        /// The prompt's messages.
        required messages: List<PromptMessage> = "messages",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "prompts/get": GetPrompt => GetPromptResult);

impl GetPrompt {
    /// Returns the value of the argument `name`; `None` if the request does not contain it.
    ///
    /// ```
    /// use mcp_proto::schema::{GetPrompt, Map};
    ///
    /// let get = GetPrompt::new("plan").arguments(Map::new().with("city", "Oslo".to_owned()));
    /// assert_eq!(get.argument("city"), Some("Oslo"));
    /// assert_eq!(get.argument("days"), None);
    /// ```
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.as_ref()?.get(name).map(String::as_str)
    }
}

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
    /// A message in a prompt.
    pub struct PromptMessage {
        /// The author of the message.
        required role: Role = "role",
        /// The message's content, a single block.
        required content: Content = "content",
    }
}

object! {
    /// The params of a `notifications/prompts/list_changed` notification.
    pub struct PromptsListChanged {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/prompts/list_changed": PromptsListChanged);
