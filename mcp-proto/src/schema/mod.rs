//! MCP's own types: what they hold and how they stand in JSON; knows nothing of connections.
//!
//! Every type is **open**: members, words, content and list elements that it does not know are kept
//! or set aside, and never make the whole unreadable. What is required and missing is an error that
//! names the place. Writing is **exact**: for a peer of an older revision, what it does not know is
//! left out.
//!
//! Without the feature `schema` only what a session needs is here; everything else then travels as
//! [`Raw`](crate::Raw).
//!
//! Texts and other contents that are read share the bytes of their message, as [`Raw`](crate::Raw)
//! does: see [`Str`].
//!
//! A type's documentation says in which revisions it exists where that is not all of them.

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
mod notifications;
#[cfg(feature = "schema")]
mod prompts;
#[cfg(feature = "schema")]
mod resources;
#[cfg(feature = "schema")]
mod roots;
#[cfg(feature = "schema")]
mod sampling;
#[cfg(feature = "schema")]
mod subscriptions;
#[cfg(feature = "schema")]
mod tasks;
#[cfg(feature = "schema")]
mod tools;

pub use crate::json::{Kind, Reader, Str};
pub use capabilities::Capabilities;
pub use common::{Annotations, CacheScope, Icon, ResultType, Role, Theme};
#[cfg(feature = "schema")]
pub use completion::{
    Argument, Complete, CompleteResult, Completion, CompletionContext, PromptReference, Reference,
    ResourceReference,
};
pub use containers::{AnyObject, List, Map, Open};
#[cfg(feature = "schema")]
pub use content::{Audio, Content, EmbeddedResource, Image, ResourceLink, Text};
pub use decode::{Decode, DecodeError, Encode, Json};
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
    BoolField, ChoiceField, ChoiceOption, Choices, ChoicesField, Field, Form, NumberField,
    NumberKind, TextField, TextFormat,
};
#[cfg(feature = "schema")]
pub use input::{InputRequest, InputRequired};
pub use lifecycle::{Empty, Implementation, Initialize, InitializeResult, Initialized, Ping};
pub use logging::{Level, LogMessage, SetLevel};
pub use members::Members;
pub use meta::{Meta, RelatedTask, key};
#[cfg(feature = "schema")]
pub use notifications::{Cancelled, ProgressMade};
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
pub use subscriptions::{Listen, ListenResult, SubscriptionFilter, SubscriptionsAcknowledged};
#[cfg(feature = "schema")]
pub use tasks::{
    CancelTask, CreateTaskResult, DetailedTask, GetTask, GetTaskPayload, ListTasks,
    ListTasksResult, Task, TaskRequest, TaskStatus, UpdateTask,
};
#[cfg(feature = "schema")]
pub use tools::{
    CallTool, CallToolResult, ListTools, ListToolsResult, OutputSchema, Structured, TaskSupport,
    Tool, ToolAnnotations, ToolExecution, ToolsListChanged,
};

/// A request that clients send: ties a method to its params and its result.
pub trait ClientRequest: Encode {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// What a server answers.
    type Result: Decode;
}

/// A request that servers send: ties a method to its params and its result.
pub trait ServerRequest: Encode {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// What a client answers.
    type Result: Decode;
}

/// A notification that clients send.
pub trait ClientNotification: Encode {
    /// The method's name on the wire.
    const METHOD: &'static str;
}

/// A notification that servers send.
pub trait ServerNotification: Encode {
    /// The method's name on the wire.
    const METHOD: &'static str;
}

#[cfg(test)]
#[cfg(feature = "schema")]
mod tests;
