//! Tools: listing them, calling one, and what comes back.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use super::common::{CacheScope, Icon, ResultType};
use super::containers::{AnyObject, List};
use super::content::Content;
use super::decode::{Decode, DecodeError, Encode};
use super::macros::{message, object, string_enum};
use super::members::Members;
use super::meta::Meta;
use super::tasks::TaskRequest;
use crate::error::Unencodable;
use crate::json::{Raw, Reader, Str};
use crate::revision::{R2, R3, R4, R5, Revision};

object! {
    /// Asks for a page of the tools.
    pub struct ListTools {
        /// Where to go on: what the page before said, to the letter. (PAG-01)
        optional cursor: String = "cursor",
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

object! {
    /// A page of the tools.
    pub struct ListToolsResult {
        /// The tools of this page.
        required tools: List<Tool> = "tools",
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

message!(ClientRequest "tools/list": ListTools => ListToolsResult);

object! {
    /// A tool, as it is listed.
    pub struct Tool {
        /// What it is called by.
        required name: Str = "name",
        /// A name for people.
        optional title: Str = "title" in R3..=R5,
        /// What it does, for a model to read.
        optional description: Str = "description",
        /// The JSON Schema of its arguments, an object, verbatim.
        required input_schema: AnyObject = "inputSchema",
        /// The JSON Schema of its structured results, verbatim.
        optional output_schema: OutputSchema = "outputSchema" in R3..=R5,
        /// Hints on what it does to the world.
        optional annotations: ToolAnnotations = "annotations" in R2..=R5,
        /// Pictures of it.
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// How it is run. (2025-11-25)
        optional execution: ToolExecution = "execution" in R4..=R4,
        /// What travels along.
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

object! {
    /// Hints on what a tool does to the world. They come from the server and are to be trusted as far as it is.
    /// (since 2025-03-26, SEC-04)
    pub struct ToolAnnotations {
        /// A name for people.
        optional title: String = "title",
        /// It changes nothing.
        optional read_only: bool = "readOnlyHint",
        /// What it changes may be lost.
        optional destructive: bool = "destructiveHint",
        /// Doing it again changes nothing more.
        optional idempotent: bool = "idempotentHint",
        /// It deals with the world outside.
        optional open_world: bool = "openWorldHint",
    }
}

object! {
    /// How a tool is run. (2025-11-25)
    pub struct ToolExecution {
        /// Whether it can be called as a task.
        optional task_support: TaskSupport = "taskSupport",
    }
}

string_enum! {
    /// Whether a tool can be called as a task. (2025-11-25)
    pub enum TaskSupport {
        /// It cannot; the default.
        Forbidden = "forbidden",
        /// It can.
        Optional = "optional",
        /// It must.
        Required = "required",
    }
}

object! {
    /// Calls a tool.
    pub struct CallTool {
        /// Which one.
        required name: Str = "name",
        /// Its arguments, an object.
        strict arguments: AnyObject = "arguments",
        /// Asks for the call to be run as a task. (2025-11-25)
        optional task: TaskRequest = "task" in R4..=R4,
        /// What the client answered to the server's questions. (since 2026-07-28)
        optional input_responses: Members = "inputResponses" in R5..=R5,
        /// The state that came with the questions, to the letter. (since 2026-07-28)
        optional request_state: String = "requestState" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tools/call": CallTool => CallToolResult);

object! {
    /// What a tool returned, or how it failed.
    ///
    /// ```
    /// use mcp_proto::schema::CallToolResult;
    ///
    /// let result = CallToolResult::text("12 degrees");
    /// assert_eq!(result.content[0].as_text(), Some("12 degrees"));
    /// assert!(!result.is_error);
    /// ```
    pub struct CallToolResult {
        /// What it says.
        required content: List<Content> = "content",
        /// The same for machines; `null` differs from none. (T-107)
        optional structured_content: Structured = "structuredContent" in R3..=R5,
        /// The tool ran and failed; `content` says how.
        flag is_error: bool = "isError",
        /// How the result came about. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

/// Declares JSON text that not every revision takes in every form.
macro_rules! text_for_some {
    ($(#[$doc:meta])* $name:ident, $is_for:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, PartialEq)]
        pub struct $name(pub Raw);

        impl Deref for $name {
            type Target = Raw;

            fn deref(&self) -> &Raw {
                &self.0
            }
        }

        impl From<Raw> for $name {
            fn from(raw: Raw) -> Self {
                Self(raw)
            }
        }

        impl Encode for $name {
            fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
                self.0.encode(revision, out)
            }

            fn is_for(&self, revision: Revision) -> bool {
                let is_for: fn(&Raw) -> bool = $is_for;
                revision.rules().any_structured_content || is_for(&self.0)
            }
        }

        impl Decode for $name {
            fn read(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self(reader.raw()))
            }
        }
    };
}

text_for_some!(
    /// A result for machines: any JSON, of which peers before 2026-07-28 are sent objects only.
    Structured,
    Raw::is_object
);

text_for_some!(
    /// The JSON Schema of structured results: any, of which peers before 2026-07-28 are sent those of objects only.
    OutputSchema,
    |schema| schema.member("type").is_some_and(|kind| kind.to_text().as_deref() == Some("object"))
);

impl CallToolResult {
    /// A result of one block of text.
    pub fn text(text: impl Into<Str>) -> Self {
        Self::new(Vec::from([Content::from(text.into())]))
    }

    /// A failure that says `text`.
    pub fn error(text: impl Into<Str>) -> Self {
        let mut result = Self::text(text);
        result.is_error = true;
        result
    }
}

impl From<String> for CallToolResult {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for CallToolResult {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<Content> for CallToolResult {
    fn from(block: Content) -> Self {
        Self::new(Vec::from([block]))
    }
}

impl From<Vec<Content>> for CallToolResult {
    fn from(blocks: Vec<Content>) -> Self {
        Self::new(blocks)
    }
}

object! {
    /// Says that the list of tools changed.
    pub struct ToolsListChanged {
        /// What travels along.
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/tools/list_changed": ToolsListChanged);
