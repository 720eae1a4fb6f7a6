//! Servers as child processes: starts them and connects to their streams.

use std::io;
use std::process::{ChildStdin, ChildStdout, Command};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::client::{Client as Machine, Config};

use super::stderr::{self, StderrHandler};
use crate::box_future::BoxFuture;
use crate::client::connect::{Connecting, FailedStart};
use crate::client::connection::Connection;
use crate::client::connector::{ConnectionConfig, Opened, Target};
use crate::error::Error;
use crate::exec::clock::Clock;
use crate::exec::workers::Spawn;
use crate::process::child::Child;
use crate::process::pipe_size;
use crate::transport::shutdown::DriverHandle;

/// The runtime operations that a client needs to connect to child processes.
pub trait DriveChild: Spawn {
    /// Starts a background task that reads `stdout`, writes `stdin` and runs the connection's
    /// timers.
    ///
    /// # Errors
    /// Fails if the pipes cannot be registered with the runtime, or if the task cannot be started.
    fn drive_child(
        &self,
        driving: DriverHandle<Machine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()>;
}

/// A server that is started for each connection.
pub(super) struct ChildServer {
    pub(super) command: Mutex<Command>,
    pub(super) runtime: Arc<dyn DriveChild>,
    pub(super) pipe_bytes: Option<usize>,
    pub(super) on_stderr: Option<StderrHandler>,
}

impl Target for ChildServer {
    fn open<'t>(
        &'t self,
        connection: &'t ConnectionConfig,
        machine: Config,
    ) -> BoxFuture<'t, Result<Opened, Error>> {
        Box::pin(async move { Ok(self.spawn(connection, machine).await?.into_parts()) })
    }

    fn runtime(&self) -> Arc<dyn Spawn> {
        Arc::clone(&self.runtime) as _
    }
}

impl ChildServer {
    // T-36: a server that exits instead of answering `server/discover` is started again without it.
    async fn spawn(
        &self,
        connection: &ConnectionConfig,
        machine: Config,
    ) -> Result<Connection, Error> {
        match self.start(connection, machine)?.wait_or_fall_back().await {
            Err(FailedStart { fallback: Some(fallback), .. }) => {
                let opened = self.start(connection, *fallback)?.wait_or_fall_back().await;
                opened.map_err(|failed| failed.error)
            }
            outcome => outcome.map_err(|failed| failed.error),
        }
    }

    fn start(&self, connection: &ConnectionConfig, machine: Config) -> io::Result<Connecting> {
        let link = connection.link(Clock::new(), machine, &self.runtime());
        let on_stderr = self.on_stderr.clone();
        let mut command = self.command.lock().unwrap_or_else(PoisonError::into_inner);
        let child = Child::spawn(&mut command, on_stderr.map(|it| stderr::sink(&link, it)))
            .and_then(|child| child.0.watch().map(|()| child));
        drop(command);
        let (child, stdout, stdin) = child.inspect_err(|_| link.abandon())?;
        if let Some(bytes) = self.pipe_bytes {
            pipe_size::enlarge_child_pipes(&stdout, &stdin, bytes);
        }
        let limits = connection.limits.clone();
        let driving = DriverHandle::new(Arc::clone(&link), Some(Arc::clone(&child)), limits);
        self.runtime.drive_child(driving, stdout, stdin)?;
        Ok(Connecting(Connection::new(link, Some(child), None)))
    }
}
