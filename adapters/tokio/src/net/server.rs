//! Serving over Streamable HTTP with tokio.

use std::io;
use std::net::IpAddr;

use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_adapter::Listen;
use mcp_adapter::http::{Accept, HttpService, Listening, Stop};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use crate::runtime::Tokio;

impl Listen<TcpListener> for Tokio {
    async fn listen(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
        let listening = Listening::new(service, listener.local_addr()?, stop)?;
        listening.serve(listener, TokioTimer::new()).await
    }
}

#[cfg(unix)]
impl Listen<UnixListener> for Tokio {
    async fn listen(service: HttpService, listener: UnixListener, stop: &Stop) -> io::Result<()> {
        Listening::local(service, stop).serve(listener, TokioTimer::new()).await
    }
}

impl Accept<Tokio> for TcpListener {
    type Stream = TokioIo<TcpStream>;

    async fn accept_client(&self) -> io::Result<(Self::Stream, Option<IpAddr>)> {
        let (stream, peer) = self.accept().await?;
        // T-87: disables Nagle's algorithm, as small messages must not wait for more.
        let _slower = stream.set_nodelay(true);
        Ok((TokioIo::new(stream), Some(peer.ip())))
    }
}

#[cfg(unix)]
impl Accept<Tokio> for UnixListener {
    type Stream = TokioIo<UnixStream>;

    async fn accept_client(&self) -> io::Result<(Self::Stream, Option<IpAddr>)> {
        Ok((TokioIo::new(self.accept().await?.0), None))
    }
}
