//! Serving over Streamable HTTP on smol and async-io.

use std::io;
use std::net::{IpAddr, TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};

use async_io::Async;
use mcp_adapter::Listen;
use mcp_adapter::http::{Accept, HttpService, HyperStream, Listening, Stop};
use smol_hyper::rt::SmolTimer;

use crate::runtime::Smol;
use crate::streams::Stream;

impl Listen<TcpListener> for Smol {
    async fn listen(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
        let listening = Listening::new(service, listener.local_addr()?, stop)?;
        listening.serve(Async::new(listener)?, SmolTimer::new()).await
    }
}

#[cfg(unix)]
impl Listen<UnixListener> for Smol {
    async fn listen(service: HttpService, listener: UnixListener, stop: &Stop) -> io::Result<()> {
        Listening::local(service, stop).serve(Async::new(listener)?, SmolTimer::new()).await
    }
}

impl Accept<Smol> for Async<TcpListener> {
    type Stream = HyperStream<Stream<TcpStream>>;

    async fn accept_client(&self) -> io::Result<(Self::Stream, Option<IpAddr>)> {
        let (stream, peer) = self.accept().await?;
        // T-87: disables Nagle's algorithm, as small messages must not wait for more.
        let _slower = stream.get_ref().set_nodelay(true);
        Ok((HyperStream(Stream::new(stream)), Some(peer.ip())))
    }
}

#[cfg(unix)]
impl Accept<Smol> for Async<UnixListener> {
    type Stream = HyperStream<Stream<UnixStream>>;

    async fn accept_client(&self) -> io::Result<(Self::Stream, Option<IpAddr>)> {
        Ok((HyperStream(Stream::new(self.accept().await?.0)), None))
    }
}
