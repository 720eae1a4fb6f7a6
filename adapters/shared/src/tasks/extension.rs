//! The tasks extension of the protocol.

use mcp_proto::{Extension, ExtensionMethod, Revision, Side};

/// The identifier of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Its listen key.
pub(crate) const LISTEN_KEY: &str = "taskIds";

/// Returns the tasks extension, as servers and clients declare it.
// TSK-23, TSK-36: HTTP requests repeat the id in `Mcp-Name`.
pub(crate) fn extension() -> Extension {
    let request = |name| ExtensionMethod::request(Side::Client, name).named_by("taskId");
    Extension::new(EXTENSION)
        .revisions(Revision::V2026_07_28..=Revision::V2026_07_28)
        .method(request("tasks/get"))
        .method(request("tasks/update"))
        .method(request("tasks/cancel"))
        .method(ExtensionMethod::notification(Side::Server, "notifications/tasks"))
        .result_type("tools/call", "task")
        .listen_key(LISTEN_KEY)
}
