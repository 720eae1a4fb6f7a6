//! Starting servers as child processes, and their environment.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::Limits;

use crate::client::Client;
use crate::client::connection::Connection;
use crate::client::connector::{Connector, Runtime};
use crate::error::Error;
use crate::process::environment;

impl Client {
    /// Passes the whole environment of this process to the server processes that it starts.
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
    /// use mcp_tokio::Client;
    ///
    /// // One variable for one server:
    /// let mut command = Command::new("weather-server");
    /// command.env("WEATHER_TOKEN", "of-this-server-only");
    /// // All variables for all servers of this client:
    /// let client = Client::new("host", "1.0.0").inherit_environment();
    /// # drop((client, command));
    /// ```
    pub fn inherit_environment(mut self) -> Self {
        self.inherits_environment = true;
        self
    }

    /// Starts a server process and connects to its stdin and stdout.
    ///
    /// The server and the processes that it starts are ended together once the connection has
    /// ended: by signals to their process group on Unix, by their job object on Windows. On
    /// Windows, the system also ends them when this process is killed, and a server that does not
    /// exit after its stdin was closed is killed at once, because Windows has no SIGTERM. A process
    /// that the server starts in the microseconds before it is in the job stays outside.
    ///
    /// On Unix, if this process is killed, the server's stdin ends. Servers of this crate then exit
    /// with their process group; a server that ignores the end of its stdin stays. Linux can end a
    /// process with its parent (`PR_SET_PDEATHSIG`), but a process requests that for itself, after
    /// `fork`, which takes `unsafe` code. A program that allows such code can request it by
    /// `pre_exec`. The server is then also killed when the thread that has started it ends, and
    /// processes that the server has started stay.
    ///
    /// The server receives few variables of this process's environment; see
    /// [`inherit_environment`](Self::inherit_environment). It has
    /// [`Limits::handshake_timeout`](mcp_proto::Limits::handshake_timeout) to start, or 2 min if
    /// that limit has its default: the command of a server, such as `npx`, may first download it.
    ///
    /// On Windows, [`find_program`](crate::find_program) finds programs that are scripts, such as
    /// `npx`. The creation flags of the command are kept: set `CREATE_NO_WINDOW` in a program
    /// without a console, and `CREATE_NEW_PROCESS_GROUP` if Ctrl-C must not reach the server.
    ///
    /// `runtime` reads, writes and runs timers. The `spawn` methods of adapters call this method.
    ///
    /// # Errors
    /// Fails with
    /// - [`Error::Io`] if the server cannot be started, or if an [extension](Self::extension) is
    ///   invalid;
    /// - [`Error::Start`] if the connection cannot be opened. This error contains the last lines
    ///   that the server wrote to stderr.
    pub async fn spawn_on(
        self,
        runtime: Arc<dyn Runtime>,
        mut command: Command,
    ) -> Result<Connection, Error> {
        if !self.inherits_environment {
            environment::restrict(&mut command);
        }
        let limits = with_time_to_start(self.limits.clone());
        let (connection, machine) = self.limits(limits).into_config()?;
        Connector::to_child(command, connection, machine, runtime).connect().await
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
