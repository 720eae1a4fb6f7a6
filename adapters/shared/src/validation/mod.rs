//! Optional checks of the arguments and results of tools against their JSON Schemas.

#[cfg(not(feature = "jsonschema"))]
mod disabled;
#[cfg(feature = "jsonschema")]
mod enabled;
#[cfg(feature = "jsonschema")]
mod schemas;

use crate::server::handler::tool_error::ToolError;

#[cfg(not(feature = "jsonschema"))]
pub(crate) use disabled::{ResultValidator, ToolChecks};
#[cfg(feature = "jsonschema")]
pub(crate) use enabled::{ResultValidator, ToolChecks};

/// Returns a handler's result, or the error that replaces it.
pub(crate) type ResultCheck<R> = Box<dyn FnOnce(R) -> Result<R, ToolError> + Send>;
