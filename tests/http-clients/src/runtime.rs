//! Each runtime's client over HTTP, under one trait; knows no servers.

use std::future::Future;
use std::ops::Deref;

use mcp_adapter::http::Remote;
use mcp_adapter::{Client, Connection, Error};
use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads};

/// A handle of any runtime.
#[derive(Debug)]
#[allow(missing_docs, reason = "they say it themselves")]
pub enum Connected {
    Async(Connection),
    /// It waits for the end of the connection when it is dropped.
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
    /// Closes the connection as its adapter does.
    pub async fn closes(self) -> Result<(), Error> {
        match self {
            Self::Async(connection) => connection.close().await.map(drop),
            Self::Blocking(connection) => connection.close().map(drop),
        }
    }
}

/// A runtime whose adapter has clients over HTTP.
pub trait OverHttp: Runtime {
    /// Connects to a server.
    fn connect_http(
        client: Client,
        remote: Remote,
    ) -> impl Future<Output = Result<Connected, Error>> + Send;
}

impl OverHttp for Blocking {
    async fn connect_http(client: Client, remote: Remote) -> Result<Connected, Error> {
        mcp_blocking::http::ConnectHttp::connect_http(client, remote).map(Connected::Blocking)
    }
}

impl OverHttp for Smol {
    async fn connect_http(client: Client, remote: Remote) -> Result<Connected, Error> {
        mcp_smol::http::ConnectHttp::connect_http(client, remote).await.map(Connected::Async)
    }
}

macro_rules! tokio {
    ($($runtime:ty),*) => {$(
        impl OverHttp for $runtime {
            async fn connect_http(client: Client, remote: Remote) -> Result<Connected, Error> {
                mcp_tokio::http::ConnectHttp::connect_http(client, remote).await.map(Connected::Async)
            }
        }
    )*};
}

tokio!(Tokio, TokioThreads);
