//! Optional checks of the arguments and results of tools against their JSON Schemas.

#[cfg(feature = "jsonschema")]
mod check_error;
#[cfg(feature = "jsonschema")]
mod deadline;
#[cfg(not(feature = "jsonschema"))]
mod disabled;
#[cfg(feature = "jsonschema")]
mod enabled;
#[cfg(feature = "jsonschema")]
mod schemas;

use mcp_proto::ErrorObject;
use mcp_proto::schema::{CallToolResult, OutputSchema};

#[cfg(feature = "jsonschema")]
pub use check_error::CheckError;
#[cfg(not(feature = "jsonschema"))]
pub(crate) use disabled::{ResultValidator, ToolChecks};
#[cfg(feature = "jsonschema")]
pub(crate) use enabled::{ResultValidator, ToolChecks};
#[cfg(feature = "jsonschema")]
pub(crate) use schemas::Schemas;

// SEC-05: an output schema requires structured content.
/// Returns the check that a result has structured content, for a tool with an output schema.
fn presence_check(schema: Option<&OutputSchema>) -> Option<ResultCheck<CallToolResult>> {
    schema?;
    Some(Box::new(|result| {
        if result.is_error || result.structured_content.is_some() {
            return Ok(result);
        }
        let error = "the tool's result lacks the structured content of its output schema";
        Err(ErrorObject::internal(error))
    }))
}

/// Returns a handler's result, or the error that replaces it.
pub(crate) type ResultCheck<R> = Box<dyn FnOnce(R) -> Result<R, ErrorObject> + Send>;
