//! Checks of tools against their JSON Schemas, with the `jsonschema` feature.

use std::sync::Arc;

use mcp_proto::schema::{CallToolResult, OutputSchema, Tool};
use mcp_proto::{ErrorObject, Raw};

use super::check_error::CheckError;
use super::deadline::TimedRunner;
use super::schemas::{Author, Schemas};
use super::{ResultCheck, presence_check};

/// The checks of a server: none unless [`enabled`](Self::enabled).
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolChecks {
    schemas: Option<Arc<Schemas>>,
}

impl ToolChecks {
    /// Returns checks that are on, and their schemas.
    pub(crate) fn enabled() -> (Self, Arc<Schemas>) {
        let schemas = Arc::new(Schemas::new(Author::Local));
        (Self { schemas: Some(Arc::clone(&schemas)) }, schemas)
    }

    /// Returns the check of a tool's result against its output schema, if it has one.
    pub(crate) fn result_check(
        &self,
        schema: Option<&OutputSchema>,
    ) -> Option<ResultCheck<CallToolResult>> {
        let Some(schemas) = self.schemas.clone() else { return presence_check(schema) };
        let schema = schema?.clone();
        Some(Box::new(move |result| match check_result(&schemas, &schema, &result) {
            Ok(()) => Ok(result),
            // The client cannot correct this, and must not learn what the result contained.
            Err(_) => {
                Err(ErrorObject::internal("the tool's result does not match its output schema"))
            }
        }))
    }

    /// Returns why a tool cannot be offered: the first schema that does not compile.
    // JSON-26: an unsupported dialect is refused before the server serves.
    pub(crate) fn first_invalid<'t>(
        &self,
        mut tools: impl Iterator<Item = &'t Tool>,
    ) -> Option<String> {
        let schemas = self.schemas.as_ref()?;
        tools.find_map(|tool| {
            let output = tool.output_schema.as_ref().map(|schema| &schema.0);
            let mut all = std::iter::once(&*tool.input_schema).chain(output);
            let error = all.find_map(|schema| schemas.compile(schema).err())?;
            Some(format!("the tool `{}` cannot be offered: {error}", tool.name))
        })
    }
}

/// Checks the results of a server's tools, whose schemas the server wrote.
pub(crate) struct ResultValidator {
    schemas: Arc<Schemas>,
    runner: TimedRunner,
}

impl ResultValidator {
    pub(crate) fn new() -> Self {
        Self { schemas: Arc::new(Schemas::new(Author::Peer)), runner: TimedRunner::default() }
    }

    /// Checks a result against the tool's output schema, if it has one.
    // JSON-28: the deadline holds even if the estimate of the cost is wrong.
    pub(crate) fn check(&self, tool: &Tool, result: &CallToolResult) -> Result<(), CheckError> {
        let Some(schema) = &tool.output_schema else { return Ok(()) };
        let Some(content) = content_to_check(result)? else { return Ok(()) };
        let (schemas, schema) = (Arc::clone(&self.schemas), schema.clone());
        let content = content.clone();
        let outcome = self.runner.run(move || schemas.check(&schema, &content));
        outcome.map_err(CheckError::TooCostly)?
    }
}

/// Checks a result against an output schema. A result that is an error always passes.
fn check_result(
    schemas: &Schemas,
    schema: &OutputSchema,
    result: &CallToolResult,
) -> Result<(), CheckError> {
    match content_to_check(result)? {
        Some(content) => schemas.check(schema, content),
        None => Ok(()),
    }
}

/// Returns the structured content of a result; `None` if the result is an error.
fn content_to_check(result: &CallToolResult) -> Result<Option<&Raw>, CheckError> {
    match &result.structured_content {
        _ if result.is_error => Ok(None),
        Some(content) => Ok(Some(content)),
        None => Err(CheckError::Mismatch(
            "no structured content, although the output schema requires it".into(),
        )),
    }
}
