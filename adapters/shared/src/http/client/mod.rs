//! Clients over Streamable HTTP, as far as they need no runtime: exchanges on connections that a runtime opens.

mod connections;
mod exchange;
mod over;
mod pump;
mod remote;
#[cfg(feature = "tls")]
mod tls;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::{AsyncRead, AsyncWrite};
use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::http::client::Http;

pub use over::Challenged;
pub(crate) use over::ClientOverHttp;
pub use remote::Remote;

use self::connections::HttpConnections;
use crate::BoxFuture;
use crate::client::Client;
use crate::clock::Clock;
use crate::connection::Connection;
use crate::error::Error;
use crate::link::Transport;
use crate::opening::{Opening, Origin};
use crate::workers::Spawn;

/// A connection's bytes, both ways.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// What a runtime does for HTTP clients.
pub trait Dial: Spawn {
    /// Connects to a port of a host, by name or address. What is read asks the system each time it would wait: a server
    /// that has closed what nobody used is to be noticed before anything is sent.
    fn dial(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn Duplex>>>;

    /// Sleeps.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// The same as what futures are run by.
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}

impl Client {
    /// Connects to a server over HTTP, with `runtime` opening the connections: what adapters call `connect_http`.
    ///
    /// # Errors
    /// [`Error::Start`] when no session opens.
    pub async fn open_http(self, runtime: Arc<dyn Dial>, remote: Remote) -> Result<Connection, Error> {
        let (recipe, config) = self.into_recipe();
        Origin::of_remote(remote, recipe, config, runtime).connect().await
    }
}

/// Connects to a server, for the first time or once more.
pub(crate) async fn connect(
    origin: &Arc<Origin>,
    remote: &Remote,
    runtime: &Arc<dyn Dial>,
    config: Config,
) -> Result<Connection, Error> {
    let connections = HttpConnections::new(remote.clone(), Arc::clone(runtime))?;
    let settings = connections.settings().map_err(|error| io::Error::other(error.to_string()))?;
    let clock = Clock::new();
    let machine = Machine::new(clock.now(), config);
    let transport = Transport::Http(Box::new(ClientOverHttp::new(Http::new(machine, settings))));
    let spawn = Arc::clone(runtime).as_spawn();
    let link = origin.recipe.link_over(clock, transport, &spawn)?;
    let guard = pump::Guard(Arc::clone(&link));
    spawn.spawn(Box::pin(pump::drive(guard, Arc::clone(&connections))))?;
    let opening = Opening::new(Connection::new(link, None, Some(Arc::clone(origin))));
    opening.wait().await.map_err(|error| connections.explain(error))
}
