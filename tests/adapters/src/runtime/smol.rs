//! The global executor of smol.

use std::future::Future;
use std::io;
use std::process::Command;

use mcp_adapter::{Client, Connection, Error, Server};
use mcp_smol::{Connect as _, Serve as _};
use smol::Async;
use smol::net::TcpStream;
#[cfg(unix)]
use smol::net::unix::UnixStream;

use super::{Runtime, Stream};

/// `mcp-smol`.
#[derive(Debug)]
pub struct Smol;

impl Runtime for Smol {
    const NAME: &'static str = "smol";

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        smol::block_on(future)
    }

    fn run(task: impl Future<Output = ()> + Send + 'static) {
        smol::spawn(task).detach();
    }

    async fn serve(server: Server, stream: Stream) -> io::Result<()> {
        match stream {
            Stream::Tcp(stream) => {
                let stream = TcpStream::from(Async::new(stream)?);
                server.serve(stream.clone(), stream).await
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                let stream = UnixStream::from(Async::new(stream)?);
                server.serve(stream.clone(), stream).await
            }
        }
    }

    async fn serve_stdio(server: Server) -> io::Result<()> {
        server.serve_stdio().await
    }

    async fn connect(client: Client, stream: Stream) -> Result<Connection, Error> {
        match stream {
            Stream::Tcp(stream) => {
                let stream = TcpStream::from(Async::new(stream)?);
                client.connect(stream.clone(), stream).await
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                let stream = UnixStream::from(Async::new(stream)?);
                client.connect(stream.clone(), stream).await
            }
        }
    }

    async fn spawn(client: Client, command: Command) -> Result<Connection, Error> {
        client.spawn(command).await
    }
}
