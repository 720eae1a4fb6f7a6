//! The HTTP client of each runtime, behind one trait.

use std::future::Future;
use std::io;
use std::ops::Deref;

use mcp_adapter::http::Remote;
use mcp_adapter::{Client, Connection, Error};
use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads};

/// A handle of any runtime.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names are enough")]
pub enum Connected {
    Async(Connection),
    /// Waits for the end of the connection when dropped.
    Blocking(mcp_blocking::Connection),
}

impl Deref for Connected {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            Self::Async(connection) => connection,
            Self::Blocking(connection) => connection.as_async(),
        }
    }
}

impl Connected {
    /// Closes the connection in the adapter's way.
    pub async fn closes(self) -> Result<(), Error> {
        match self {
            Self::Async(connection) => connection.close().await.map(drop),
            Self::Blocking(connection) => connection.close().map(drop),
        }
    }
}

/// A runtime whose adapter has an HTTP client.
pub trait OverHttp: Runtime {
    /// Connects to a server.
    fn connect_http(
        client: Client,
        remote: Remote,
    ) -> impl Future<Output = Result<Connected, Error>> + Send;

    /// Logs out of a server.
    fn log_out(remote: &Remote) -> impl Future<Output = io::Result<()>> + Send;
}

impl OverHttp for Blocking {
    async fn connect_http(client: Client, remote: Remote) -> Result<Connected, Error> {
        mcp_blocking::http::ConnectHttp::connect_http(client, remote).map(Connected::Blocking)
    }

    async fn log_out(remote: &Remote) -> io::Result<()> {
        mcp_blocking::auth::log_out(remote)
    }
}

impl OverHttp for Smol {
    async fn connect_http(client: Client, remote: Remote) -> Result<Connected, Error> {
        mcp_smol::http::ConnectHttp::connect_http(client, remote).await.map(Connected::Async)
    }

    async fn log_out(remote: &Remote) -> io::Result<()> {
        mcp_smol::auth::log_out(remote).await
    }
}

macro_rules! tokio {
    ($($runtime:ty),*) => {$(
        impl OverHttp for $runtime {
            async fn connect_http(client: Client, remote: Remote) -> Result<Connected, Error> {
                mcp_tokio::http::ConnectHttp::connect_http(client, remote)
                    .await
                    .map(Connected::Async)
            }

            async fn log_out(remote: &Remote) -> io::Result<()> {
                mcp_tokio::auth::log_out(remote).await
            }
        }
    )*};
}

tokio!(Tokio, TokioThreads);
