//! MCP's own types: what they hold and how they stand in JSON; knows nothing of connections.
//!
//! Every type is **open**: members, words, content and list elements that it does not know are kept or set aside, and
//! never make the whole unreadable. What is required and missing is an error that names the place. Writing is **exact**:
//! for a peer of an older revision, what it does not know is left out.
//!
//! A type's documentation says in which revisions it exists where that is not all of them.

mod capabilities;
mod common;
mod content;
pub(crate) mod decode;
mod elicitation;
mod lifecycle;
mod logging;
pub(crate) mod macros;
mod meta;
mod open;
mod resources;
mod tasks;
mod tools;

pub use crate::json::{Kind, Reader};
pub use capabilities::Capabilities;
pub use common::{Annotations, CacheScope, Icon, ResultType, Role, Theme};
pub use content::{Audio, Content, EmbeddedResource, Image, ResourceLink, Text};
pub use decode::{Decode, DecodeError, Encode, Json};
pub use elicitation::{Elicit, ElicitAction, ElicitResult};
pub use lifecycle::{Empty, Implementation, Initialize, InitializeResult, Initialized, Ping};
pub use logging::{Level, LogMessage, SetLevel};
pub use meta::{Meta, RelatedTask, key};
pub use open::{AnyObject, List, Members, Open};
pub use resources::{
    BlobResource, ListResourceTemplates, ListResourceTemplatesResult, ListResources, ListResourcesResult,
    ReadResource, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ResourceUpdated,
    ResourcesListChanged, Subscribe, TextResource, Unsubscribe,
};
pub use tasks::TaskRequest;
pub use tools::{
    CallTool, CallToolResult, ListTools, ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution,
    ToolsListChanged,
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
