//! The HTTP client of each runtime, behind one trait.

use std::future::Future;
use std::io;

use mcp_adapter::http::Remote;
use mcp_adapter::{Client, Connection, Error};
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
        mcp_blocking::http::ConnectHttp::connect_http(client, remote)
    }

    async fn log_out(remote: &Remote) -> io::Result<()> {
        mcp_blocking::auth::log_out(remote)
    }
}

impl OverHttp for Smol {
    async fn connect_http(client: Client, remote: Remote) -> Result<Connection, Error> {
        mcp_smol::http::ConnectHttp::connect_http(client, remote).await
    }

    async fn log_out(remote: &Remote) -> io::Result<()> {
        mcp_smol::auth::log_out(remote).await
    }
}

macro_rules! tokio {
    ($($runtime:ty),*) => {$(
        impl OverHttp for $runtime {
            async fn connect_http(client: Client, remote: Remote) -> Result<Connection, Error> {
                mcp_tokio::http::ConnectHttp::connect_http(client, remote).await
            }

            async fn log_out(remote: &Remote) -> io::Result<()> {
                mcp_tokio::auth::log_out(remote).await
            }
        }
    )*};
}

tokio!(Tokio, TokioThreads);
