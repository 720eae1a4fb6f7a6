//! MCP's own types: what they hold and how they stand in JSON; knows nothing of connections.

mod capabilities;
mod content;
mod decode;
mod elicitation;
mod lifecycle;
mod logging;
#[cfg(test)]
mod tests;
mod tools;

pub use capabilities::Capabilities;
pub use content::Content;
pub use decode::{Decode, DecodeError, Encode, Json};
pub use elicitation::{Elicit, ElicitAction, ElicitResult};
pub use lifecycle::{Empty, Implementation, Ping};
pub(crate) use lifecycle::{InitializeParams, InitializeResult};
pub use logging::{Level, SetLevel};
pub use tools::{CallTool, CallToolResult, ListTools, ListToolsResult, Tool};

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
