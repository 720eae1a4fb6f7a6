//! Clients over Streamable HTTP, as far as they need no runtime: exchanges on connections that a runtime opens.

mod exchange;
mod over;
mod pump;
mod remote;
#[cfg(feature = "tls")]
mod tls;
mod transport;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::{AsyncRead, AsyncWrite};
use mcp_proto::client::Client as Machine;
use mcp_proto::http::client::Http;

pub use over::Challenged;
pub(crate) use over::ClientOverHttp;
pub use remote::Remote;

use crate::BoxFuture;
use crate::client::Client;
use crate::clock::Clock;
use crate::connection::Connection;
use crate::error::Error;
use crate::link::Carrier;
use crate::workers::Spawn;

/// A connection's bytes, both ways.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// What a runtime does for HTTP clients.
pub trait Dial: Spawn {
    /// Connects to a port of a host, by name or address.
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
    pub fn open_http(
        self,
        runtime: Arc<dyn Dial>,
        remote: Remote,
    ) -> impl Future<Output = Result<Connection, Error>> + Send {
        let opened = self.begin_http(&runtime, remote);
        async move { opened?.wait().await }
    }

    fn begin_http(self, runtime: &Arc<dyn Dial>, remote: Remote) -> Result<crate::Opening, Error> {
        let (recipe, config) = self.into_recipe();
        let transport = transport::Transport::new(remote, Arc::clone(runtime))?;
        let settings = transport.settings().map_err(|error| io::Error::other(error.to_string()))?;
        let clock = Clock::new();
        let machine = Machine::new(clock.now(), config);
        let carrier = Carrier::Http(Box::new(ClientOverHttp::new(Http::new(machine, settings))));
        let spawn = Arc::clone(runtime).as_spawn();
        let link = recipe.link_over(clock, carrier, &spawn)?;
        let guard = pump::Guard(Arc::clone(&link));
        spawn.spawn(Box::pin(pump::drive(guard, transport)))?;
        Ok(crate::Opening::new(Connection::new(link, None)))
    }
}
