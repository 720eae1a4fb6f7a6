//! Whether what tools are given and give is checked against their schemas; knows nothing of how.

#[cfg(feature = "jsonschema")]
pub(crate) mod schemas;

#[cfg(feature = "jsonschema")]
use std::sync::Arc;

use mcp_proto::schema::{CallToolResult, OutputSchema};

use crate::server::handler::tool_error::ToolError;

#[cfg(feature = "jsonschema")]
use crate::validation::schemas::Schemas;

/// The checks of a server: none, unless it asked for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    #[cfg(feature = "jsonschema")]
    pub(crate) schemas: Option<Arc<Schemas>>,
}

/// What is left to do with a result once its handler is done: to give it back if it is what was
/// promised.
pub(crate) type Then<R> = Option<Box<dyn FnOnce(R) -> Result<R, ToolError> + Send>>;

impl Checks {
    /// What is left to do with what a tool answers: nothing, where nothing is promised.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn of(&self, schema: Option<&OutputSchema>) -> Then<CallToolResult> {
        let (schemas, schema) = (self.schemas.clone()?, schema?.clone());
        Some(Box::new(move |result| match fits(&schemas, &schema, &result) {
            Ok(()) => Ok(result),
            // The client can do nothing about it, and is not told what was in the result.
            Err(_) => Err(ToolError::refused(mcp_proto::ErrorObject::internal(
                "the tool's result is not what its output schema promises",
            ))),
        }))
    }

    #[cfg(not(feature = "jsonschema"))]
    #[allow(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn of(&self, _: Option<&OutputSchema>) -> Then<CallToolResult> {
        None
    }
}

/// Whether a result is what an output schema promises. Failures promise nothing.
#[cfg(feature = "jsonschema")]
pub(crate) fn fits(
    schemas: &Schemas,
    schema: &OutputSchema,
    result: &CallToolResult,
) -> Result<(), String> {
    match &result.structured_content {
        _ if result.is_error => Ok(()),
        Some(content) => schemas.check(schema, content),
        None => {
            Err("there is no structured content, which the tool's output schema promises".into())
        }
    }
}
