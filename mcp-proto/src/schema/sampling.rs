//! Sampling: requests to the client's model.

use alloc::string::String;
use alloc::vec::Vec;

use super::ServerRequest;
use super::common::Role;
use super::containers::{AnyObject, List};
use super::content::{Audio, Content, Image, Text, block_type};
use super::decode::{Decode, DecodeError, Encode};
use super::macros::{object, string_enum};
use super::meta::Meta;
use super::serde_impls::serde_impls;
use super::tasks::TaskRequest;
use super::tools::{Structured, Tool};
use crate::collections::SortedMap;
use crate::error::Unencodable;
use crate::json::{JsonReader, Kind, Raw};
use crate::revision::{R4, R5, Revision};

object! {
    /// The params of a `sampling/createMessage` request, which asks the client's model for a
    /// message.
    ///
    /// Encoding and decoding fail unless [`CreateMessage::has_matching_tool_results`] returns
    /// `true`.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/client/sampling>.
    pub struct CreateMessage checked CreateMessage::check, accepted CreateMessage::accept {
        /// The conversation to continue.
        required messages: List<SamplingMessage> = "messages",
        /// Maximum number of tokens to generate.
        // SEC-16: bounds the cost of a request.
        required max_tokens: i64 = "maxTokens",
        /// Preferences for the choice of model. The client may disregard them.
        optional model_preferences: ModelPreferences = "modelPreferences",
        /// System prompt.
        optional system_prompt: String = "systemPrompt",
        /// Which servers' context the client should add to the prompt.
        ///
        /// Values other than `none` require the client capability
        /// [`SamplingContext`](crate::Capability::SamplingContext).
        // CAP-11: the client declares support for context.
        optional include_context: IncludeContext = "includeContext",
        /// Sampling temperature.
        optional temperature: f64 = "temperature",
        /// Strings at which the model stops generating.
        optional stop_sequences: List<String> = "stopSequences",
        /// Metadata for the model's provider.
        strict metadata: AnyObject = "metadata",
        /// Tools that the model may use. (since 2025-11-25)
        ///
        /// Requires the client capability [`SamplingTools`](crate::Capability::SamplingTools).
        /// Encoding fails for earlier revisions.
        // CAP-09: requires a client capability.
        optional tools: List<Tool> = "tools" in R4..=R5,
        /// Whether the model may or must use tools. (since 2025-11-25)
        ///
        /// Requires the client capability [`SamplingTools`](crate::Capability::SamplingTools).
        /// Encoding fails for earlier revisions.
        optional tool_choice: ToolChoice = "toolChoice" in R4..=R5,
        /// If present, asks the client to run the request as a task. (2025-11-25 only)
        optional task: TaskRequest = "task" in R4..=R4,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

impl ServerRequest for CreateMessage {
    const METHOD: &'static str = "sampling/createMessage";
    type Result = CreateMessageResult;

    fn readable(mut self) -> Self {
        let readable = |tools: List<Tool>| tools.into_iter().map(Tool::with_readable_schemas);
        self.tools = self.tools.map(|tools| readable(tools).collect());
        self
    }
}

impl CreateMessage {
    /// Returns whether the tool calls and their results have the order that models require.
    ///
    /// Models require two properties:
    ///
    /// - A message that contains a [`ToolResult`] contains no other kind of block.
    /// - After each message with [`ToolUse`] blocks, the next message is a user message that
    ///   consists of tool results. Each of the `ToolUse` blocks has a result in that message.
    // SEC-12: providers refuse other conversations.
    #[must_use]
    pub fn has_matching_tool_results(&self) -> bool {
        let is_result = |block: &SamplingBlock| matches!(block, SamplingBlock::ToolResult(_));
        let mut messages = self.messages.iter().peekable();
        while let Some(message) = messages.next() {
            let blocks = message.content.blocks();
            if blocks.iter().any(is_result) && !blocks.iter().all(is_result) {
                return false;
            }
            let calls = blocks.iter().filter_map(tool_use);
            let mut calls: SortedMap<&str, ()> = calls.map(|call| (call, ())).collect();
            if calls.is_empty() {
                continue;
            }
            let Some(next) = messages.peek().filter(|next| next.role == Role::User) else {
                return false;
            };
            for block in next.content.blocks() {
                let SamplingBlock::ToolResult(result) = block else { return false };
                calls.remove(&*result.tool_use_id);
            }
            if !calls.is_empty() {
                return false;
            }
        }
        true
    }

