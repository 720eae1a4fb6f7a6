//! Plain threads as a runtime: a task is a thread.

use std::future::Future;
use std::io;
use std::process::Command;
use std::thread;

use mcp_adapter::{Client, Connection, Error, Server};
use mcp_blocking::{Connect as _, Serve as _};
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
        match stream {
            Stream::Tcp(stream) => server.serve(stream.try_clone()?, stream),
            #[cfg(unix)]
            Stream::Unix(stream) => server.serve(stream.try_clone()?, stream),
        }
    }

    async fn serve_stdio(server: Server) -> io::Result<()> {
        server.serve_stdio()
    }

    async fn connect(client: Client, stream: Stream) -> Result<Connection, Error> {
        match stream {
            Stream::Tcp(stream) => client.connect(stream.try_clone()?, stream),
            #[cfg(unix)]
            Stream::Unix(stream) => client.connect(stream.try_clone()?, stream),
        }
    }

    async fn spawn(client: Client, command: Command) -> Result<Connection, Error> {
        client.spawn(command)
    }
}
