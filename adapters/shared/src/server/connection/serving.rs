//! The connection of a server as an adapter serves it, and its outcome.

use std::io;
use std::sync::Arc;

use mcp_proto::server::Server as Machine;
use mcp_proto::{CloseReason, Principal};

use crate::process::host::Host;
use crate::process::settings::StdioSettings;
use crate::server::handler::context::HandlerLink;
use crate::transport::link::Link;

/// The connection of a server to one client.
///
/// An adapter drives the connection: the adapter reads, writes and runs the timers.
#[derive(Debug)]
pub struct Serving {
    pub(crate) link: Arc<Link<Machine>>,
    /// Keeps the subscription to [`Changes`] and to signals, which end with this value.
    #[expect(clippy::redundant_allocation, reason = "the link may outlive the subscription")]
    pub(crate) subscription: Arc<Arc<Link<Machine>>>,
    pub(crate) process: StdioSettings,
    /// The program that uses the server. Shared with the driver, which watches it.
    pub(crate) host: Arc<Host>,
}

impl Serving {
    /// All requests of the connection come from `principal`.
    pub(crate) fn new(link: Arc<Link<Machine>>, principal: Option<Principal>) -> Self {
        let subscription = Arc::new(Arc::clone(&link));
        let joined: Arc<dyn HandlerLink> = Arc::clone(&subscription) as _;
        link.shared.changes.join(&joined, principal);
        Self { link, subscription, process: StdioSettings::default(), host: Arc::default() }
    }

    /// Sets what a server on stdin and stdout does to its process.
    pub(in crate::server) const fn process(mut self, settings: StdioSettings) -> Self {
        self.process = settings;
        self
    }

    /// Returns the host, which the driver must watch.
    pub(in crate::server) fn host(&self) -> Arc<Host> {
        Arc::clone(&self.host)
    }

    /// Returns the outcome of the connection. Call this after its driver has finished.
    ///
    /// If the parent process was watched and has exited, this method first asks the processes that
    /// this process has started to terminate (on Linux and Android).
    ///
    /// # Errors
    /// Fails if the connection was closed because of a protocol fault, or because reading or
    /// writing failed for a reason other than the client's disconnection.
    pub fn outcome(self) -> io::Result<()> {
        if let Some(parent) = self.host.parent.get() {
            parent.terminate_children_if_exited();
        }
        match self.link.inspect(|state| state.connection.close_reason().cloned()) {
            Some(CloseReason::Fault(fault)) => Err(io::Error::other(fault)),
            Some(CloseReason::Local | CloseReason::Peer) | None => {
                self.link.take_stream_error().map_or(Ok(()), Err)
            }
        }
    }
}
