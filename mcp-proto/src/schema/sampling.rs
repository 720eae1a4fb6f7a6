//! Having the client's model say something.

use alloc::string::String;
use alloc::vec::Vec;

use super::common::Role;
use super::containers::{AnyObject, List};
use super::content::{Audio, Content, Image, Text, block_type};
use super::decode::{Decode, DecodeError, Encode};
use super::macros::{message, object, string_enum};
use super::meta::Meta;
use super::tasks::TaskRequest;
use super::tools::{Structured, Tool};
use crate::error::Unencodable;
use crate::json::{Kind, Raw, Reader};
use crate::revision::{R4, R5, Revision};

object! {
    /// Asks the client to have its model go on with a conversation.
    pub struct CreateMessage {
        /// The conversation.
        required messages: List<SamplingMessage> = "messages",
        /// How many tokens the model may say at most. (SEC-16)
        required max_tokens: i64 = "maxTokens",
        /// Which model would be best.
        optional model_preferences: ModelPreferences = "modelPreferences",
        /// What the model is told first.
        optional system_prompt: String = "systemPrompt",
        /// Whose context to add. Other than `none` only if the client declared it. (CAP-11)
        optional include_context: IncludeContext = "includeContext",
        /// How freely the model speaks.
        optional temperature: f64 = "temperature",
        /// What ends its speech.
        optional stop_sequences: List<String> = "stopSequences",
        /// Anything for the model's provider.
        strict metadata: AnyObject = "metadata",
        /// Tools that the model may use. (since 2025-11-25, CAP-09)
        optional tools: List<Tool> = "tools" in R4..=R5,
        /// Whether it uses them. (since 2025-11-25)
        optional tool_choice: ToolChoice = "toolChoice" in R4..=R5,
        /// Asks for it to be run as a task. (2025-11-25)
        optional task: TaskRequest = "task" in R4..=R4,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerRequest "sampling/createMessage": CreateMessage => CreateMessageResult);

string_enum! {
    /// Whose context a model is given.
    pub enum IncludeContext {
        /// That of all servers.
        AllServers = "allServers",
        /// Nobody's; the default.
        None = "none",
        /// That of the server that asks.
        ThisServer = "thisServer",
    }
}

object! {
    /// One thing that is said in a conversation with a model.
    pub struct SamplingMessage {
        /// Who says it.
        required role: Role = "role",
        /// What.
        required content: SamplingContent = "content",
        /// What travels along.
        optional meta: Meta = "_meta" in R4..=R5,
    }
}

object! {
    /// What the model said.
    pub struct CreateMessageResult {
        /// Who says it: the model.
        required role: Role = "role",
        /// What.
        required content: SamplingContent = "content",
        /// Which model it was.
        required model: String = "model",
        /// Why it stopped.
        optional stop_reason: StopReason = "stopReason",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

string_enum! {
    /// Why a model stopped.
    pub enum StopReason {
        /// It was done.
        EndTurn = "endTurn",
        /// It said as much as it may.
        MaxTokens = "maxTokens",
        /// It said what ends its speech.
        StopSequence = "stopSequence",
        /// It wants to use a tool. (since 2025-11-25)
        ToolUse = "toolUse",
    }
}

object! {
    /// Which model would be best.
    pub struct ModelPreferences {
        /// Parts of names of models, the best first.
        optional hints: List<ModelHint> = "hints",
        /// How much it matters that it is cheap, from 0 to 1.
        optional cost_priority: f64 = "costPriority",
        /// How much it matters that it is fast, from 0 to 1.
        optional speed_priority: f64 = "speedPriority",
        /// How much it matters that it is clever, from 0 to 1.
        optional intelligence_priority: f64 = "intelligencePriority",
    }
}

object! {
    /// A hint at a model.
    pub struct ModelHint {
        /// A part of its name.
        optional name: String = "name",
    }
}

object! {
    /// Whether a model uses tools. (since 2025-11-25)
    pub struct ToolChoice {
        /// Whether; as it likes when nothing is said.
        optional mode: ToolChoiceMode = "mode",
    }
}

string_enum! {
    /// Whether a model uses tools. (since 2025-11-25)
    pub enum ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// It must not.
        None = "none",
        /// It must.
        Required = "required",
    }
}

object! {
    /// The model wants to use a tool. (since 2025-11-25)
    pub struct ToolUse tagged "type" = "tool_use" {
        /// What its result is told by.
        required id: String = "id",
        /// Which tool.
        required name: String = "name",
        /// With which arguments.
        required input: AnyObject = "input",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// What came of using a tool. (since 2025-11-25)
    pub struct ToolResult tagged "type" = "tool_result" {
        /// Which use of it.
        required tool_use_id: String = "toolUseId",
        /// What it says.
        required content: List<Content> = "content",
        /// The same for machines; `null` differs from none. (T-107)
        optional structured_content: Structured = "structuredContent",
        /// It failed.
        flag is_error: bool = "isError",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

/// One block of a conversation with a model. A block of another type is kept as it came.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SamplingBlock {
    /// Sound. (since 2025-03-26)
    Audio(Audio),
    /// A picture.
    Image(Image),
    /// Words.
    Text(Text),
    /// What came of using a tool. (since 2025-11-25)
    ToolResult(ToolResult),
    /// The model wants to use a tool. (since 2025-11-25)
    ToolUse(ToolUse),
    /// A block of another type.
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

impl Encode for SamplingBlock {
    fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
        let kind = match self {
            Self::Audio(_) => "audio",
            Self::ToolResult(_) => "tool_result",
            Self::ToolUse(_) => "tool_use",
            _ => "",
        };
        // In a conversation nothing can stand in for such a block.
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
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
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

/// What is said at a time: one block, or, since 2025-11-25, several. (T-118)
///
/// ```
/// use mcp_proto::schema::{SamplingContent, SamplingBlock};
///
/// let said: SamplingContent = "hello".into();
/// assert!(matches!(said.blocks(), [SamplingBlock::Text(_)]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block.
    One(SamplingBlock),
    /// A list of blocks.
    Many(List<SamplingBlock>),
}

impl SamplingContent {
    /// The blocks, however they came.
    #[must_use]
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::One(block) => core::slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }

    /// The words of all blocks of text, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        let words = self.blocks().iter().filter_map(|block| match block {
            SamplingBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        words.collect()
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
    fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        if reader.kind() == Some(Kind::Array) {
            List::read(reader).map(Self::Many)
        } else {
            SamplingBlock::read(reader).map(Self::One)
        }
    }
}
