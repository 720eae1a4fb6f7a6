//! Connects a client to a server over HTTP.

use std::io;
use std::sync::{Arc, Weak};

use mcp_proto::MessageEndpoint as _;
use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::http::client::HttpClient;

use super::connections::HttpConnections;
use super::driver::{self, AbandonOnDrop};
use super::remote::Remote;
use super::transport::ClientTransport;
use crate::box_future::BoxFuture;
use crate::client::cache_owner::CacheOwner;
use crate::client::connect::Connecting;
use crate::client::connection::Connection;
use crate::client::connector::{ConnectionConfig, Connector, Opened, Target};
use crate::client::settings::ClientSettings;
use crate::error::Error;
use crate::exec::clock::Clock;
use crate::exec::workers::Spawn;
use crate::http::dial::Dial;
use crate::transport::link::Link;

impl ClientSettings {
    /// Connects to a server over HTTP.
    pub(crate) async fn connect_http(
        self,
        runtime: Arc<dyn Dial>,
        remote: Remote,
    ) -> Result<Connection, Error> {
        let (connection, machine) = self.into_config()?;
        Connector::new(RemoteServer { remote, runtime }, connection, machine).connect().await
    }
}

/// A server to connect to over HTTP, on a runtime.
struct RemoteServer {
    remote: Remote,
    runtime: Arc<dyn Dial>,
}

impl Target for RemoteServer {
    fn open<'t>(
        &'t self,
        connection: &'t ConnectionConfig,
        machine: Config,
    ) -> BoxFuture<'t, Result<Opened, Error>> {
        Box::pin(async move {
            let (link, connections) =
                start(connection, &self.remote, &self.runtime, machine).await?;
            let opening = Connecting(Connection::new(link, None, None));
            let opened = opening.wait_or_fall_back().await;
            opened.map(Connection::into_parts).map_err(|failed| connections.explain(failed.error))
        })
    }

    fn runtime(&self) -> Arc<dyn Spawn> {
        Arc::clone(&self.runtime) as _
    }
}

/// Creates a connection and spawns its driver. The returned sockets explain why it did not open.
async fn start(
    connection: &ConnectionConfig,
    remote: &Remote,
    runtime: &Arc<dyn Dial>,
    machine: Config,
) -> io::Result<(Arc<Link<Machine>>, Arc<HttpConnections>)> {
    remote.check_credentials()?;
    remote.check_connections()?;
    let member = match remote.authorization_of_sessions() {
        Some(authorization) => Some(authorization.join(remote, runtime).await?),
        None => None,
    };
    let connections = HttpConnections::new(remote.clone(), Arc::clone(runtime), member.clone())?;
    let settings = connections.settings().map_err(|error| io::Error::other(error.to_string()))?;
    let clock = Clock::new();
    let machine = Machine::new(clock.now(), machine);
    let transport = Box::new(ClientTransport::new(HttpClient::new(machine, settings)));
    let spawn = Arc::clone(runtime) as Arc<dyn Spawn>;
    let link = connection.link_over(clock, transport, &spawn);
    if connections.is_asked() {
        let owner = Arc::downgrade(&connections) as Weak<dyn CacheOwner>;
        let mut state = link.lock();
        let caches = state.connection.limits().cache_bytes_max > 0;
        state.role.cache_owner = caches.then_some(owner);
    }
    if let Some(member) = &member {
        member.attach(&link);
    }
    let guard = AbandonOnDrop(Arc::clone(&link));
    spawn.spawn(Box::pin(driver::drive(guard, Arc::clone(&connections), member)))?;
    Ok((link, connections))
}
