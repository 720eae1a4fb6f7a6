//! The check of the `Mcp-Param-*` headers, which repeat arguments of a tool call over HTTP.

use mcp_proto::catalog::CatalogEntry;
use mcp_proto::{Context, Era, ErrorObject, Raw};

use crate::server::handler::required_scopes::http_sender;

/// Checks the headers of a call of a registered tool.
pub(in crate::server) fn check_entry_headers(
    entry: CatalogEntry<'_>,
    params: Option<&Raw>,
    context: &Context,
) -> Result<(), ErrorObject> {
    let CatalogEntry::Tool(tool) = entry else { return Ok(()) };
    let arguments = || params?.member("arguments");
    check_headers(context, &arguments, || Some(tool.input_schema.0.clone()))
}

/// Checks the headers of a tool call, if the tool has a schema.
// HTTP-50: header and body agree.
pub(in crate::server) fn check_headers(
    context: &Context,
    arguments: &dyn Fn() -> Option<Raw>,
    schema: impl FnOnce() -> Option<Raw>,
) -> Result<(), ErrorObject> {
    if context.peer.revision.era() == Era::Legacy {
        return Ok(());
    }
    let Some(sender) = http_sender(context.caller.as_deref()) else { return Ok(()) };
    schema().map_or(Ok(()), |schema| sender.check_params(&schema, arguments))
}
