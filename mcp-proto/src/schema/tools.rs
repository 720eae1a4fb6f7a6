//! Tools: listing and calls.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use super::common::{CacheScope, Icon, ResultType};
use super::containers::{AnyObject, List};
use super::content::Content;
use super::decode::{Decode, DecodeError, Encode};
use super::macros::{message, object, string_enum};
use super::members::ExtraMembers;
use super::meta::Meta;
use super::serde_impls::serde_impls;
use super::tasks::TaskRequest;
use crate::error::Unencodable;
use crate::json::{JsonReader, Raw, Str};
use crate::revision::{R2, R3, R4, R5, Revision};

object! {
    /// The params of a `tools/list` request for one page of the list.
    pub struct ListTools {
        /// The previous page's `next_cursor`, verbatim; `None` for the first page.
        // PAG-01: cursors are opaque and are echoed verbatim.
        optional cursor: String = "cursor",
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

object! {
    /// The result of a `tools/list` request: one page of the list.
    pub struct ListToolsResult {
        /// The tools on this page.
        required tools: List<Tool> = "tools",
        /// Cursor of the next page; `None` on the last page. Whether an empty string is a cursor
        /// depends on the [revision](crate::Rules::empty_cursor_ends).
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

message!(ClientRequest "tools/list": ListTools => ListToolsResult);

object! {
    /// A tool, as described in the result of `tools/list`.
    ///
    /// See <https://modelcontextprotocol.io/specification/2025-11-25/server/tools>.
    pub struct Tool {
        /// Name that identifies the tool.
        required name: Str = "name",
        /// Display name. (since 2025-06-18)
        optional title: Str = "title" in R3..=R5,
        /// Description, for the model.
        optional description: Str = "description",
        /// JSON Schema of the arguments, verbatim; that of any object if it is absent or `null`.
        defaulted input_schema: AnyObject = "inputSchema" or schema_of_any_object,
        /// JSON Schema of the structured output, verbatim. (since 2025-06-18)
        optional output_schema: OutputSchema = "outputSchema" in R3..=R5,
        /// Hints about the tool's behaviour. (since 2025-03-26)
        optional annotations: ToolAnnotations = "annotations" in R2..=R5,
        /// Icons for user interfaces. (since 2025-11-25)
        optional icons: List<Icon> = "icons" in R4..=R5,
        /// How the tool can be executed: directly or as a task. (2025-11-25 only)
        optional execution: ToolExecution = "execution" in R4..=R4,
        /// Protocol metadata (`_meta`). (since 2025-06-18)
        optional meta: Meta = "_meta" in R3..=R5,
    }
}

fn schema_of_any_object() -> AnyObject {
    AnyObject(Raw::literal(br#"{"type":"object"}"#))
}

object! {
    /// Hints about a tool's behaviour. (since 2025-03-26)
    ///
    /// An absent hint has its default value. The server chooses the hints, so they are only as
    /// trustworthy as the server itself.
    // SEC-04: annotations are untrusted.
    pub struct ToolAnnotations {
        /// Display name.
        optional title: String = "title",
        /// Whether the tool leaves its environment unmodified. Default: `false`.
        optional read_only: bool = "readOnlyHint",
        /// Whether the tool may destroy data. Irrelevant if the tool is read-only. Default: `true`.
        optional destructive: bool = "destructiveHint",
        /// Whether repeating a call has no additional effect. Default: `false`.
        optional idempotent: bool = "idempotentHint",
        /// Whether the tool interacts with external systems. Default: `true`.
        optional open_world: bool = "openWorldHint",
    }
}

object! {
    /// How a tool can be executed: directly or as a task. (2025-11-25 only)
    pub struct ToolExecution {
        /// Whether the tool can be called as a task; `None` means [`TaskSupport::Forbidden`].
        optional task_support: TaskSupport = "taskSupport",
    }
}

string_enum! {
    /// Whether a tool can be called as a task. (2025-11-25 only)
    pub enum TaskSupport {
        /// The tool cannot be called as a task. This is the default.
        Forbidden = "forbidden",
        /// The client decides whether to call the tool as a task.
        Optional = "optional",
        /// The tool must be called as a task.
        Required = "required",
    }
}

object! {
    /// The params of a `tools/call` request.
    pub struct CallTool {
        /// The tool's name.
        required name: Str = "name",
        /// The arguments of the call, by name.
        strict arguments: AnyObject = "arguments",
        /// If present, asks the server to run the call as a task. (2025-11-25 only)
        optional task: TaskRequest = "task" in R4..=R4,
        /// Responses to input requests, each under the key of its input request. (since 2026-07-28)
        optional input_responses: ExtraMembers = "inputResponses" in R5..=R5,
        /// The `request_state` of the server's `InputRequired` result, verbatim. (since 2026-07-28)
        optional request_state: String = "requestState" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ClientRequest "tools/call": CallTool => CallToolResult);

impl CallTool {
    /// Returns the argument `name`; `None` if the call does not contain it.
    ///
    /// Scans the arguments at each call. To read several arguments, deserialize them together, with
    /// `arguments.parse::<T>()`.
    ///
    /// ```
    /// use mcp_proto::schema::CallTool;
    /// use serde_json::json;
    ///
    /// let call = CallTool::new("insert").arguments(json!({"text": "a"}));
    /// assert_eq!(call.argument("text").unwrap().parse::<String>().unwrap(), "a");
    /// assert_eq!(call.argument("line"), None);
    /// ```
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<Raw> {
        self.arguments.as_ref()?.member(name)
    }
}

object! {
    /// The result of a tool call, successful or not.
    ///
    /// ```
    /// use mcp_proto::schema::CallToolResult;
    ///
    /// let result = CallToolResult::text("12 degrees");
    /// assert_eq!(result.content[0].as_text(), Some("12 degrees"));
    /// assert!(!result.is_error);
    /// ```
    pub struct CallToolResult adapted with_content {
        /// The tool's output, as content blocks; none if the member is absent or `null`.
        defaulted content: List<Content> = "content" or no_content,
        /// The tool's output as JSON. (since 2025-06-18)
        ///
        /// A JSON `null` is `Some`; an absent member is `None`.
        ///
        /// A value that the peer's revision does not allow is omitted. If `content` is empty, such
        /// a value is sent as one text block instead.
        // T-107: `null` is a value.
        optional structured_content: Structured = "structuredContent" in R3..=R5,
        /// Whether the tool failed. If so, `content` describes the failure.
        flag is_error: bool = "isError",
        /// Kind of result. (since 2026-07-28)
        stamped result_type: ResultType = "resultType" in R5..=R5,
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

fn no_content() -> List<Content> {
    List::default()
}

/// Declares a JSON value that some revisions accept only in a restricted form.
macro_rules! restricted_json {
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

        impl From<serde_json::Value> for $name {
            fn from(value: serde_json::Value) -> Self {
                Self(value.into())
            }
        }

        serde_impls!($name);

        impl Encode for $name {
            fn encode(&self, revision: Revision, out: &mut Vec<u8>) -> Result<(), Unencodable> {
                self.0.encode(revision, out)
            }

            fn is_for(&self, revision: Revision) -> bool {
                let is_for: fn(&Raw) -> bool = $is_for;
                let rules = revision.rules();
                rules.any_structured_content || rules.structured_content && is_for(&self.0)
            }
        }

        impl Decode for $name {
            fn read(reader: &mut JsonReader<'_>) -> Result<Self, DecodeError> {
                Ok(Self(reader.raw()))
            }
        }
    };
}

restricted_json!(
    /// The structured output of a tool, which can be any JSON value. (since 2025-06-18)
    ///
    /// Revisions before 2026-07-28 allow only objects. For peers that use such a revision, other
    /// values are omitted.
    Structured,
    Raw::is_object
);

restricted_json!(
    /// The JSON Schema of a tool's structured output. (since 2025-06-18)
    ///
    /// Revisions before 2026-07-28 allow only schemas whose `type` is `object`. For peers that use
    /// such a revision, other schemas are omitted.
    OutputSchema,
    |schema| schema.member("type").is_some_and(|kind| kind.to_text().as_deref() == Some("object"))
);

impl CallToolResult {
    /// Creates a successful result that contains one text block.
    pub fn text(text: impl Into<Str>) -> Self {
        Self::new(Vec::from([Content::from(text.into())]))
    }

    /// Creates a result that reports the tool's failure in one text block.
    pub fn error(text: impl Into<Str>) -> Self {
        let mut result = Self::text(text);
        result.is_error = true;
        result
    }

    /// Returns the result with its structured output as text, if a peer of `revision` would receive
    /// nothing otherwise.
    fn with_content(&self, revision: Revision) -> Option<Self> {
        let omitted = self.structured_content.as_ref().filter(|output| !output.is_for(revision))?;
        self.content.is_empty().then(|| Self {
            content: Vec::from([Content::from(Str::from(omitted.as_str()))]).into(),
            ..self.clone()
        })
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
    /// The params of a `notifications/tools/list_changed` notification.
    pub struct ToolsListChanged {
        /// Protocol metadata (`_meta`).
        optional meta: Meta = "_meta",
    }
}

message!(ServerNotification "notifications/tools/list_changed": ToolsListChanged);
