//! Connecting and reconnecting.

use std::io;
use std::sync::Arc;

use mcp_proto::client::{Client as Machine, Config};

use crate::client::connection::Connection;
use crate::client::connector::{ConnectionConfig, Connector, Opened};
use crate::error::Error;
use crate::exec::clock::Clock;
use crate::exec::operation::Operation;
use crate::exec::workers::Spawn;
use crate::transport::link::Link;
use crate::transport::shutdown::DriverHandle;

impl Connector {
    /// Opens a connection to the target, which is recovered when it is lost.
    pub(crate) async fn connect(self: &Arc<Self>) -> Result<Connection, Error> {
        let opened = self.open_with(self.machine.clone()).await?;
        Ok(self.recovers(opened))
    }

    /// Lets this connector recover a connection.
    fn recovers(self: &Arc<Self>, (link, child): Opened) -> Connection {
        let connection = Connection::new(Arc::clone(&link), child, Some(Arc::clone(self)));
        connection.slot().attach(&link);
        connection
    }

    /// Opens a connection again, expecting the era of the previous `link` unless it was guessed.
    // LIF-31: the cached era is a hint only.
    pub(crate) async fn reopen(&self, link: &Arc<Link<Machine>>) -> Result<Opened, Error> {
        let era = link.inspect(|state| state.connection.era_to_expect());
        let machine = self.machine.clone();
        self.open_with(match era {
            Some(era) => machine.expect_era(era),
            None => machine,
        })
        .await
    }

    async fn open_with(&self, machine: Config) -> Result<Opened, Error> {
        self.target.open(&self.connection, machine).await
    }
}

/// A connection that is being opened. Dropping this value closes the connection.
#[derive(Debug)]
pub(crate) struct Connecting(pub(crate) Connection);

/// A connection that could not be opened.
pub(crate) struct FailedStart {
    pub(crate) error: Error,
    /// The configuration to try next, if any.
    pub(crate) fallback: Option<Box<Config>>,
}

impl Connecting {
    /// Waits until the server has identified itself; the connection is then open.
    ///
    /// # Errors
    /// Fails with [`Error::Start`] if the connection ends first, or if the server does not respond
    /// in time.
    pub(crate) async fn wait(self) -> Result<Connection, Error> {
        let opened = self.wait_or_fall_back().await.map_err(|failed| failed.error)?;
        opened.slot().attach(&opened.link());
        Ok(opened)
    }

    pub(crate) async fn wait_or_fall_back(self) -> Result<Connection, FailedStart> {
        let Self(connection) = self;
        let link = connection.link();
        let opened = link.when(|state| {
            if let Some(why) = &state.role.closed {
                return Some(Err((why.clone(), state.connection.fallback())));
            }
            state.role.peer.is_some().then_some(Ok(()))
        });
        match opened.await {
            Ok(()) => Ok(connection),
            Err((why, fallback)) => {
                let error = connection.failed_start(why, fallback.is_some()).await;
                Err(FailedStart { error, fallback: fallback.map(Box::new) })
            }
        }
    }
}

impl ConnectionConfig {
    /// Creates a connection over a pair of byte streams, to be driven by the adapter.
    pub(crate) fn open(
        &self,
        clock: Clock,
        machine: Config,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Connecting, DriverHandle<Machine>)> {
        let link = self.link(clock, machine, runtime);
        let driving = DriverHandle::new(Arc::clone(&link), None, self.limits.clone());
        Ok((Connecting(Connection::new(link, None, None)), driving))
    }
}

impl Connection {
    /// Restarts the server or reconnects to it over HTTP, and returns the new connection.
    ///
    /// A lost connection is [recovered](crate::Client::recovery) without this method, which serves
    /// to restart a server, and to connect again after the client has given up.
    ///
    /// The new connection is configured like this one. If the old connection is still open, it is
    /// closed first. This handle keeps referring to the old connection.
    ///
    /// Calls in flight fail with [`CallError::Lost`](mcp_proto::CallError::Lost). The log level is
    /// requested again. A [`Subscription`](crate::Subscription) that ended with the old connection
    /// continues on the new one and delivers a change for everything that it covers.
    ///
    /// # Errors
    /// Fails with [`Error::Io`] of kind `Unsupported` if this connection was opened over a pair of
    /// byte streams. Otherwise, fails under the conditions listed for the method that opened this
    /// connection.
    // FRM-22: a server that died can be restarted. STL-38: changes are not replayed.
    pub fn reconnect(&self) -> Operation<'_, Self> {
        Operation::new(self.open_again())
    }

    async fn open_again(&self) -> Result<Self, Error> {
        let Some(connector) = self.connector() else {
            let why = "a connection over given byte streams cannot reconnect: use `Client::spawn` \
                       or connect over HTTP";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why).into());
        };
        self.start_close();
        self.slot().wait_ended().await;
        let link = self.link();
        let connection = connector.recovers(connector.reopen(&link).await?);
        for feed in connector.feeds() {
            if feed.resume(&connection.link()).await {
                // A subscription that cannot continue reports the reason itself.
                let _reported_by_its_end = feed.wait_open().await;
            }
        }
        Ok(connection)
    }
}
