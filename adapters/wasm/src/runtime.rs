//! One thread as the runtime of a connection.

use std::io;
#[cfg(feature = "http")]
use std::net::SocketAddr;
#[cfg(not(target_family = "wasm"))]
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::yield_now;
use futures_lite::{AsyncRead, AsyncWrite};
#[cfg(feature = "http")]
use mcp_adapter::HttpRuntime;
#[cfg(all(feature = "http", target_family = "wasm", target_os = "unknown"))]
use mcp_adapter::http::HttpSend;
#[cfg(feature = "http")]
use mcp_adapter::http::{ByteStream, Dial};
use mcp_adapter::proto::client::Client as ClientMachine;
use mcp_adapter::proto::server::Server as ServerMachine;
use mcp_adapter::{BoxFuture, DriverHandle, LinkRole, Pipes, Runtime, Serving, Spawn, Streams};
use piper::{Reader, Writer, pipe};

use crate::host::Host;

/// One thread: that of a JavaScript host, or the one that runs [`block_on`](crate::block_on).
///
/// Streams are those of `futures-io`. Connections and handlers are tasks of the thread.
#[derive(Debug)]
pub struct OneThread(Host);

impl Spawn for OneThread {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        self.0.spawn(future)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(duration)
    }

    fn is_single_threaded(&self) -> bool {
        true
    }
}

#[cfg(not(target_family = "wasm"))]
impl mcp_adapter::DriveChild for OneThread {
    fn drive_child(
        &self,
        _: DriverHandle<ClientMachine>,
        _: ChildStdout,
        _: ChildStdin,
    ) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "modules start no processes"))
    }
}

impl Runtime for OneThread {
    fn current() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self(Host::current())))
    }

    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    async fn serve_stdio(serving: Serving, driving: DriverHandle<ServerMachine>) -> io::Result<()> {
        let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
        crate::stdio::serve(&Host::current(), &driving, &mut stdin, &mut stdout)?;
        serving.outcome()
    }

    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    async fn serve_stdio(_: Serving, _: DriverHandle<ServerMachine>) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "the host has no stdin and stdout"))
    }
}

impl<I: AsyncRead + Send, O: AsyncWrite + Send> Streams<I, O> for OneThread {
    async fn drive<L: LinkRole>(driving: DriverHandle<L>, reader: I, writer: O) -> io::Result<()> {
        drive(Host::current(), driving, reader, writer).await;
        Ok(())
    }
}

/// Drives a connection to its end.
async fn drive<L: LinkRole>(
    host: Host,
    driving: DriverHandle<L>,
    reader: impl AsyncRead + Send,
    writer: impl AsyncWrite + Send,
) {
    let sleep = |duration| host.sleep(duration);
    mcp_adapter::drive(driving, Box::pin(reader), Box::pin(writer), sleep, yield_now).await;
}

/// The bytes in flight in each direction of a connection in memory.
const PIPE_BYTES: usize = 64 << 10;

impl Pipes for OneThread {
    type Reader = Reader;
    type Writer = Writer;

    fn pipe() -> io::Result<(Self::Reader, Self::Writer)> {
        Ok(pipe(PIPE_BYTES))
    }
}

#[cfg(feature = "http")]
impl HttpRuntime for OneThread {
    fn dialer(self: Arc<Self>) -> io::Result<Arc<dyn Dial>> {
        Ok(self)
    }

    #[cfg(all(target_family = "wasm", target_os = "unknown"))]
    fn http_client() -> Option<Arc<dyn HttpSend>> {
        Some(Arc::new(crate::js::Fetch))
    }
}

#[cfg(feature = "http")]
impl Dial for OneThread {
    fn resolve(&self, _: &str, _: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        Box::pin(async { Err(no_sockets()) })
    }

    fn dial(&self, _: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async { Err(no_sockets()) })
    }
}

#[cfg(feature = "http")]
fn no_sockets() -> io::Error {
    let why = "modules open no sockets: set the HTTP client with `Remote::client`";
    io::Error::new(io::ErrorKind::Unsupported, why)
}

/// Waits for `duration`, with a timer of the host.
///
/// In a handler, [`Cx::sleep`](crate::Cx::sleep) works on any runtime.
pub async fn sleep(duration: Duration) {
    Host::current().sleep(duration).await;
}
