//! MCP's protocol types and their JSON encoding.
//!
//! Decoding is **lenient**: unknown members, enum values and content blocks are kept. A malformed
//! element of a list is reported in [`List::broken`], and the other elements are decoded. A missing
//! required member is an error that contains the path of the member. Encoding is **exact**: members
//! that the peer's revision does not define are omitted.
//!
//! The types also implement `Serialize` and `Deserialize` of `serde`, in the form of the newest
//! revision; [`Encode::to_raw`] returns that of another revision.
//!
//! ```
//! use mcp_proto::schema::{Content, Level};
//!
//! let text = serde_json::to_string(&(Level::Error, Content::from("disk full"))).unwrap();
//! assert_eq!(text, r#"["error",{"type":"text","text":"disk full"}]"#);
//! let (level, content): (Level, Content) = serde_json::from_str(&text).unwrap();
//! assert_eq!((level, content.as_text()), (Level::Error, Some("disk full")));
//! ```
//!
//! Without the `schema` feature, only the types that a connection needs are available; all other
//! payloads are [`Raw`](crate::Raw).
//!
//! Decoded text can refer to the memory of the [`Raw`](crate::Raw) that it was decoded from; see
//! [`Str`].
//!
//! If a type or field does not exist in every revision, its documentation names the revisions that
//! define it, or the tasks extension.

#[cfg(feature = "schema")]
mod base64;
mod capabilities;
mod common;
#[cfg(feature = "schema")]
mod completion;
mod containers;
#[cfg(feature = "schema")]
mod content;
pub(crate) mod decode;
#[cfg(feature = "schema")]
mod discovery;
#[cfg(feature = "schema")]
mod elicitation;
#[cfg(feature = "schema")]
mod errors;
#[cfg(feature = "schema")]
mod form;
#[cfg(feature = "schema")]
mod input;
mod lifecycle;
mod logging;
pub(crate) mod macros;
mod members;
mod meta;
mod meta_context;
#[cfg(feature = "schema")]
mod model_tools;
#[cfg(feature = "schema")]
mod notifications;
#[cfg(feature = "schema")]
mod prompts;
mod raw_serde;
#[cfg(feature = "schema")]
mod resources;
#[cfg(feature = "schema")]
mod roots;
#[cfg(feature = "schema")]
mod sampling;
mod serde_impls;
#[cfg(feature = "schema")]
mod subscriptions;
#[cfg(feature = "schema")]
mod tasks;
#[cfg(feature = "schema")]
mod tool_output;
mod tool_schemas;
#[cfg(feature = "schema")]
mod tools;
#[cfg(feature = "schemars")]
mod type_schema;
mod uri;

pub use crate::json::{JsonReader, Kind, Str};
pub use capabilities::Capabilities;
pub use common::{Annotations, CacheScope, Icon, ResultType, Role, Theme};
#[cfg(feature = "schema")]
pub use completion::{
    Complete, CompleteResult, Completion, CompletionArgument, CompletionContext, PromptReference,
    Reference, ResourceReference,
};
pub use containers::{AnyObject, List, Map, OrUnknown};
#[cfg(feature = "schema")]
pub use content::{Audio, Content, EmbeddedResource, Image, ResourceLink, Text};
pub use decode::{Decode, DecodeError, Encode, Serialized};
#[cfg(feature = "schema")]
pub use discovery::{Discover, DiscoverResult};
#[cfg(feature = "schema")]
pub use elicitation::{
    AnyElicit, Elicit, ElicitAction, ElicitResult, ElicitUrl, ElicitationComplete,
};
#[cfg(feature = "schema")]
pub use errors::{MissingCapabilities, UnsupportedVersion, UrlElicitationRequired};
#[cfg(feature = "schema")]
pub use form::{
    BoolField, ChoiceField, ChoiceItems, ChoiceOption, ChoicesField, Field, Form, FormField,
    NumberField, NumberKind, TextField, TextFormat,
};
#[cfg(feature = "schema")]
pub use input::{InputRequest, InputRequired};
pub use lifecycle::{EmptyResult, Implementation, Initialize, InitializeResult, Initialized, Ping};
pub use logging::{Level, LogMessage, SetLevel};
pub use members::ExtraMembers;
pub use meta::{Meta, RelatedTask, key};
#[cfg(feature = "schema")]
pub use model_tools::{ModelApi, ModelTools};
#[cfg(feature = "schema")]
pub use notifications::{CancelledNotification, ProgressNotification};
#[cfg(feature = "schema")]
pub use prompts::{
    GetPrompt, GetPromptResult, ListPrompts, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, PromptsListChanged,
};
#[cfg(feature = "schema")]
pub use resources::{
    BlobResource, ListResourceTemplates, ListResourceTemplatesResult, ListResources,
    ListResourcesResult, ReadResource, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate, ResourceUpdated, ResourcesListChanged, Subscribe, TextResource, Unsubscribe,
};
#[cfg(feature = "schema")]
pub use roots::{ListRoots, ListRootsResult, Root, RootsListChanged};
#[cfg(feature = "schema")]
pub use sampling::{
    CreateMessage, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingBlock,
    SamplingContent, SamplingMessage, StopReason, ToolChoice, ToolChoiceMode, ToolResult, ToolUse,
};
#[cfg(feature = "schema")]
pub use subscriptions::{
    SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsListen, SubscriptionsListenResult,
};
#[cfg(feature = "schema")]
pub use tasks::{
    CancelTask, CreateTaskResult, DetailedTask, GetTask, GetTaskPayload, ListTasks,
    ListTasksResult, Task, TaskRequest, TaskStatus, UpdateTask,
};
#[cfg(feature = "schema")]
pub use tool_output::OutputError;
pub use tool_schemas::readable_input_schema;
#[cfg(feature = "schema")]
pub use tools::{
    CallTool, CallToolResult, ListTools, ListToolsResult, OutputSchema, Structured, TaskSupport,
    Tool, ToolAnnotations, ToolExecution, ToolsListChanged,
};
#[cfg(feature = "schemars")]
pub use type_schema::{ArgumentSchema, argument_schema, result_schema, without_null};

pub(crate) use uri::is_uri;
#[cfg(feature = "schema")]
pub(crate) use uri::scheme;

/// The params of a request that clients send, together with the request's method and result type.
pub trait ClientRequest: Encode {
    /// The method name on the wire.
    const METHOD: &'static str;
    /// The type of the server's result.
    type Result: Decode;
}

/// The params of a request that servers send, together with the request's method and result type.
pub trait ServerRequest: Encode {
    /// The method name on the wire.
    const METHOD: &'static str;
    /// The type of the client's result.
    type Result: Decode;

    /// Returns the request in a form that no client refuses, to be sent: the tools of a
    /// `CreateMessage` get [readable schemas](readable_input_schema).
    #[must_use]
    fn readable(self) -> Self
    where
        Self: Sized,
    {
        self
    }
}

/// The params of a notification that clients send, together with the notification's method.
pub trait ClientNotification: Encode {
    /// The method name on the wire.
    const METHOD: &'static str;
}

/// The params of a notification that servers send, together with the notification's method.
pub trait ServerNotification: Encode {
    /// The method name on the wire.
    const METHOD: &'static str;
}

#[cfg(test)]
#[cfg(feature = "schema")]
mod tests;
