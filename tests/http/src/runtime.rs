//! Each runtime, as a thread that serves until it is stopped.

use std::io;
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::UnixListener;

use mcp_adapter::Server;
use mcp_blocking::http::{Http, Stop};
use tokio::runtime::Builder;

/// A runtime and its adapter.
pub trait Runtime: Send + 'static {
    /// The runtime's name.
    const NAME: &'static str;

    /// Serves on this thread until stopped.
    fn serve(server: &Server, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()>;

    /// Serves on this thread, over a Unix socket, until stopped.
    #[cfg(unix)]
    fn serve_unix(
        server: &Server,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()>;
}

/// `mcp-blocking`.
#[derive(Debug)]
pub struct Blocking;

/// `mcp-smol`.
#[derive(Debug)]
pub struct Smol;

/// `mcp-tokio` on a runtime of one thread.
#[derive(Debug)]
pub struct Tokio;

/// `mcp-tokio` on a runtime of two threads.
#[derive(Debug)]
pub struct TokioThreads;

impl Runtime for Blocking {
    const NAME: &'static str = "blocking";

    fn serve(server: &Server, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()> {
        mcp_blocking::http::ServeHttp::serve_http(server, listener, options, stop)
    }

    #[cfg(unix)]
    fn serve_unix(
        server: &Server,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        mcp_blocking::http::ServeHttp::serve_http_unix(server, listener, options, stop)
    }
}

impl Runtime for Smol {
    const NAME: &'static str = "smol";

    fn serve(server: &Server, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()> {
        smol::block_on(mcp_smol::http::ServeHttp::serve_http(server, listener, options, stop))
    }

    #[cfg(unix)]
    fn serve_unix(
        server: &Server,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        smol::block_on(mcp_smol::http::ServeHttp::serve_http_unix(server, listener, options, stop))
    }
}

fn on_tokio(
    mut builder: Builder,
    server: &Server,
    listener: TcpListener,
    options: Http,
    stop: &Stop,
) -> io::Result<()> {
    builder.enable_all().build()?.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        mcp_tokio::http::ServeHttp::serve_http(server, listener, options, stop).await
    })
}

#[cfg(unix)]
fn unix_on_tokio(
    mut builder: Builder,
    server: &Server,
    listener: UnixListener,
    options: Http,
    stop: &Stop,
) -> io::Result<()> {
    builder.enable_all().build()?.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::UnixListener::from_std(listener)?;
        mcp_tokio::http::ServeHttp::serve_http_unix(server, listener, options, stop).await
    })
}

impl Runtime for Tokio {
    const NAME: &'static str = "tokio";

    fn serve(server: &Server, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()> {
        on_tokio(Builder::new_current_thread(), server, listener, options, stop)
    }

    #[cfg(unix)]
    fn serve_unix(
        server: &Server,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        unix_on_tokio(Builder::new_current_thread(), server, listener, options, stop)
    }
}

impl Runtime for TokioThreads {
    const NAME: &'static str = "tokio-threads";

    fn serve(server: &Server, listener: TcpListener, options: Http, stop: &Stop) -> io::Result<()> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2);
        on_tokio(builder, server, listener, options, stop)
    }

    #[cfg(unix)]
    fn serve_unix(
        server: &Server,
        listener: UnixListener,
        options: Http,
        stop: &Stop,
    ) -> io::Result<()> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2);
        unix_on_tokio(builder, server, listener, options, stop)
    }
}
