//! How a client's connection comes about: over streams, or with a child process or over HTTP, which can be once more.
//! Knows nothing of what is said, nor of any runtime.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use mcp_proto::Limits;
use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::stdio::Stdio;

use crate::answering::{Handlers, Notified, Shared, ViolationHandler, notify};
use crate::child::Child;
use crate::clock::Clock;
use crate::connection::Connection;
use crate::driving::Driving;
use crate::error::Error;
use crate::link::{Link, Transport};
use crate::listening::Feed;
use crate::tapes::Tapes;
use crate::trace::Trace;
use crate::workers::{Spawn, Threads, Workers};

/// What a runtime does for clients.
pub trait Runtime: Spawn {
    /// Drives a connection in the background, over the pipes of a child.
    ///
    /// # Errors
    /// When the pipes cannot be used, or nothing can be run.
    fn drive(&self, driving: Driving<Machine>, stdout: ChildStdout, stdin: ChildStdin) -> io::Result<()>;

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
    way: Way,
    pub(crate) recipe: Recipe,
    config: Config,
    /// What is listened to, over all connections of this origin.
    pub(crate) feeds: Mutex<Vec<Weak<Feed>>>,
}

enum Way {
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

    /// Connects.
    pub(crate) async fn connect(self: &Arc<Self>) -> Result<Connection, Error> {
        self.connect_with(self.config.clone()).await
    }

    /// Connects once more; `connection` was the last one.
    pub(crate) async fn again(self: &Arc<Self>, connection: &Connection) -> Result<Connection, Error> {
        self.connect_with(self.config.clone().expect(connection.era())).await
    }

    async fn connect_with(self: &Arc<Self>, config: Config) -> Result<Connection, Error> {
        match &self.way {
            Way::Child(command, runtime) => self.spawn_with(command, runtime, config).await,
            #[cfg(feature = "http")]
            Way::Http(remote, runtime) => crate::http::connect(self, remote, runtime, config).await,
        }
    }

    /// A server that goes away instead of saying which era it is of is not asked again. (T-36)
    async fn spawn_with(
        self: &Arc<Self>,
        command: &Mutex<Command>,
        runtime: &Arc<dyn Runtime>,
        config: Config,
    ) -> Result<Connection, Error> {
        match self.start(command, runtime, config)?.wait_or_fall_back().await {
            Err(Failed { fallback: Some(fallback), .. }) => {
                self.start(command, runtime, *fallback)?.wait().await
            }
            outcome => outcome.map_err(|failed| failed.error),
        }
    }

    fn start(
        self: &Arc<Self>,
        command: &Mutex<Command>,
        runtime: &Arc<dyn Runtime>,
        config: Config,
    ) -> io::Result<Opening> {
        let spawn = Arc::clone(runtime).as_spawn();
        let link = self.recipe.link(config, &spawn)?;
        let mut command = command.lock().unwrap_or_else(PoisonError::into_inner);
        let child = Child::spawn(&mut command).and_then(|child| child.0.watch().map(|()| child));
        drop(command);
        let (child, stdout, stdin) = child.inspect_err(|_| link.over())?;
        let driving = Driving::new(Arc::clone(&link), Some(Arc::clone(&child)), self.recipe.limits.clone());
        runtime.drive(driving, stdout, stdin)?;
        Ok(Opening(Connection::new(link, Some(child), Some(Arc::clone(self)))))
    }
}

/// A connection that has not heard of its server yet. Dropping it ends it.
#[derive(Debug)]
pub struct Opening(Connection);

/// A connection that did not come about.
struct Failed {
    error: Error,
    /// What to connect with once more.
    fallback: Option<Box<Config>>,
}

impl Opening {
    #[cfg(feature = "http")]
    pub(crate) const fn new(connection: Connection) -> Self {
        Self(connection)
    }

    /// Waits until the server has said who it is.
    ///
    /// # Errors
    /// [`Error::Start`] when it does not, or not in time.
    pub async fn wait(self) -> Result<Connection, Error> {
        self.wait_or_fall_back().await.map_err(|failed| failed.error)
    }

    async fn wait_or_fall_back(self) -> Result<Connection, Failed> {
        let Self(connection) = self;
        let link = Arc::clone(connection.link());
        let said = link.when(|state| {
            if let Some(why) = &state.open.closed {
                return Some(Err((why.clone(), state.session.fallback())));
            }
            state.open.peer.is_some().then_some(Ok(()))
        });
        match said.await {
            Ok(()) => Ok(connection),
            Err((why, fallback)) => {
                let error = connection.failed_start(why, fallback.is_some()).await;
                Err(Failed { error, fallback: fallback.map(Box::new) })
            }
        }
    }
}

impl Recipe {
    /// A connection over streams, and what is to drive it.
    pub(crate) fn open(
        &self,
        config: Config,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Opening, Driving<Machine>)> {
        let link = self.link(config, runtime)?;
        let driving = Driving::new(Arc::clone(&link), None, self.limits.clone());
        Ok((Opening(Connection::new(link, None, None)), driving))
    }

    fn link(&self, config: Config, runtime: &Arc<dyn Spawn>) -> io::Result<Arc<Link<Machine>>> {
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
        let link = Link::over_transport(clock, transport, shared, Trace::new("client", self.payloads));
        if let Some(hear) = self.notified.clone() {
            runtime.spawn(Box::pin(notify(Arc::clone(&link), hear)))?;
        }
        Ok(link)
    }
}
