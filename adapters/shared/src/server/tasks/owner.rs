//! The owner of a task, and the account whose limits it counts for.

use std::hash::BuildHasher as _;

use mcp_proto::server::Server as Machine;
use mcp_proto::tasks::TaskProtocol;
use mcp_proto::{Context, Principal};

use super::table::{CONNECTION, ServerTasks};
use crate::server::handler::required_scopes::http_sender;
use crate::transport::link::Link;

impl ServerTasks {
    /// Returns who owns the tasks of a request.
    ///
    /// Clients without authentication are distinguished by their connection, where that outlives a
    /// request, except the only client of a process: the one on stdin and stdout. The others know
    /// their tasks by unguessable ids.
    // TSK-21, TSK-38.
    pub(super) fn owner(
        &self,
        link: &Link<Machine>,
        context: &Context,
        protocol: TaskProtocol,
    ) -> Option<Principal> {
        let of_connection = || match protocol {
            TaskProtocol::Core => self.connection(link),
            TaskProtocol::Extension => None,
        };
        context.principal().cloned().or_else(of_connection)
    }

    /// Returns the identity of a connection; `None` for the one on stdin and stdout.
    fn connection(&self, link: &Link<Machine>) -> Option<Principal> {
        if link.is_over_standard_streams() {
            return None;
        }
        let connection = format!("{:x}-{}", self.process, link.shared.workers.id());
        Principal::of_issuer(CONNECTION, &connection)
    }

    /// Returns where a client comes from that is not authenticated: its network, or its connection.
    /// `None` for others, and for the client on stdin and stdout.
    ///
    /// Clients without a known address are distinguished by their session. Without sessions, they
    /// all have one share: a connection then serves a single request.
    // SEC-19: a client that opens many connections has one share.
    pub(super) fn source(&self, link: &Link<Machine>, context: &Context) -> Option<u64> {
        if context.principal().is_some() || link.is_over_standard_streams() {
            return None;
        }
        if let Some(sender) = http_sender(context.caller.as_deref())
            && (sender.lane().is_some() || link.lock().connection.session_id().is_none())
        {
            return Some(self.sources.hash_one((true, sender.lane().unwrap_or_default())));
        }
        Some(self.sources.hash_one((false, link.shared.workers.id())))
    }

    /// Deletes the tasks that only this connection could use.
    pub(super) fn close_connection(&self, link: &Link<Machine>) {
        let revision = link.inspect(|state| state.connection.peer().map(|peer| peer.revision));
        if revision.and_then(TaskProtocol::of) == Some(TaskProtocol::Core)
            && let Some(connection) = self.connection(link)
        {
            self.with(|state, _| state.table.abandon(&connection));
        }
    }
}
