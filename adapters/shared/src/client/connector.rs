//! Everything needed to connect, and to connect again: the configuration of a client, the server
//! and the runtime.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::{Arc, Mutex, Weak};

use mcp_proto::Limits;
use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::stdio::Stdio;

use crate::client::events::{Handlers, Notified, Shared, ViolationHandler, notify};
use crate::client::listening::Feed;
use crate::exec::clock::Clock;
use crate::exec::workers::{Spawn, Threads, Workers};
use crate::recorder::Tapes;
use crate::trace::Trace;
use crate::transport::link::{Link, Transport};
use crate::transport::shutdown::Driving;

/// What a runtime does for clients.
pub trait Runtime: Spawn {
    /// Drives a connection in the background, over the pipes of a child.
    ///
    /// # Errors
    /// When the pipes cannot be used, or nothing can be run.
    fn drive(
        &self,
        driving: Driving<Machine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()>;

    /// The same as what futures are run by.
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}

/// What each connection of one client has: all but what the protocol's machine is made with.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) limits: Limits,
    pub(crate) handlers: Handlers,
    pub(crate) notified: Option<Notified>,
    pub(crate) on_violation: Option<ViolationHandler>,
    pub(crate) threads: Threads,
    /// `tracing` is told what is said.
    pub(crate) payloads: bool,
    pub(crate) tapes: Tapes,
}

/// What a connection came about with, for once more.
pub(crate) struct Origin {
    pub(crate) way: Way,
    pub(crate) recipe: Recipe,
    pub(crate) config: Config,
    /// What is listened to, over all connections of this origin.
    pub(crate) feeds: Mutex<Vec<Weak<Feed>>>,
}

/// Everything that is specific to the transport.
pub(crate) enum Way {
    Child(Box<Mutex<Command>>, Arc<dyn Runtime>),
    #[cfg(feature = "http")]
    Http(Box<crate::http::Remote>, Arc<dyn crate::http::Dial>),
}

impl Origin {
    pub(crate) fn of_child(
        command: Command,
        recipe: Recipe,
        config: Config,
        runtime: Arc<dyn Runtime>,
    ) -> Arc<Self> {
        let way = Way::Child(Box::new(Mutex::new(command)), runtime);
        Arc::new(Self { way, recipe, config, feeds: Mutex::default() })
    }

    #[cfg(feature = "http")]
    pub(crate) fn of_remote(
        remote: crate::http::Remote,
        recipe: Recipe,
        config: Config,
        runtime: Arc<dyn crate::http::Dial>,
    ) -> Arc<Self> {
        let way = Way::Http(Box::new(remote), runtime);
        Arc::new(Self { way, recipe, config, feeds: Mutex::default() })
    }
}

impl Recipe {
    /// A connection over a byte stream.
    pub(crate) fn link(
        &self,
        config: Config,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<Arc<Link<Machine>>> {
        let clock = Clock::new();
        let began = clock.now();
        let transport = self.tapes.carry(Stdio::new(Machine::new(began, config)), began);
        self.link_over(clock, transport, runtime)
    }

    /// A connection over anything.
    pub(crate) fn link_over(
        &self,
        clock: Clock,
        transport: Transport<Machine>,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<Arc<Link<Machine>>> {
        let shared = Shared {
            handlers: Arc::clone(&self.handlers),
            workers: Workers::new(Arc::clone(&self.threads), Arc::clone(runtime)),
            is_heard: self.notified.is_some(),
            on_violation: self.on_violation.clone(),
        };
        let link =
            Link::over_transport(clock, transport, shared, Trace::new("client", self.payloads));
        if let Some(hear) = self.notified.clone() {
            runtime.spawn(Box::pin(notify(Arc::clone(&link), hear)))?;
        }
        Ok(link)
    }
}
