//! The tokio runtime as the shared adapter code uses it.

use std::io;
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;

use mcp_adapter::proto::client::Client as Machine;
use mcp_adapter::{BoxFuture, DriverHandle, Runtime, Spawn};
use tokio::runtime::Handle;

use crate::drive::drive;
use crate::streams::pipes;

/// The runtime that a connection was created on.
pub(crate) struct Tokio(Handle);

impl Tokio {
    /// Returns the current runtime.
    pub(crate) fn current() -> io::Result<Arc<Self>> {
        let handle = Handle::try_current().map_err(io::Error::other)?;
        Ok(Arc::new(Self(handle)))
    }
}

impl Spawn for Tokio {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        drop(self.0.spawn(future));
        Ok(())
    }

    fn enter(&self, job: Box<dyn FnOnce() + Send>) {
        let _entered = self.0.enter();
        job();
    }
}

impl Runtime for Tokio {
    fn drive(
        &self,
        driving: DriverHandle<Machine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()> {
        let _entered = self.0.enter();
        let (reader, writer) = pipes(stdout, stdin)?;
        drop(self.0.spawn(drive(driving, reader, writer)));
        Ok(())
    }

    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn> {
        self
    }
}
