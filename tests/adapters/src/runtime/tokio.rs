//! tokio, on one thread and on several.

use std::future::Future;
use std::io;

use mcp_adapter::{Client, Connection, Error, Server, ServerProcess, on_runtime};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::runtime::Builder;

use super::{Runtime, Stream};

/// `mcp-tokio` on a runtime of one thread.
#[derive(Debug)]
pub struct Tokio;

/// `mcp-tokio` on a runtime of two threads.
#[derive(Debug)]
pub struct TokioThreads;

async fn serve(server: Server, stream: Stream) -> io::Result<()> {
    let server: mcp_tokio::Server = on_runtime::server(server);
    match stream {
        Stream::Tcp(stream) => {
            stream.set_nonblocking(true)?;
            let (reader, writer) = TcpStream::from_std(stream)?.into_split();
            server.serve(reader, writer).await?;
        }
        #[cfg(unix)]
        Stream::Unix(stream) => {
            stream.set_nonblocking(true)?;
            let (reader, writer) = UnixStream::from_std(stream)?.into_split();
            server.serve(reader, writer).await?;
        }
    }
    Ok(())
}

async fn connect(client: Client, stream: Stream) -> Result<Connection, Error> {
    let client: mcp_tokio::Client = on_runtime::client(client);
    match stream {
        Stream::Tcp(stream) => {
            stream.set_nonblocking(true)?;
            let (reader, writer) = TcpStream::from_std(stream)?.into_split();
            client.connect(reader, writer).await
        }
        #[cfg(unix)]
        Stream::Unix(stream) => {
            stream.set_nonblocking(true)?;
            let (reader, writer) = UnixStream::from_std(stream)?.into_split();
            client.connect(reader, writer).await
        }
    }
}

macro_rules! tokio {
    ($runtime:ty, $name:literal, $builder:expr) => {
        impl Runtime for $runtime {
            const NAME: &'static str = $name;

            fn block_on<T>(future: impl Future<Output = T>) -> T {
                $builder.enable_all().build().unwrap().block_on(future)
            }

            fn run(task: impl Future<Output = ()> + Send + 'static) {
                drop(tokio::spawn(task));
            }

            async fn serve(server: Server, stream: Stream) -> io::Result<()> {
                serve(server, stream).await
            }

            async fn serve_stdio(server: Server) -> io::Result<()> {
                let server: mcp_tokio::Server = on_runtime::server(server);
                Ok(server.serve_stdio().await?)
            }

            async fn connect(client: Client, stream: Stream) -> Result<Connection, Error> {
                connect(client, stream).await
            }

            async fn spawn(
                client: Client,
                server: impl Into<ServerProcess> + Send,
            ) -> Result<Connection, Error> {
                let client: mcp_tokio::Client = on_runtime::client(client);
                client.spawn(server).await
            }
        }
    };
}

tokio!(Tokio, "tokio", Builder::new_current_thread());
tokio!(TokioThreads, "tokio-threads", Builder::new_multi_thread().worker_threads(2));
