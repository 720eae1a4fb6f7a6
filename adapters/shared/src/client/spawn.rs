//! Starting servers as child processes, and their environment.

use std::process::Command;
use std::sync::Arc;

use crate::client::Client;
use crate::client::connection::Connection;
use crate::client::connector::{Connector, Runtime};
use crate::error::Error;
use crate::process::environment;

impl Client {
    /// Passes only harmless variables of this process's environment to server processes.
    ///
    /// By default, a server inherits the whole environment, which may include credentials for other
    /// services. With this setting, it receives what its [`Command`] sets, and, as with the
    /// official SDKs, these variables of this process:
    ///
    /// - on Unix: `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`;
    /// - on Windows: `APPDATA`, `HOMEDRIVE`, `HOMEPATH`, `LOCALAPPDATA`, `PATH`, `PATHEXT`,
    ///   `PROCESSOR_ARCHITECTURE`, `PROGRAMFILES`, `SYSTEMDRIVE`, `SYSTEMROOT`, `TEMP`, `USERNAME`
    ///   and `USERPROFILE`.
    ///
    /// It also receives these if its command clears the environment, because that cannot be seen.
    /// Such a command needs no restriction.
    ///
    /// ```no_run
    /// # use mcp_adapter as mcp_tokio;
    /// use std::process::Command;
    /// use mcp_tokio::Client;
    ///
    /// let client = Client::new("host", "1.0.0").restrict_environment();
    /// let mut command = Command::new("weather-server");
    /// command.env("WEATHER_TOKEN", "of-this-server-only");
    /// // client.spawn(command)
    /// # drop((client, command));
    /// ```
    pub fn restrict_environment(mut self) -> Self {
        self.restricts_environment = true;
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
        if self.restricts_environment {
            environment::restrict(&mut command);
        }
        let (connection, machine) = self.into_config()?;
        Connector::to_child(command, connection, machine, runtime).connect().await
    }
}
