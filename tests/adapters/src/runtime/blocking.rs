//! Plain threads as a runtime: a task is a thread.

use std::future::Future;
use std::io;
use std::thread;

use mcp_adapter::{Client, Connection, Error, Server, ServerProcess, on_runtime};
use smol::future::block_on;

use super::{Runtime, Stream};

/// `mcp-blocking`.
#[derive(Debug)]
pub struct Blocking;

impl Runtime for Blocking {
    const NAME: &'static str = "blocking";
    const IS_ASYNC: bool = false;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        block_on(future)
    }

    fn run(task: impl Future<Output = ()> + Send + 'static) {
        thread::spawn(move || block_on(task));
    }

    async fn serve(server: Server, stream: Stream) -> io::Result<()> {
        let server: mcp_blocking::Server = on_runtime::server(server);
        match stream {
            Stream::Tcp(stream) => server.serve(stream.try_clone()?, stream).wait()?,
            #[cfg(unix)]
            Stream::Unix(stream) => server.serve(stream.try_clone()?, stream).wait()?,
        }
        Ok(())
    }

    async fn serve_stdio(server: Server) -> io::Result<()> {
        let server: mcp_blocking::Server = on_runtime::server(server);
        Ok(server.serve_stdio().wait()?)
    }

    async fn connect(client: Client, stream: Stream) -> Result<Connection, Error> {
        let client: mcp_blocking::Client = on_runtime::client(client);
        match stream {
            Stream::Tcp(stream) => client.connect(stream.try_clone()?, stream).wait(),
            #[cfg(unix)]
            Stream::Unix(stream) => client.connect(stream.try_clone()?, stream).wait(),
        }
    }

    async fn spawn(
        client: Client,
        server: impl Into<ServerProcess> + Send,
    ) -> Result<Connection, Error> {
        let client: mcp_blocking::Client = on_runtime::client(client);
        client.spawn(server).wait()
    }
}
