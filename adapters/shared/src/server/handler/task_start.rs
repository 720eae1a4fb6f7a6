//! [`TaskStart`]: which calls become tasks.

use mcp_proto::catalog::Resolved;
use mcp_proto::tasks::{NewTask, TaskProtocol};
use mcp_proto::{Context, ErrorObject, Request};

use crate::server::handler::{EntryHandler, scopes_of};
use crate::tasks::EXTENSION;

/// The settings of a task that a call becomes.
pub(crate) struct TaskStart {
    pub(crate) protocol: TaskProtocol,
    pub(crate) new: NewTask,
    /// How often its handler may be started again.
    pub(crate) restarts_max: u32,
}

/// Returns whether a call becomes a task.
///
/// # Errors
/// Fails if the form of the call contradicts the policy of the tool.
pub(crate) fn task_start(
    found: &Resolved<'_, EntryHandler>,
    request: &Request,
    context: &Context,
) -> Result<Option<TaskStart>, ErrorObject> {
    let Resolved::Tool { handler: EntryHandler::Tool(handler), .. } = found else {
        return Ok(None);
    };
    let Some(protocol) = TaskProtocol::of(context.peer.revision) else { return Ok(None) };
    let policy = handler.task_policy();
    let asked = request.params.as_ref().and_then(|params| params.member("task"));
    let is_later_round = context.state.is_some() || context.input_responses.is_some();
    let becomes_task = match (protocol, policy) {
        // TSK-04, TSK-05: the form of a call follows `taskSupport`.
        (TaskProtocol::Core, None) if asked.is_some() => {
            return Err(contradiction("the tool cannot be called as a task"));
        }
        (TaskProtocol::Core, Some(policy)) if policy.is_required && asked.is_none() => {
            return Err(contradiction("the tool can only be called as a task"));
        }
        (TaskProtocol::Core, _) => asked.is_some(),
        (TaskProtocol::Extension, None) => false,
        // TSK-24, TSK-25.
        (TaskProtocol::Extension, Some(policy)) => {
            let is_shared = context.peer.extension(EXTENSION).is_some();
            if policy.is_required && !is_shared {
                return Err(ErrorObject::missing_extension(EXTENSION));
            }
            is_shared && (!policy.asks_first || is_later_round)
        }
    };
    Ok(policy.filter(|_| becomes_task).map(|policy| {
        let ttl = asked.and_then(|task| task.member("ttl")).and_then(|ttl| ttl.parse().ok());
        let new = NewTask {
            requested_ttl_ms: ttl,
            poll_interval: policy.poll_interval,
            // PRG-11: until the task is over.
            progress_token: context.progress_token(),
            // AUT-24: only callers who may call the tool may read the result.
            scopes: scopes_of(found).map(|scopes| scopes.get().to_vec()).unwrap_or_default(),
            ..NewTask::default()
        };
        TaskStart { protocol, new, restarts_max: policy.restarts_max }
    }))
}

fn contradiction(why: &str) -> ErrorObject {
    ErrorObject::new(mcp_proto::code::METHOD_NOT_FOUND, why)
}
