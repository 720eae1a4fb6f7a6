//! Plain threads in place of an async runtime.

use std::io;
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;

use futures_lite::future::block_on;
use mcp_adapter::proto::client::Client as Machine;
use mcp_adapter::{BoxFuture, DriverHandle, Runtime, Spawn};

use crate::drive;

/// Runs every task on a thread of its own.
pub(crate) struct Threads;

impl Spawn for Threads {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        drive::spawn("mcp-task", move || block_on(future))
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn waits_for_ends(&self) -> bool {
        !drive::is_driver()
    }
}

impl Runtime for Threads {
    fn drive(
        &self,
        driving: DriverHandle<Machine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()> {
        #[cfg(unix)]
        let (stdout, stop_reading) = mcp_adapter::ChildOutput::new(stdout);
        let timer = drive::start(driving, stdout, stdin)?;
        drive::spawn("mcp-client", move || {
            timer.run();
            // A process that the child has started may keep its stdout open. On Windows, its job
            // ends such a process.
            #[cfg(unix)]
            drop(stop_reading);
        })
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}
