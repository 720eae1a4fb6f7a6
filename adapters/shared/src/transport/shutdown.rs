//! The shutdown of a connection: its output is drained, and its child process is ended step by
//! step.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::{or, race};
use mcp_proto::Limits;
use mcp_proto::stdio::{Shutdown, ShutdownStep};

use crate::process::child::Child;
use crate::process::host::Host;
use crate::process::pipe_size;
use crate::transport::link::{Link, LinkRole};

/// A handle with which an adapter reads, writes and runs the timers of a connection.
///
/// Dropping the handle, for example when the runtime shuts down, ends the connection immediately
/// and kills its child process, if any.
#[derive(Debug)]
pub struct DriverHandle<R: LinkRole> {
    link: Arc<Link<R>>,
    child: Option<Arc<Child>>,
    limits: Limits,
    pipe_bytes: Option<usize>,
    /// The program whose end closes the connection, as far as it is watched.
    host: Arc<Host>,
}

impl<R: LinkRole> DriverHandle<R> {
    pub(crate) fn new(link: Arc<Link<R>>, child: Option<Arc<Child>>, limits: Limits) -> Self {
        Self { link, child, limits, pipe_bytes: None, host: Arc::default() }
    }

    /// Sets the size that [`over_standard_streams`](Self::over_standard_streams) gives the pipes.
    pub(crate) const fn pipe_bytes(mut self, bytes: Option<usize>) -> Self {
        self.pipe_bytes = bytes;
        self
    }

    /// Sets the host whose end closes the connection. Only what is watched before the adapter
    /// drives the connection has this effect.
    pub(crate) fn watching(mut self, host: Arc<Host>) -> Self {
        self.host = host;
        self
    }

    /// Declares that the connection uses this process's stdin and stdout.
    ///
    /// Enlarges their pipes if [`StdioSettings::pipe_bytes`](crate::StdioSettings::pipe_bytes) is
    /// set.
    #[must_use]
    pub fn over_standard_streams(self) -> Self {
        if let Some(bytes) = self.pipe_bytes {
            pipe_size::enlarge_stdio(bytes);
        }
        self.link.set_over_standard_streams();
        self
    }

    /// Returns the connection.
    #[must_use]
    pub const fn link(&self) -> &Arc<Link<R>> {
        &self.link
    }

    /// Returns whether the driver must keep reading after the connection is closed.
    ///
    /// Returns true if the peer is a child process: a child may be unable to exit until its output
    /// has been read to the end. Returns false for all other peers, because their streams may never
    /// end.
    #[must_use]
    pub const fn reads_on(&self) -> bool {
        self.child.is_some()
    }

    /// Waits until the adapter has nothing left to do for the connection.
    ///
    /// The connection's timers must be kept running until then; see [`Link::keep_time`].
    pub async fn ended(&self) {
        match &self.child {
            None => {
                or(self.link.drained(), self.close_with_host()).await;
                self.link.dispatched().await;
            }
            Some(child) => {
                or(self.link.closed(), self.exited(child)).await;
                self.end(child).await;
                // The last lines of stderr often explain the exit.
                let late = self.link.sleep_until(self.link.clock.now() + STDERR_TIMEOUT);
                race(child.stderr_ended(), late).await;
                self.link.dispatched().await;
            }
        }
    }

    /// Closes the connection once the host is gone, as far as it is watched.
    async fn close_with_host(&self) {
        let link = &self.link;
        let sleep = |duration| link.sleep_until(link.clock.now() + duration);
        self.host.gone(link.input_ended(), sleep).await;
        link.stop();
        pending::<()>().await;
    }

    /// Waits until the child has exited, then ends the connection even if another process keeps the
    /// child's stdout open.
    async fn exited(&self, child: &Child) {
        child.exited().await;
        self.link.end_within(R::LAST_INPUT).await;
    }

    /// Ends the child of a closed connection.
    // FRM-19: closes stdin, then terminates, then kills.
    async fn end(&self, child: &Child) {
        let mut shutdown = Shutdown::new(self.link.clock.now(), &self.limits);
        loop {
            match shutdown.poll_step() {
                // The writer closes the child's stdin once all output was sent.
                Some(ShutdownStep::CloseInput) | None => {}
                Some(ShutdownStep::Terminate) => child.terminate(),
                Some(ShutdownStep::Kill) => child.kill(),
            }
            let step = shutdown.poll_timeout();
            let give_up = step.unwrap_or_else(|| self.link.clock.now() + AFTER_KILL);
            let exited = async {
                child.exited().await;
                true
            };
            let gave_up = async {
                self.link.sleep_until(give_up).await;
                false
            };
            if or(exited, gave_up).await || step.is_none() {
                return;
            }
            shutdown.handle_timeout(self.link.clock.now());
        }
    }
}

impl<R: LinkRole> Drop for DriverHandle<R> {
    fn drop(&mut self) {
        if let Some(child) = &self.child {
            child.kill();
            child.stop_stderr();
        }
        self.link.abandon();
    }
}

/// How long a killed process may take to exit.
const AFTER_KILL: Duration = Duration::from_secs(2);

/// How long the last stderr lines of an exited child may take to arrive.
const STDERR_TIMEOUT: Duration = Duration::from_millis(200);
