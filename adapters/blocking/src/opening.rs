//! How a client's connection comes about: over streams, or with a child process, which can be started again; and how
//! a child is ended. Knows nothing of what is said.

use std::io::{self, Read, Write};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use mcp_proto::Limits;
use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::stdio::{Ending, Shutdown};

use crate::answering::{Handlers, Notified, Shared, ViolationHandler, notify};
use crate::child::Child;
use crate::clock::Clock;
use crate::connection::Connection;
use crate::error::Error;
use crate::link::{AfterClose, Link, Role};
use crate::listening::Feed;
use crate::pool::Pool;

/// What each connection of one client has: all but what the protocol's machine is made with.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) limits: Limits,
    pub(crate) handlers: Handlers,
    pub(crate) notified: Option<Notified>,
    pub(crate) on_violation: Option<ViolationHandler>,
    pub(crate) threads_max: usize,
}

/// What a child was started with, to start it again.
pub(crate) struct Origin {
    command: Mutex<Command>,
    recipe: Recipe,
    config: Config,
    /// What is listened to, over all connections of this origin.
    pub(crate) feeds: Mutex<Vec<Weak<Feed>>>,
}

impl Origin {
    pub(crate) fn new(command: Command, recipe: Recipe, config: Config) -> Arc<Self> {
        Arc::new(Self { command: Mutex::new(command), recipe, config, feeds: Mutex::default() })
    }

    /// Starts the child and connects to it.
    pub(crate) fn spawn(self: &Arc<Self>) -> Result<Connection, Error> {
        self.spawn_with(self.config.clone())
    }

    /// Starts the child once more; `connection` was the last one with it.
    pub(crate) fn respawn(self: &Arc<Self>, connection: &Connection) -> Result<Connection, Error> {
        self.spawn_with(self.config.clone().expect(connection.era()))
    }

    /// A server that goes away instead of saying which era it is of is not asked again. (T-36)
    fn spawn_with(self: &Arc<Self>, config: Config) -> Result<Connection, Error> {
        match self.spawn_once(config) {
            Err(Failed { fallback: Some(fallback), .. }) => self.spawn_once(*fallback),
            outcome => outcome,
        }
        .map_err(|failed| failed.error)
    }

    fn spawn_once(self: &Arc<Self>, config: Config) -> Result<Connection, Failed> {
        let mut command = self.command.lock().unwrap_or_else(PoisonError::into_inner);
        let (child, stdout, stdin) = Child::spawn(&mut command)?;
        drop(command);
        let link = self.recipe.link(config);
        // Its output may be held open by others; the connection ends all the same.
        let watching = Arc::clone(&link);
        child.watch(move || watching.end_within(Machine::LAST_INPUT))?;
        self.recipe.open(link, stdout, stdin, Some((child, Arc::clone(self))))
    }
}

/// A connection that did not come about.
struct Failed {
    error: Error,
    /// What to connect with once more.
    fallback: Option<Box<Config>>,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self { error: error.into(), fallback: None }
    }
}

impl Recipe {
    pub(crate) fn connect(
        &self,
        config: Config,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
    ) -> Result<Connection, Error> {
        let link = self.link(config);
        self.open(link, reader, writer, None).map_err(|failed| failed.error)
    }

    fn link(&self, config: Config) -> Arc<Link<Machine>> {
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), config);
        let shared = Shared {
            handlers: Arc::clone(&self.handlers),
            pool: Pool::new(self.threads_max),
            heard: self.notified.is_some().then(Condvar::new),
            on_violation: self.on_violation.clone(),
        };
        Link::new(clock, machine, shared)
    }

    fn open(
        &self,
        link: Arc<Link<Machine>>,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        child: Option<(Arc<Child>, Arc<Origin>)>,
    ) -> Result<Connection, Failed> {
        let process = child.as_ref().map(|(process, _)| Arc::clone(process));
        let started = self.start(&link, reader, writer, process.clone());
        let runner = started.inspect_err(|_| {
            link.with(|state, now| state.session.close(now));
            process.iter().for_each(|process| process.kill());
        })?;
        let opened = Arc::clone(&link);
        let connection = Connection::new(link, child, runner);
        opened.wait_until(Duration::MAX, |state| state.open.peer.is_some() || state.open.closed.is_some());
        let (closed, fallback) =
            opened.with(|state, _| (state.open.closed.clone(), state.session.fallback()));
        match closed {
            None => Ok(connection),
            Some(why) => {
                let error = connection.failed_start(why, fallback.is_some());
                Err(Failed { error, fallback: fallback.map(Box::new) })
            }
        }
    }

    /// Starts the threads of a connection, and gives the one that sees to its end.
    fn start(
        &self,
        link: &Arc<Link<Machine>>,
        reader: impl Read + Send + 'static,
        writer: impl Write + Send + 'static,
        child: Option<Arc<Child>>,
    ) -> io::Result<JoinHandle<()>> {
        if let Some(hear) = self.notified.clone() {
            let link = Arc::clone(link);
            let listen = move || {
                if let Some(heard) = &link.shared.heard {
                    notify(&link, heard, &hear);
                }
            };
            thread::Builder::new().name("mcp-notify".into()).spawn(listen)?;
        }
        let after_close = if child.is_some() { AfterClose::ReadOn } else { AfterClose::Drop };
        link.start(reader, writer, after_close)?;
        let (link, limits) = (Arc::clone(link), self.limits.clone());
        let run = move || {
            link.run();
            match &child {
                Some(child) => end_child(&link, child, &limits),
                None => link.wait_written(),
            }
        };
        thread::Builder::new().name("mcp-client".into()).spawn(run)
    }
}

/// Ends a child whose session is closed, step by step. (FRM-19)
fn end_child(link: &Arc<Link<Machine>>, child: &Child, limits: &Limits) {
    let mut shutdown = Shutdown::new(link.clock.now(), limits);
    loop {
        match shutdown.poll_step() {
            // The writer closes the child's stdin itself once all is sent.
            Some(Ending::CloseInput) | None => {}
            Some(Ending::Terminate) => child.terminate(),
            Some(Ending::Kill) => child.kill(),
        }
        let patience = match shutdown.poll_timeout() {
            Some(deadline) => link.clock.until(deadline),
            None => AFTER_KILL,
        };
        if child.wait(patience) || shutdown.poll_timeout().is_none() {
            return;
        }
        shutdown.handle_timeout(link.clock.now());
    }
}

/// How long the system may take to end a killed process.
const AFTER_KILL: Duration = Duration::from_secs(2);