    /// Requires a revision that defines tools, if there are any: without them, the model's answer
    /// would not be the one that was asked for.
    fn check(&self, revision: Revision) -> Result<(), Unencodable> {
        let has_tools = self.tools.is_some() || self.tool_choice.is_some();
        let defines_tools = revision.rules().sampling_tools;
        if has_tools && !defines_tools || !self.has_matching_tool_results() {
            return Err(Unencodable);
        }
        Ok(())
    }

    fn accept(&self) -> Result<(), DecodeError> {
        if self.has_matching_tool_results() {
            return Ok(());
        }
        let expected = "messages with a result for each tool call, and nothing beside the results";
        Err(DecodeError { expected: expected.into(), ..DecodeError::missing("messages") })
    }
}

/// Returns the id of a tool call.
fn tool_use(block: &SamplingBlock) -> Option<&str> {
    match block {
        SamplingBlock::ToolUse(call) => Some(&call.id),
        _ => None,
    }
}

string_enum! {
    /// Which servers' context the client should add to a prompt.
    pub enum IncludeContext {
        /// All servers.
        AllServers = "allServers",
        /// No server. This is the default.
        None = "none",
        /// Only the server that sent the request.
        ThisServer = "thisServer",
    }
}

object! {
    /// A message in a conversation with a model.
    pub struct SamplingMessage {
        /// The author of the message.
        required role: Role = "role",
        /// The content of the message.
        required content: SamplingContent = "content",
        /// Protocol metadata (`_meta`). (since 2025-11-25)
        optional meta: Meta = "_meta" in R4..=R5,
    }
}

object! {
    /// The result of a `sampling/createMessage` request: a message from the model.
    pub struct CreateMessageResult {
        /// The author of the message, normally the assistant.
        required role: Role = "role",
        /// The content of the message.
        required content: SamplingContent = "content",
        /// Name of the model that generated the message.
        required model: String = "model",
        /// The reason why generation stopped.
        optional stop_reason: StopReason = "stopReason",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

string_enum! {
    /// The reason why generation stopped.
    pub enum StopReason {
        /// The model completed its turn.
        EndTurn = "endTurn",
        /// The token limit was reached.
        MaxTokens = "maxTokens",
        /// The model produced one of the stop sequences.
        StopSequence = "stopSequence",
        /// The model requested a tool call. (since 2025-11-25)
        ToolUse = "toolUse",
    }
}

object! {
    /// Preferences for the choice of model. The client may disregard them.
    pub struct ModelPreferences {
        /// Hints, most preferred first.
        optional hints: List<ModelHint> = "hints",
        /// Importance of low cost, from 0 (least) to 1 (most).
        optional cost_priority: f64 = "costPriority",
        /// Importance of low latency, from 0 (least) to 1 (most).
        optional speed_priority: f64 = "speedPriority",
        /// Importance of capability, from 0 (least) to 1 (most).
        optional intelligence_priority: f64 = "intelligencePriority",
    }
}

object! {
    /// A suggestion for the choice of model.
    pub struct ModelHint {
        /// Part of a suitable model's name, such as `sonnet`.
        optional name: String = "name",
    }
}

object! {
    /// Whether the model may or must use tools. (since 2025-11-25)
    pub struct ToolChoice {
        /// The mode; `None` means [`ToolChoiceMode::Auto`].
        optional mode: ToolChoiceMode = "mode",
    }
}

string_enum! {
    /// Whether the model may or must use tools. (since 2025-11-25)
    pub enum ToolChoiceMode {
        /// The model decides whether to use tools.
        Auto = "auto",
        /// The model must not use tools.
        None = "none",
        /// The model must use at least one tool.
        Required = "required",
    }
}

object! {
    /// A tool call by the model. (since 2025-11-25)
    pub struct ToolUse tagged "type" = "tool_use" {
        /// Id of the call, repeated in its [`ToolResult`].
        required id: String = "id",
        /// The tool's name.
        required name: String = "name",
        /// The arguments of the call, by name.
        required input: AnyObject = "input",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a model's tool call. (since 2025-11-25)
    pub struct ToolResult tagged "type" = "tool_result" {
        /// Id of the [`ToolUse`] that the result belongs to.
        required tool_use_id: String = "toolUseId",
        /// The tool's output, as content blocks.
        required content: List<Content> = "content",
        /// The tool's output as JSON. A JSON `null` is `Some`; an absent member is `None`.
        // T-107: `null` is a value.
        optional structured_content: Structured = "structuredContent",
        /// Whether the call failed.
        flag is_error: bool = "isError",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

/// One content block in a conversation with a model.
///
/// A block of an unknown type is kept verbatim. Encoding a block of a known type fails if the
/// peer's revision does not define that type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingBlock {
    /// Audio. (since 2025-03-26)
    Audio(Audio),
    /// An image.
    Image(Image),
    /// Text.
    Text(Text),
    /// The result of a tool call. (since 2025-11-25)
    ToolResult(ToolResult),
    /// A tool call. (since 2025-11-25)
    ToolUse(ToolUse),
    /// A block of an unknown type, verbatim.
    Other(Raw),
}

impl From<&str> for SamplingBlock {
    fn from(text: &str) -> Self {
        Self::Text(Text::new(text))
    }
}

impl From<String> for SamplingBlock {
    fn from(text: String) -> Self {
        Self::Text(Text::new(text))
    }
}

serde_impls!(SamplingBlock);

impl Encode for SamplingBlock {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let kind = match self {
            Self::Audio(_) => "audio",
            Self::ToolResult(_) => "tool_result",
            Self::ToolUse(_) => "tool_use",
            _ => "",
        };
        // Unlike in tool results, a text block cannot replace these.
        if !revision.has_content_type(kind) {
            return Err(Unencodable);
        }
        match self {
            Self::Audio(block) => block.encode(revision, out),
            Self::Image(block) => block.encode(revision, out),
            Self::Text(block) => block.encode(revision, out),
            Self::ToolResult(block) => block.encode(revision, out),
            Self::ToolUse(block) => block.encode(revision, out),
            Self::Other(raw) => raw.encode(revision, out),
        }
    }
}

impl Decode for SamplingBlock {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        Ok(match &*block_type(reader)? {
            b"audio" => Self::Audio(Audio::read(reader)?),
            b"image" => Self::Image(Image::read(reader)?),
            b"text" => Self::Text(Text::read(reader)?),
            b"tool_result" => Self::ToolResult(ToolResult::read(reader)?),
            b"tool_use" => Self::ToolUse(ToolUse::read(reader)?),
            _ => Self::Other(reader.raw()),
        })
    }
}

/// The content of a sampling message: one block or, since 2025-11-25, several.
///
/// For a peer that uses an earlier revision, encoding fails unless there is exactly one block.
///
/// ```
/// use mcp_proto::schema::{SamplingContent, SamplingBlock};
///
/// let content: SamplingContent = "hello".into();
/// assert!(matches!(content.blocks(), [SamplingBlock::Text(_)]));
/// ```
// T-118: both forms are accepted.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block.
    One(SamplingBlock),
    /// A list of blocks. (since 2025-11-25)
    Many(List<SamplingBlock>),
}

impl SamplingContent {
    /// Returns the blocks as a slice, even if the content is a single block.
    #[must_use]
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::One(block) => core::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// Returns the concatenated text of all text blocks.
    #[must_use]
    pub fn to_text(&self) -> String {
        let text = self.blocks().iter().filter_map(|block| match block {
            SamplingBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        text.collect()
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        Self::One(text.into())
    }
}

impl From<String> for SamplingContent {
    fn from(text: String) -> Self {
        Self::One(text.into())
    }
}

impl From<SamplingBlock> for SamplingContent {
    fn from(block: SamplingBlock) -> Self {
        Self::One(block)
    }
}

impl From<Vec<SamplingBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingBlock>) -> Self {
        Self::Many(blocks.into())
    }
}

serde_impls!(SamplingContent);

impl Encode for SamplingContent {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        match self {
            Self::One(block) => block.encode(revision, out),
            Self::Many(blocks) if revision.rules().content_lists => blocks.encode(revision, out),
            Self::Many(blocks) => match blocks.as_slice() {
                [block] => block.encode(revision, out),
                _ => Err(Unencodable),
            },
        }
    }
}

impl Decode for SamplingContent {
    fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() == Some(Kind::Array) {
            List::read(reader).map(Self::Many)
        } else {
            SamplingBlock::read(reader).map(Self::One)
        }
    }
}
