//! How both sides of a world of tasks are configured.

use std::sync::Arc;

use mcp_proto::server::{Config, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    Caller, Capability, Extension, ExtensionMethod, Instant, Principal, Revision, Side,
};

/// Returns the principal of a client.
pub(super) fn principal(client: usize) -> Principal {
    Principal::new(["ada", "bob"][client]).unwrap_or_else(|| panic!("an empty principal"))
}

/// Returns a server that is about to accept a client.
pub(super) fn accept(now: Instant, revision: Revision, client: usize) -> Stdio<Server> {
    let config = Config::new("s", "1").revisions(&[revision]);
    let capabilities = [
        Capability::Tools,
        Capability::Tasks,
        Capability::TasksCancel,
        Capability::TasksList,
        Capability::TasksToolsCall,
    ];
    let config = capabilities.into_iter().fold(config, Config::capability);
    let config = config.clone().extension(tasks_extension()).unwrap_or(config);
    let mut server = Stdio::new(Server::new(now, config));
    server.set_caller(Arc::new(Caller::new().with_principal(principal(client))));
    server
}

/// Returns the tasks extension.
pub(super) fn tasks_extension() -> Extension {
    let request = |name| ExtensionMethod::request(Side::Client, name).named_by("taskId");
    Extension::new("io.modelcontextprotocol/tasks")
        .revisions(Revision::V2026_07_28..=Revision::V2026_07_28)
        .method(request("tasks/get"))
        .method(request("tasks/update"))
        .method(request("tasks/cancel"))
        .method(ExtensionMethod::notification(Side::Server, "notifications/tasks"))
        .result_type("tools/call", "task")
        .listen_key("taskIds")
}
