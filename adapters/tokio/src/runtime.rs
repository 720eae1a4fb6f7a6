//! The handle to the tokio runtime on which a connection was opened.

use std::io;
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::time::Duration;

use mcp_adapter::proto::client::Client as ClientMachine;
use mcp_adapter::proto::server::Server as ServerMachine;
use mcp_adapter::{
    BoxFuture, DriveChild, DriverHandle, LinkRole, Runtime, Serving, Spawn, Streams,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;

use crate::drive::drive;
use crate::signals::close_on_signals;
use crate::streams::{Stream, pipes, standard};

/// A tokio runtime of either flavor, with IO and time enabled.
///
/// Connections run on the runtime in which they are opened; outside of one, opening fails. Once the
/// runtime has ended, signals have no effect on servers any more, as with all signals that tokio
/// receives.
///
/// Streams are those of tokio, such as the halves of a `TcpStream`. On Windows, they can be those
/// of a named pipe, by [`tokio::io::split`]; the example `tokio_named_pipe` shows a server and a
/// client.
#[derive(Debug)]
pub struct Tokio(Handle);

impl Spawn for Tokio {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        drop(self.0.spawn(future));
        Ok(())
    }

    fn enter(&self, job: Box<dyn FnOnce() + Send>) {
        let _entered = self.0.enter();
        job();
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move { tokio::time::sleep(duration).await })
    }
}

impl DriveChild for Tokio {
    fn drive_child(
        &self,
        driving: DriverHandle<ClientMachine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()> {
        let _entered = self.0.enter();
        let (reader, writer) = pipes(stdout, stdin)?;
        drop(self.0.spawn(drive(driving, reader, writer)));
        Ok(())
    }
}

impl Runtime for Tokio {
    fn current() -> io::Result<Arc<Self>> {
        let handle = Handle::try_current().map_err(io::Error::other)?;
        Ok(Arc::new(Self(handle)))
    }

    async fn serve_stdio(serving: Serving, driving: DriverHandle<ServerMachine>) -> io::Result<()> {
        let (reader, writer, copies) = standard(&serving)?;
        close_on_signals(&serving)?;
        drive(driving, reader, writer).await;
        copies.flush(serving.gives_up(tokio::time::sleep)).await;
        serving.outcome().and_then(|()| copies.outcome())
    }
}

impl<I: AsyncRead + Send, O: AsyncWrite + Send> Streams<I, O> for Tokio {
    async fn drive<L: LinkRole>(driving: DriverHandle<L>, reader: I, writer: O) -> io::Result<()> {
        drive(driving, Stream::new(reader), Stream::new(writer)).await;
        Ok(())
    }
}
