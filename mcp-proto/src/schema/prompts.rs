//! Prompts: listing them, and getting one filled in.

use alloc::string::String;
use alloc::vec::Vec;

use super::common::{CacheScope, Icon, ResultType, Role};
use super::containers::{List, Map};
use super::content::Content;
use super::macros::{message, object};
use super::members::Members;
use super::meta::Meta;
use crate::revision::{R3, R4, R5};

object! {
    /// A prompt, as it is listed.
    pub struct Prompt {
        /// What to get it by.
        required name: String = "name",
        /// A name for people.
        optional title: String = "title" in R3..=R5,
        /// What it is for.
        optional description: String = "description",
        /// What it is filled in with.
        optional arguments: List<PromptArgument> = "arguments",
        /// Pictures of it.
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// What a prompt is filled in with.
    pub struct PromptArgument {
        /// What to give it by.
        required name: String = "name",
        /// A name for people.
        optional title: String = "title" in R3..=R5,
        /// What it is.
        optional description: String = "description",
        /// The prompt cannot do without it.
        flag required: bool = "required",
    }
}

object! {
    /// Asks for a page of the prompts.
    pub struct ListPrompts {
        /// Where to go on: what the page before said, to the letter. (PAG-01)
        optional cursor: String = "cursor",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A page of the prompts.
    pub struct ListPromptsResult {
        /// The prompts of this page.
        required prompts: List<Prompt> = "prompts",
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

message!(ClientRequest "prompts/list": ListPrompts => ListPromptsResult);

object! {
    /// Asks for a prompt, filled in.
    pub struct GetPrompt {
        /// Which one.
        required name: String = "name",
        /// What to fill in.
        optional arguments: Map<String> = "arguments",
        /// What the client answered to the server's questions. (since 2026-07-28)
        optional input_responses: Members = "inputResponses" in R5..=R5,
        /// The state that came with the questions, to the letter. (since 2026-07-28)
        optional request_state: String = "requestState" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A prompt, filled in.
    pub struct GetPromptResult {
        /// What it is for.
        optional description: String = "description",
        /// What is said.
        required messages: List<PromptMessage> = "messages",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// What travels along.
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
    /// One thing that is said in a prompt.
    pub struct PromptMessage {
        /// Who says it.
        required role: Role = "role",
        /// What: one block.
        required content: Content = "content",
    }
}

object! {
    /// Says that the list of prompts changed.
    pub struct PromptsListChanged {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/prompts/list_changed": PromptsListChanged);
