//! Serving over Streamable HTTP with tokio.

use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_adapter::Listen;
use mcp_adapter::http::{HttpService, Listening, Stop};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use crate::runtime::Tokio;

impl Listen<TcpListener> for Tokio {
    async fn listen(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
        let listening = Listening::new(service, listener.local_addr()?, stop)?;
        accept(listening, listener, stop).await
    }
}

#[cfg(unix)]
impl Listen<UnixListener> for Tokio {
    async fn listen(service: HttpService, listener: UnixListener, stop: &Stop) -> io::Result<()> {
        accept(Listening::local(service, stop), listener, stop).await
    }
}

/// A listener of byte streams.
trait Accept: Sync {
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Waits for a client; returns its address, if clients have addresses.
    fn accept_client(
        &self,
    ) -> impl Future<Output = io::Result<(Self::Stream, Option<IpAddr>)>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;

    async fn accept_client(&self) -> io::Result<(TcpStream, Option<IpAddr>)> {
        let (stream, peer) = self.accept().await?;
        // T-87: disables Nagle's algorithm, as small messages must not wait for more.
        let _slower = stream.set_nodelay(true);
        Ok((stream, Some(peer.ip())))
    }
}

#[cfg(unix)]
impl Accept for UnixListener {
    type Stream = UnixStream;

    async fn accept_client(&self) -> io::Result<(UnixStream, Option<IpAddr>)> {
        Ok((self.accept().await?.0, None))
    }
}

/// Serves the clients of a listener until `stop` is set. Dropping the future closes them.
async fn accept(listening: Listening, listener: impl Accept, stop: &Stop) -> io::Result<()> {
    let outcome = loop {
        let accepted = tokio::select! {
            biased;
            () = stop.stopped() => break Ok(()),
            accepted = listener.accept_client() => accepted,
        };
        match accepted {
            Ok((stream, address)) => {
                let Some(connection) = listening.accept(address) else { continue };
                // Called inside the task: a future passed in would occupy its space twice.
                drop(tokio::spawn(async move {
                    connection.drive(TokioIo::new(stream), TokioTimer::new()).await;
                }));
            }
            // Too many open files, or a client that disconnected at once: the listener goes on.
            Err(error) if is_transient(&error) => tokio::time::sleep(PAUSE).await,
            Err(error) => break Err(error),
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
