//! Tools whose schemas are derived from Rust types, with the feature `schemars`.

use mcp_proto::schema::{Tool, argument_schema};
use schemars::JsonSchema;

use crate::server::handler::Handler;
use crate::server::handler::arguments::is_closed;
use crate::server::handler::tool_result::{IntoToolResult, with_output_schema};

/// Returns a tool whose input schema is derived from the type of its arguments, and its output
/// schema from the type of its results, with its handler, which
/// `handler` creates; its argument is whether the schema allows no further members.
///
/// # Errors
/// Fails, with the name of the tool and the reason, if the tool cannot be offered.
pub(super) fn derived_tool<A: JsonSchema, R: IntoToolResult>(
    name: &str,
    description: &str,
    handler: impl FnOnce(bool) -> Handler,
) -> (Result<Tool, (String, String)>, Handler) {
    let schema = match argument_schema::<A>() {
        Ok(schema) => schema,
        Err(reason) => return (Err((name.to_owned(), reason)), handler(false)),
    };
    let tool = Tool::new(name, schema.published).description(description).with_readable_schemas();
    let handler = handler(is_closed(&tool));
    let handler = match schema.nullable {
        Some(nullable) => handler.with_nullable_form(tool.input_schema.0.clone(), nullable),
        None => handler,
    };
    (Ok(with_output_schema::<R>(tool)), handler)
}
