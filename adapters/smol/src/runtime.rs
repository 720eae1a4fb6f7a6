//! smol and async-io as the runtime of a connection.

use std::io;
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::time::Duration;

use async_io::Timer;
use futures_lite::{AsyncRead, AsyncWrite};
use mcp_adapter::proto::client::Client as ClientMachine;
use mcp_adapter::proto::server::Server as ServerMachine;
use mcp_adapter::{
    BoxFuture, DriveChild, DriverHandle, LinkRole, Runtime, Serving, Spawn, Streams,
};

use crate::drive::drive;
use crate::executor;
use crate::signals::close_on_signals;
use crate::streams::{pipes, standard};

/// smol: the reactor of async-io, and threads of this crate that run tasks.
///
/// There is always one: its threads start with the first task. `SMOL_THREADS` is their number, 1 by
/// default. Operations can be awaited on any executor. Streams are those of `futures-io`, such as
/// `Async<TcpStream>`; listeners are those of the standard library.
#[derive(Debug)]
pub struct Smol(());

impl Spawn for Smol {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        executor::spawn(future)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let _now = Timer::after(duration).await;
        })
    }
}

impl DriveChild for Smol {
    fn drive_child(
        &self,
        driving: DriverHandle<ClientMachine>,
        stdout: ChildStdout,
        stdin: ChildStdin,
    ) -> io::Result<()> {
        let (reader, writer) = pipes(stdout, stdin)?;
        executor::spawn(drive(driving, reader, writer))
    }
}

impl Runtime for Smol {
    fn current() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self(())))
    }

    async fn serve_stdio(serving: Serving, driving: DriverHandle<ServerMachine>) -> io::Result<()> {
        let (reader, writer, copies) = standard(&serving)?;
        close_on_signals(&serving, async {
            drive(driving, reader, writer).await;
            copies.flush(serving.gives_up(Timer::after)).await;
        })
        .await?;
        serving.outcome().and_then(|()| copies.outcome())
    }
}

impl<I: AsyncRead + Send, O: AsyncWrite + Send> Streams<I, O> for Smol {
    async fn drive<L: LinkRole>(driving: DriverHandle<L>, reader: I, writer: O) -> io::Result<()> {
        drive(driving, reader, writer).await;
        Ok(())
    }
}
