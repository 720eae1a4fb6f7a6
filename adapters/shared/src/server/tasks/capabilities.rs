//! Declares tasks to clients: the capabilities of 2025-11-25, and the extension.

use mcp_proto::schema::Capabilities;
use mcp_proto::server::Config;
use mcp_proto::{Capability, Extension, ExtensionError, ExtensionMethod, Revision, Side};

/// The identifier of the extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Its listen key.
pub(crate) const LISTEN_KEY: &str = "taskIds";

/// Declares tasks.
///
/// # Errors
/// Fails if the application declares an extension that contradicts the one of tasks.
// TSK-01, TSK-23: what is declared to clients. TSK-35: requests of other clients are refused.
pub(crate) fn declare(
    config: Config,
    capabilities: Capabilities,
) -> Result<(Config, Capabilities), ExtensionError> {
    let capabilities = CAPABILITIES.into_iter().fold(capabilities, Capabilities::with);
    let request = |name| ExtensionMethod::request(Side::Client, name).named_by("taskId");
    let extension = Extension::new(EXTENSION)
        .revisions(Revision::V2026_07_28..=Revision::V2026_07_28)
        .method(request("tasks/get"))
        .method(request("tasks/update"))
        .method(request("tasks/cancel"))
        .method(ExtensionMethod::notification(Side::Server, "notifications/tasks"))
        .result_type("tools/call", "task")
        .listen_key(LISTEN_KEY);
    Ok((config.extension(extension)?, capabilities))
}

const CAPABILITIES: [Capability; 4] =
    [Capability::Tasks, Capability::TasksCancel, Capability::TasksList, Capability::TasksToolsCall];
