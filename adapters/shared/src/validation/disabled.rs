//! Checks of tools without the `jsonschema` feature: none.

use mcp_proto::schema::{CallToolResult, OutputSchema, Tool};

use super::ResultCheck;

/// Checks nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolChecks;

#[allow(clippy::unused_self, reason = "shared signatures with the feature")]
impl ToolChecks {
    pub(crate) fn result_check(
        &self,
        _: Option<&OutputSchema>,
    ) -> Option<ResultCheck<CallToolResult>> {
        None
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
