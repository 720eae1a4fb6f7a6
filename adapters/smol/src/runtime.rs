//! The runtime as the shared adapter code uses it.

use std::io;
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;

use mcp_adapter::proto::client::Client as Machine;
use mcp_adapter::{BoxFuture, DriverHandle, Runtime, Spawn};

use crate::drive::drive;
use crate::executor;
use crate::streams::pipes;

/// The executor of this crate, with the reactor of async-io.
pub(crate) struct Smol;

impl Spawn for Smol {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        executor::spawn(future)
    }
}

impl Runtime for Smol {
    fn drive(
        &self,
        driving: DriverHandle<Machine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()> {
        let (reader, writer) = pipes(stdout, stdin)?;
        self.spawn(Box::pin(drive(driving, reader, writer)))
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}
