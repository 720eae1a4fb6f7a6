//! [`TaskService`]: the tasks of a server, as its connections see them.

use std::io;
use std::sync::Arc;

use mcp_proto::server::Server as Machine;
use mcp_proto::{Context, ErrorObject, IncomingId, Request};

use super::context::Cx;
use super::handler_error::HandlerError;
use super::round_state::RoundState;
use super::task_start::TaskStart;
use super::{Job, Resolution};
use crate::exec::pace::Pace;
use crate::tasks::Tasks;
use crate::transport::link::Link;

/// Creates the tasks of a server.
///
/// Only tools that become tasks name it, so that programs without them do not link tasks.
pub(crate) type OpenTasks = fn(&Tasks) -> io::Result<Arc<dyn TaskService>>;

type Resolve = fn(
    &Arc<Link<Machine>>,
    &Request,
    &Context,
) -> Result<(Resolution, Option<TaskStart>), ErrorObject>;

/// How handlers are found and run.
#[derive(Clone, Copy)]
pub(crate) struct TaskSteps {
    pub(crate) run_job: fn(&Arc<Link<Machine>>, Cx, Job, &Arc<Pace>),
    pub(crate) resolve: Resolve,
}

/// A call that becomes a task.
pub(crate) struct TaskCall {
    pub(crate) incoming: IncomingId,
    pub(crate) request: Request,
    pub(crate) context: Context,
    pub(crate) rounds: RoundState,
    pub(crate) start: TaskStart,
    pub(crate) job: Job,
    pub(crate) pace: Arc<Pace>,
}

/// The tasks of a server, which all its connections share.
pub(crate) trait TaskService: Send + Sync {
    /// Creates the task of a call, responds with it, and starts its handler.
    fn begin(self: Arc<Self>, link: &Arc<Link<Machine>>, steps: TaskSteps, call: TaskCall);

    /// Serves a request about tasks; returns `None` for any other.
    ///
    /// # Errors
    /// Fails if the token of the caller lacks a scope of the tool: the request is not answered.
    fn serve(
        &self,
        link: &Arc<Link<Machine>>,
        incoming: IncomingId,
        request: &Request,
        context: &Context,
    ) -> Option<Result<(), HandlerError>>;

    /// Returns the tasks of a subscription that the client has, and whose tools its token may call.
    fn accept_ids(&self, link: &Link<Machine>, request: &Request, context: &Context)
    -> Vec<String>;

    /// Forgets a request for a result that was cancelled.
    fn stop_waiting(&self, link: &Arc<Link<Machine>>, incoming: IncomingId);

    /// Deletes the tasks that only this connection could use.
    fn on_closed(&self, link: &Link<Machine>);

    /// Starts the handlers of the tasks that ran before a restart of the server.
    ///
    /// `machine` creates a connection without a client, and `connect` what handlers need of it.
    fn resume(
        self: Arc<Self>,
        steps: TaskSteps,
        machine: &dyn Fn() -> Option<Machine>,
        connect: &dyn Fn(Machine) -> Arc<Link<Machine>>,
    );
}
