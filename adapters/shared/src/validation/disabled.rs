//! Checks of tools without the feature `jsonschema`: whether structured content is present.

use mcp_proto::schema::{CallToolResult, OutputSchema, Tool};

use super::{ResultCheck, presence_check};

/// Checks only whether results have structured content.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolChecks {}

#[allow(clippy::unused_self, reason = "shared signatures with the feature")]
impl ToolChecks {
    pub(crate) fn result_check(
        &self,
        schema: Option<&OutputSchema>,
    ) -> Option<ResultCheck<CallToolResult>> {
        presence_check(schema)
    }

    pub(crate) fn first_invalid<'t>(&self, _: impl Iterator<Item = &'t Tool>) -> Option<String> {
        None
    }
}

/// Checks nothing.
pub(crate) struct ResultValidator;

impl ResultValidator {
    pub(crate) const fn new() -> Self {
        Self
    }
}
