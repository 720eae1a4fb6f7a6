//! Each runtime, as a thread that serves until it is stopped.

use std::io;
use std::net::TcpListener;
#[cfg(unix)]
use std::os::unix::net::UnixListener;

use mcp_adapter::{Server, on_runtime};
use mcp_blocking::http::{Http, Stop};
use tokio::runtime::Builder;

/// A bound socket.
#[derive(Debug)]
pub enum Listener {
    /// A port.
    Tcp(TcpListener),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(UnixListener),
}

/// A runtime and its adapter.
pub trait Runtime: Send + 'static {
    /// The runtime's name.
    const NAME: &'static str;

    /// Serves on this thread until stopped.
    fn serve(server: &Server, listener: Listener, options: Http, stop: &Stop) -> io::Result<()>;
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

    fn serve(server: &Server, listener: Listener, options: Http, stop: &Stop) -> io::Result<()> {
        let server: mcp_blocking::Server = on_runtime::server(server.clone());
        match listener {
            Listener::Tcp(listener) => server.serve_http(listener, options, stop).wait()?,
            #[cfg(unix)]
            Listener::Unix(listener) => server.serve_http(listener, options, stop).wait()?,
        }
        Ok(())
    }
}

impl Runtime for Smol {
    const NAME: &'static str = "smol";

    fn serve(server: &Server, listener: Listener, options: Http, stop: &Stop) -> io::Result<()> {
        let server: mcp_smol::Server = on_runtime::server(server.clone());
        smol::block_on(match listener {
            Listener::Tcp(listener) => server.serve_http(listener, options, stop),
            #[cfg(unix)]
            Listener::Unix(listener) => server.serve_http(listener, options, stop),
        })?;
        Ok(())
    }
}

fn on_tokio(
    mut builder: Builder,
    server: &Server,
    listener: Listener,
    options: Http,
    stop: &Stop,
) -> io::Result<()> {
    let server: mcp_tokio::Server = on_runtime::server(server.clone());
    builder.enable_all().build()?.block_on(async {
        match listener {
            Listener::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                let listener = tokio::net::TcpListener::from_std(listener)?;
                server.serve_http(listener, options, stop).await?;
            }
            #[cfg(unix)]
            Listener::Unix(listener) => {
                listener.set_nonblocking(true)?;
                let listener = tokio::net::UnixListener::from_std(listener)?;
                server.serve_http(listener, options, stop).await?;
            }
        }
        Ok(())
    })
}

impl Runtime for Tokio {
    const NAME: &'static str = "tokio";

    fn serve(server: &Server, listener: Listener, options: Http, stop: &Stop) -> io::Result<()> {
        on_tokio(Builder::new_current_thread(), server, listener, options, stop)
    }
}

impl Runtime for TokioThreads {
    const NAME: &'static str = "tokio-threads";

    fn serve(server: &Server, listener: Listener, options: Http, stop: &Stop) -> io::Result<()> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2);
        on_tokio(builder, server, listener, options, stop)
    }
}
