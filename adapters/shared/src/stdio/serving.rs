//! Serving on stdin and stdout: signals, the exit of the parent, and the end of the output.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::server::Server as Machine;

use crate::process::parent::Parent;
use crate::process::protocol_streams::ProtocolStreams;
use crate::process::signals::{self, Closeable};
use crate::server::connection::serving::Serving;
use crate::transport::link::Link;

impl Serving {
    /// Closes the connection when the process receives SIGINT, SIGTERM or SIGHUP.
    ///
    /// Use this method if the adapter's runtime does not receive signals; otherwise use
    /// [`close_on_signal`](Self::close_on_signal). A thread of this crate receives the signals. If
    /// the program itself handles one of the three signals, none of them closes the connection.
    ///
    /// Unless [`StdioSettings::outlive_parent`](crate::StdioSettings::outlive_parent) is set, the
    /// parent process's exit also closes the connection.
    ///
    /// Call this method before driving the connection: a client may send a signal as soon as it
    /// receives output, and a later call does not watch the parent process.
    pub fn close_with_process(&self) {
        self.register();
        // Before any thread is started, which could otherwise receive what is to stay ignored.
        signals::receive_signals();
        self.set_parent();
    }

    /// Makes a later call of `close_on_received_signal` close the connection.
    ///
    /// Unless [`StdioSettings::outlive_parent`](crate::StdioSettings::outlive_parent) is set, the
    /// parent process's exit also closes the connection.
    ///
    /// Call this before driving the connection: a client may send a signal as soon as it receives
    /// output, and a later call does not watch the parent process.
    pub fn close_on_signal(&self) {
        self.register();
        self.set_parent();
    }

    fn register(&self) {
        let closeable: Arc<dyn Closeable> = Arc::clone(&self.subscription) as _;
        signals::close_on_signal(Arc::downgrade(&closeable));
    }

    fn set_parent(&self) {
        if self.process.exits_with_parent
            && let Some(parent) = Parent::current()
        {
            self.host.parent.get_or_init(|| parent);
        }
    }

    /// Reserves the process's stdin and stdout for the connection.
    ///
    /// Call this before driving the connection: after the end of the input, the connection closes
    /// once stdout has no reader.
    ///
    /// # Errors
    /// Fails if stdin, stdout or stderr is closed, or if there is no null device.
    pub fn take_streams(&self) -> io::Result<ProtocolStreams> {
        let reserved = ProtocolStreams::new(self.process)?;
        self.host.watch_reader(&reserved);
        Ok(reserved)
    }

    /// Waits until it is time to abandon output that has not reached stdout yet.
    ///
    /// Call this after the driver has finished. `sleep` is the runtime's timer.
    pub async fn gives_up<S: Future>(&self, sleep: impl Fn(Duration) -> S) {
        if let Some(patience) = self.link.output_patience() {
            let slow = async { drop(sleep(patience).await) };
            let host_gone = self.host.gone(self.link.input_ended(), &sleep);
            or(slow, or(self.link.stopped(), host_gone)).await;
        }
        sleep(FLUSH_TIMEOUT).await;
    }
}

impl Closeable for Arc<Link<Machine>> {
    fn close(&self) {
        self.stop();
    }
}

/// How long output may take to arrive at stdout once the server was stopped.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
