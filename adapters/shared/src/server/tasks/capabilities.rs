//! Declares tasks to clients: the capabilities of 2025-11-25, and the extension.

use mcp_proto::schema::Capabilities;
use mcp_proto::server::Config;
use mcp_proto::{Capability, ExtensionError};

use crate::tasks::extension;

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
    Ok((config.extension(extension())?, capabilities))
}

const CAPABILITIES: [Capability; 4] =
    [Capability::Tasks, Capability::TasksCancel, Capability::TasksList, Capability::TasksToolsCall];
