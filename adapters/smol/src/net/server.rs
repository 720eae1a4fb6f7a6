//! Serving over Streamable HTTP on smol and async-io.

use std::future::Future;
use std::io;
use std::net::{IpAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use async_io::{Async, IoSafe, Timer};
use futures_lite::future::or;
use mcp_adapter::Listen;
use mcp_adapter::http::{HttpService, HyperStream, Listening, Stop};
use smol_hyper::rt::SmolTimer;

use super::socket::{HalfClose, Socket};
use crate::executor;
use crate::runtime::Smol;

impl Listen<TcpListener> for Smol {
    async fn listen(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
        let listening = Listening::new(service, listener.local_addr()?, stop)?;
        serve_all(listening, Async::new(listener)?, stop).await
    }
}

#[cfg(unix)]
impl Listen<UnixListener> for Smol {
    async fn listen(service: HttpService, listener: UnixListener, stop: &Stop) -> io::Result<()> {
        serve_all(Listening::local(service, stop), Async::new(listener)?, stop).await
    }
}

/// A listener of byte streams.
trait Accept: Send + Sync {
    type Stream: IoSafe + io::Read + io::Write + HalfClose + Send + Sync + 'static;

    /// Waits for a client; returns its address, if clients have addresses.
    fn accept_client(
        &self,
    ) -> impl Future<Output = io::Result<(Async<Self::Stream>, Option<IpAddr>)>> + Send;
}

impl Accept for Async<TcpListener> {
    type Stream = TcpStream;

    async fn accept_client(&self) -> io::Result<(Async<TcpStream>, Option<IpAddr>)> {
        let (stream, peer) = self.accept().await?;
        // T-87: disables Nagle's algorithm, as small messages must not wait for more.
        let _slower = stream.get_ref().set_nodelay(true);
        Ok((stream, Some(peer.ip())))
    }
}

#[cfg(unix)]
impl Accept for Async<UnixListener> {
    type Stream = UnixStream;

    async fn accept_client(&self) -> io::Result<(Async<UnixStream>, Option<IpAddr>)> {
        Ok((self.accept().await?.0, None))
    }
}

/// Serves the clients of a listener until `stop` is set. Dropping the future closes them.
async fn serve_all(listening: Listening, listener: impl Accept, stop: &Stop) -> io::Result<()> {
    let outcome = loop {
        let stopped = async {
            stop.stopped().await;
            None
        };
        match or(stopped, async { Some(listener.accept_client().await) }).await {
            None => break Ok(()),
            Some(Ok((stream, address))) => {
                let Some(connection) = listening.accept(address) else { continue };
                // Called inside the task: a future passed in would occupy its space twice.
                let driven = executor::spawn(async move {
                    connection.drive(HyperStream(Socket::new(stream)), SmolTimer::new()).await;
                });
                // Without a thread that runs it, the connection was closed.
                if let Err(error) = driven {
                    break Err(error);
                }
            }
            // Too many open files, or a client that disconnected at once: the listener goes on.
            Some(Err(error)) if is_transient(&error) => {
                let _now = Timer::after(PAUSE).await;
            }
            Some(Err(error)) => break Err(error),
        }
    };
    drop(listener);
    listening.finish().await;
    outcome
}

fn is_transient(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    // 23 and 24 are ENFILE and EMFILE, which have no `ErrorKind`.
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
        || matches!(error.raw_os_error(), Some(23 | 24))
}

/// How long to wait after a transient error before accepting again.
const PAUSE: Duration = Duration::from_millis(50);
