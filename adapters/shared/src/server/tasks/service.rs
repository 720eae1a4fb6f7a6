//! The tasks of a server, as its connections see them.

use std::sync::Arc;

use mcp_proto::server::Server as Machine;
use mcp_proto::{Context, IncomingId, Request};

use super::begin::begin;
use super::requests::{accept_task_ids, serve_task_request};
use super::resume::resume;
use super::table::ServerTasks;
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::task_service::{TaskCall, TaskService, TaskSteps};
use crate::transport::link::Link;

impl TaskService for ServerTasks {
    fn begin(self: Arc<Self>, link: &Arc<Link<Machine>>, steps: TaskSteps, call: TaskCall) {
        begin(link, &self, steps, call);
    }

    fn serve(
        &self,
        link: &Arc<Link<Machine>>,
        incoming: IncomingId,
        request: &Request,
        context: &Context,
    ) -> Option<Result<(), HandlerError>> {
        serve_task_request(link, self, incoming, request, context)
    }

    fn accept_ids(
        &self,
        link: &Link<Machine>,
        request: &Request,
        context: &Context,
    ) -> Vec<String> {
        accept_task_ids(link, self, request, context)
    }

    fn stop_waiting(&self, link: &Arc<Link<Machine>>, incoming: IncomingId) {
        self.cancel_wait(link, incoming);
    }

    fn on_closed(&self, link: &Link<Machine>) {
        self.close_connection(link);
    }

    fn resume(
        self: Arc<Self>,
        steps: TaskSteps,
        machine: &dyn Fn() -> Option<Machine>,
        connect: &dyn Fn(Machine) -> Arc<Link<Machine>>,
    ) {
        resume(&self, steps, machine, connect);
    }
}
