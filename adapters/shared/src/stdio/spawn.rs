//! Servers as child processes, and their environment.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::Limits;

use super::child_server::{ChildServer, DriveChild};
use super::stderr::StderrHandler;
use crate::client::connection::Connection;
use crate::client::connector::Connector;
use crate::client::context::ClientCx;
use crate::client::settings::ClientSettings;
use crate::error::Error;
use crate::process::environment;

/// A server that a client starts as a child process, for [`Client::spawn`](crate::Client::spawn).
///
/// A [`Command`] is one with the default settings.
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use std::process::Command;
///
/// use mcp_tokio::ServerProcess;
///
/// let server = ServerProcess::new(Command::new("weather-server")).on_stderr(|line, cx| {
///     eprintln!("{}: {line}", cx.label().unwrap_or("server"));
/// });
/// # drop(server);
/// ```
#[must_use = "a server does not start before a client spawns it"]
pub struct ServerProcess {
    command: Command,
    inherits_environment: bool,
    pipe_bytes: Option<usize>,
    on_stderr: Option<StderrHandler>,
}

impl ServerProcess {
    /// Creates the default settings for a command.
    pub const fn new(command: Command) -> Self {
        Self { command, inherits_environment: false, pipe_bytes: None, on_stderr: None }
    }

    /// Passes the whole environment of this process to the server.
    ///
    /// By default, a server receives the variables that its [`Command`] sets, and, as with the
    /// official SDKs, only these of this process, because others may be credentials for other
    /// services:
    ///
    /// - on Unix: `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`;
    /// - on Windows: `APPDATA`, `HOMEDRIVE`, `HOMEPATH`, `LOCALAPPDATA`, `PATH`, `PATHEXT`,
    ///   `PROCESSOR_ARCHITECTURE`, `PROGRAMFILES`, `SYSTEMDRIVE`, `SYSTEMROOT`, `TEMP`, `USERNAME`
    ///   and `USERPROFILE`.
    ///
    /// Pass on a single variable, such as `HTTPS_PROXY` or `LANG`, by [`Command::env`]. A server
    /// also receives the variables of the list if its command clears the environment, because that
    /// cannot be seen; with this setting, it does not.
    ///
    /// ```no_run
    /// # use mcp_adapter as mcp_tokio;
    /// use std::process::Command;
    /// use mcp_tokio::ServerProcess;
    ///
    /// // One variable:
    /// let mut command = Command::new("weather-server");
    /// command.env("WEATHER_TOKEN", "of-this-server-only");
    /// // All variables:
    /// let server = ServerProcess::new(command).inherit_environment();
    /// # drop(server);
    /// ```
    pub const fn inherit_environment(mut self) -> Self {
        self.inherits_environment = true;
        self
    }

    /// Sets the minimum size, in bytes, of the pipes to and from a server started by this client.
    ///
    /// By default, the pipes keep the system's size, 64 KiB on Linux.
    ///
    /// If messages are large, larger pipes save context switches; 512 KiB is then a good choice.
    /// This setting takes effect only on Linux and Android, within the system's limits (see
    /// `pipe(7)`). The system also limits the sum of all pipe sizes of one user, so a client with
    /// small messages should keep the default.
    pub const fn pipe_bytes(mut self, bytes: usize) -> Self {
        self.pipe_bytes = Some(bytes);
        self
    }

    /// Calls `callback` with each line that the server writes to stderr.
    ///
    /// Lines arrive in order and without their end. A line of more than 1,024 bytes is split, and
    /// invalid UTF-8 is replaced. [`Connection::stderr`](crate::Connection::stderr) keeps the last
    /// lines in any case.
    ///
    /// `callback` runs on a separate thread and may block: the server never waits for it. While
    /// 1,024 lines of a connection wait, each further line replaces the oldest one. The last lines
    /// may arrive after the connection has ended.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use std::process::Command;
    /// use mcp_tokio::ServerProcess;
    ///
    /// let server = ServerProcess::new(Command::new("weather-server")).on_stderr(|line, cx| {
    ///     eprintln!("[{}] {line}", cx.label().unwrap_or("server"));
    /// });
    /// # drop(server);
    /// ```
    pub fn on_stderr(mut self, callback: impl Fn(&str, &ClientCx) + Send + Sync + 'static) -> Self {
        self.on_stderr = Some(Arc::new(callback));
        self
    }
}

impl From<Command> for ServerProcess {
    fn from(command: Command) -> Self {
        Self::new(command)
    }
}

opaque_debug!(ServerProcess, it => program: it.command.get_program());

impl ClientSettings {
    /// Starts a server process and connects to it.
    pub(crate) async fn spawn(
        mut self,
        runtime: Arc<dyn DriveChild>,
        process: ServerProcess,
    ) -> Result<Connection, Error> {
        let ServerProcess { mut command, inherits_environment, pipe_bytes, on_stderr } = process;
        if !inherits_environment {
            environment::restrict(&mut command);
        }
        let limits = with_time_to_start(self.limits);
        self.config = self.config.limits(limits.clone());
        self.limits = limits;
        let (connection, machine) = self.into_config()?;
        let server = ChildServer { command: Mutex::new(command), runtime, pipe_bytes, on_stderr };
        Connector::new(server, connection, machine).connect().await
    }
}

/// How long a server process may take to start by default. The first `npx` downloads the server.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the limits of a connection to a server process: with a longer time for the handshake,
/// unless the application has set one.
fn with_time_to_start(mut limits: Limits) -> Limits {
    if limits.handshake_timeout == Limits::default().handshake_timeout {
        limits.handshake_timeout = START_TIMEOUT;
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_process_has_longer_to_start_unless_the_application_sets_a_limit() {
        let started = |limits| with_time_to_start(limits).handshake_timeout;
        assert_eq!(started(Limits::default()), START_TIMEOUT);
        let other = Limits { call_timeout: Duration::from_secs(5), ..Limits::default() };
        assert_eq!(with_time_to_start(other.clone()).call_timeout, other.call_timeout);
        assert_eq!(started(other), START_TIMEOUT);
        for secs in [1, 29, 31, 600] {
            let handshake_timeout = Duration::from_secs(secs);
            let limits = Limits { handshake_timeout, ..Limits::default() };
            assert_eq!(started(limits), handshake_timeout);
        }
    }
}
