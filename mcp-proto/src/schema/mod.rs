//! MCP's own types: what they hold and how they stand in JSON; knows nothing of connections.
//!
//! Every type is **open**: members, words, content and list elements that it does not know are kept or set aside, and
//! never make the whole unreadable. What is required and missing is an error that names the place. Writing is **exact**:
//! for a peer of an older revision, what it does not know is left out.
//!
//! A type's documentation says in which revisions it exists where that is not all of them.

mod capabilities;
mod common;
mod completion;
mod content;
pub(crate) mod decode;
mod discovery;
mod elicitation;
mod errors;
mod form;
mod input;
mod lifecycle;
mod logging;
pub(crate) mod macros;
mod meta;
mod notices;
mod open;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod subscriptions;
mod tasks;
mod tools;

pub use crate::json::{Kind, Reader};
pub use capabilities::Capabilities;
pub use common::{Annotations, CacheScope, Icon, ResultType, Role, Theme};
pub use completion::{
    Argument, Complete, CompleteResult, Completion, CompletionContext, PromptReference, Reference,
    ResourceReference,
};
pub use content::{Audio, Content, EmbeddedResource, Image, ResourceLink, Text};
pub use decode::{Decode, DecodeError, Encode, Json};
pub use discovery::{Discover, DiscoverResult};
pub use elicitation::{AnyElicit, Elicit, ElicitAction, ElicitResult, ElicitUrl, ElicitationComplete};
pub use errors::{MissingCapabilities, UnsupportedVersion, UrlElicitationRequired};
pub use form::{
    BoolField, ChoiceField, ChoiceOption, Choices, ChoicesField, Field, Form, NumberField, NumberKind,
    TextField, TextFormat,
};
pub use input::{InputRequest, InputRequired};
pub use lifecycle::{Empty, Implementation, Initialize, InitializeResult, Initialized, Ping};
pub use logging::{Level, LogMessage, SetLevel};
pub use meta::{Meta, RelatedTask, key};
pub use notices::{Cancelled, ProgressMade};
pub use open::{AnyObject, List, Map, Members, Open};
pub use prompts::{
    GetPrompt, GetPromptResult, ListPrompts, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
    PromptsListChanged,
};
pub use resources::{
    BlobResource, ListResourceTemplates, ListResourceTemplatesResult, ListResources, ListResourcesResult,
    ReadResource, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ResourceUpdated,
    ResourcesListChanged, Subscribe, TextResource, Unsubscribe,
};
pub use roots::{ListRoots, ListRootsResult, Root, RootsListChanged};
pub use sampling::{
    CreateMessage, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingBlock,
    SamplingContent, SamplingMessage, StopReason, ToolChoice, ToolChoiceMode, ToolResult, ToolUse,
};
pub use subscriptions::{Listen, ListenResult, SubscriptionFilter, SubscriptionsAcknowledged};
pub use tasks::{
    CancelTask, CreateTaskResult, DetailedTask, GetTask, GetTaskPayload, ListTasks, ListTasksResult, Task,
    TaskRequest, TaskStatus, UpdateTask,
};
pub use tools::{
    CallTool, CallToolResult, ListTools, ListToolsResult, Structured, TaskSupport, Tool, ToolAnnotations,
    ToolExecution, ToolsListChanged,
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
mod tests;
