//! The global executor of smol.

use std::future::Future;
use std::io;

use mcp_adapter::{Client, Connection, Error, Server, ServerProcess, on_runtime};
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
        let server: mcp_smol::Server = on_runtime::server(server);
        match stream {
            Stream::Tcp(stream) => {
                let stream = TcpStream::from(Async::new(stream)?);
                server.serve(stream.clone(), stream).await?;
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                let stream = UnixStream::from(Async::new(stream)?);
                server.serve(stream.clone(), stream).await?;
            }
        }
        Ok(())
    }

    async fn serve_stdio(server: Server) -> io::Result<()> {
        let server: mcp_smol::Server = on_runtime::server(server);
        Ok(server.serve_stdio().await?)
    }

    async fn connect(client: Client, stream: Stream) -> Result<Connection, Error> {
        let client: mcp_smol::Client = on_runtime::client(client);
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

    async fn spawn(
        client: Client,
        server: impl Into<ServerProcess> + Send,
    ) -> Result<Connection, Error> {
        let client: mcp_smol::Client = on_runtime::client(client);
        client.spawn(server).await
    }
}
