//! The HTTP client of each runtime, behind one trait.

use std::future::Future;
use std::io;

use mcp_adapter::auth::log_out;
use mcp_adapter::http::Remote;
use mcp_adapter::{Client, Connection, Error, on_runtime};
use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads};

/// A runtime whose adapter has an HTTP client.
pub trait OverHttp: Runtime {
    /// Connects to a server.
    fn connect_http(
        client: Client,
        remote: Remote,
    ) -> impl Future<Output = Result<Connection, Error>> + Send;

    /// Logs out of a server.
    fn log_out(remote: &Remote) -> impl Future<Output = io::Result<()>> + Send;
}

impl OverHttp for Blocking {
    async fn connect_http(client: Client, remote: Remote) -> Result<Connection, Error> {
        on_runtime::client::<_, mcp_blocking::Threads>(client).connect_http(remote).wait()
    }

    async fn log_out(remote: &Remote) -> io::Result<()> {
        Ok(log_out(remote).wait()?)
    }
}

impl OverHttp for Smol {
    async fn connect_http(client: Client, remote: Remote) -> Result<Connection, Error> {
        on_runtime::client::<_, mcp_smol::Smol>(client).connect_http(remote).await
    }

    async fn log_out(remote: &Remote) -> io::Result<()> {
        Ok(log_out(remote).await?)
    }
}

macro_rules! tokio {
    ($($runtime:ty),*) => {$(
        impl OverHttp for $runtime {
            async fn connect_http(client: Client, remote: Remote) -> Result<Connection, Error> {
                on_runtime::client::<_, mcp_tokio::Tokio>(client).connect_http(remote).await
            }

            async fn log_out(remote: &Remote) -> io::Result<()> {
                Ok(log_out(remote).await?)
            }
        }
    )*};
}

tokio!(Tokio, TokioThreads);
