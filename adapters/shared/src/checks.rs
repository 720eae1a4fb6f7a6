//! Whether what tools are given and give is checked against their schemas; knows nothing of how.

#[cfg(feature = "jsonschema")]
use std::sync::Arc;

use mcp_proto::schema::{CallToolResult, OutputSchema};

use crate::tool_error::ToolError;

#[cfg(feature = "jsonschema")]
use crate::schemas::Schemas;

/// The checks of a server: none, unless it asked for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checks {
    #[cfg(feature = "jsonschema")]
    pub(crate) schemas: Option<Arc<Schemas>>,
}

impl Checks {
    /// Gives the result back if it is what its tool promises.
    #[cfg(feature = "jsonschema")]
    pub(crate) fn result(
        &self,
        schema: Option<&OutputSchema>,
        result: CallToolResult,
    ) -> Result<CallToolResult, ToolError> {
        let wrong = match (&self.schemas, schema) {
            (Some(schemas), Some(schema)) => fits(schemas, schema, &result).err(),
            _ => None,
        };
        match wrong {
            None => Ok(result),
            // The client can do nothing about it, and is not told what was in the result.
            Some(_) => Err(ToolError::refused(mcp_proto::ErrorObject::internal(
                "the tool's result is not what its output schema promises",
            ))),
        }
    }

    #[cfg(not(feature = "jsonschema"))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as with the feature")]
    pub(crate) fn result(
        &self,
        _: Option<&OutputSchema>,
        result: CallToolResult,
    ) -> Result<CallToolResult, ToolError> {
        Ok(result)
    }
}

/// Whether a result is what an output schema promises. Failures promise nothing.
#[cfg(feature = "jsonschema")]
pub(crate) fn fits(schemas: &Schemas, schema: &OutputSchema, result: &CallToolResult) -> Result<(), String> {
    match &result.structured_content {
        _ if result.is_error => Ok(()),
        Some(content) => schemas.check(schema, content),
        None => Err("there is no structured content, which the tool's output schema promises".into()),
    }
}
