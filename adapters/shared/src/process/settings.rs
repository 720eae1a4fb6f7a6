//! The settings of a server on stdin and stdout, for its process and its pipes.

/// The settings of servers on stdin and stdout, for [`Server::stdio`](crate::Server::stdio).
///
/// ```
/// # use mcp_adapter as mcp_tokio;
/// use mcp_tokio::{Server, StdioSettings};
///
/// let server = Server::new("daemon", "1.0.0").stdio(StdioSettings::new().outlive_parent());
/// # drop(server);
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "settings have no effect until they are set"]
pub struct StdioSettings {
    pub(crate) exits_with_parent: bool,
    pub(crate) redirects_stdin: bool,
    pub(crate) redirects_stdout: bool,
    pub(crate) pipe_bytes: Option<usize>,
}

impl Default for StdioSettings {
    fn default() -> Self {
        Self::new()
    }
}

impl StdioSettings {
    /// Creates the default settings.
    pub const fn new() -> Self {
        Self {
            exits_with_parent: true,
            redirects_stdin: true,
            redirects_stdout: true,
            pipe_bytes: None,
        }
    }

    /// Keeps a server on stdin and stdout running when its parent process exits.
    ///
    /// By default, such a server closes when its parent exits, even if another process keeps stdin
    /// open. The exit is detected within about half a second, on Unix only; on Windows only the
    /// end of stdin closes the server, and a client of this crate that ends or is killed ends its
    /// servers. A server that ignores SIGHUP when it starts, as below
    /// `nohup`, outlives its parent as if this setting were set, on Linux and Android.
    ///
    /// When the connection ends because the parent exits, a server on Linux and Android that leads
    /// a process group, as the servers do that clients of this crate start, also sends SIGTERM to
    /// all other processes of its group, so that processes which it has started can end as well. A
    /// process that ignores SIGTERM or has left the group stays. On other systems, the handlers
    /// must end what they have started.
    ///
    /// With this setting, the server runs until stdin ends or a closing signal arrives. Use it for
    /// a server whose parent starts it and exits, such as a script that puts it into the
    /// background.
    pub const fn outlive_parent(mut self) -> Self {
        self.exits_with_parent = false;
        self
    }

    /// Leaves the process's stdin as it is while serving on stdin and stdout.
    ///
    /// By default, while such a server runs, only the server reads the real stdin. Handlers,
    /// libraries and child processes that inherit stdin read from the null device, which is empty,
    /// so that they take no requests away: descriptor 0, or the standard handle of Windows, refers
    /// to the null device. Stdin is restored when serving ends. A child that was started before
    /// shares the real stdin: start it with its own stdin, such as
    /// [`Stdio::null`](std::process::Stdio::null).
    ///
    /// On Windows, a console is not redirected.
    ///
    /// With this setting, nothing else may read stdin, and child processes need a separate stdin.
    /// Use the setting if the program itself redirects stdin.
    pub const fn keep_stdin(mut self) -> Self {
        self.redirects_stdin = false;
        self
    }

    /// Leaves the process's stdout as it is while serving on stdin and stdout.
    ///
    /// By default, what handlers and libraries print to stdout while such a server runs goes to
    /// stderr, as does the output of child processes that inherit stdout: descriptor 1, or the
    /// standard handle of Windows, refers to stderr, and only the server writes to the real stdout,
    /// so that a `println!` cannot corrupt a message. Stdout is restored when serving ends. If at
    /// that moment a thread holds the lock of [`std::io::stdout`], it stays redirected.
    ///
    /// On Windows, a console is not redirected. Two handles to the standard streams stay open for
    /// each server that has been served, because another thread may be using them. Libraries that
    /// print with the `printf` of C keep the handle with which the process was started, and must
    /// not print.
    ///
    /// With this setting, the program must not print to stdout. Use the setting if the program
    /// itself redirects stdout.
    pub const fn keep_stdout(mut self) -> Self {
        self.redirects_stdout = false;
        self
    }

    /// Sets the minimum size, in bytes, of the stdin and stdout pipes.
    ///
    /// By default, the pipes keep the system's size, 64 KiB on Linux.
    ///
    /// If messages are large, larger pipes save context switches; 512 KiB is then a good choice.
    /// This setting takes effect only on Linux and Android, within the system's limits (see
    /// `pipe(7)`). The system also limits the sum of all pipe sizes of one user, so a server with
    /// small messages should keep the default.
    pub const fn pipe_bytes(mut self, bytes: usize) -> Self {
        self.pipe_bytes = Some(bytes);
        self
    }
}
