//! Connects a client to a server over HTTP.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::http::client::HttpClient;

use super::call_credentials::CachedFor;
use super::connections::HttpConnections;
use super::driver::{self, AbandonOnDrop};
use super::membership::AuthMember;
use super::remote::Remote;
use super::transport::ClientTransport;
use crate::box_future::BoxFuture;
use crate::client::connect::Connecting;
use crate::client::connection::Connection;
use crate::client::connector::{ConnectionConfig, Connector, Target};
use crate::client::settings::ClientSettings;
use crate::error::Error;
use crate::exec::clock::Clock;
use crate::exec::workers::Spawn;
use crate::http::dial::Dial;
use crate::transport::link::{Link, Transport};

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
    ) -> BoxFuture<'t, Result<Connection, Error>> {
        Box::pin(async move {
            let (link, connections) =
                start(connection, &self.remote, &self.runtime, machine).await?;
            let opening = Connecting(Connection::new(link, None, None));
            let opened = opening.wait_or_fall_back().await;
            opened.map_err(|failed| connections.explain(failed.error))
        })
    }

    fn runtime(&self) -> Arc<dyn Spawn> {
        Arc::clone(&self.runtime) as _
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.runtime.sleep(duration)
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
    let member = AuthMember::join(remote, runtime).await?;
    let connections = HttpConnections::new(remote.clone(), Arc::clone(runtime), &member)?;
    let settings =
        connections.settings(&member).map_err(|error| io::Error::other(error.to_string()))?;
    let clock = Clock::new();
    let machine = Machine::new(clock.now(), machine);
    let transport =
        Transport::Http(Box::new(ClientTransport::new(HttpClient::new(machine, settings))));
    let spawn = Arc::clone(runtime) as Arc<dyn Spawn>;
    let link = connection.link_over(clock, transport, &spawn);
    {
        let mut state = link.lock();
        state.role.cached_for = CachedFor::new(&state, &connections);
    }
    member.attach(&link);
    let guard = AbandonOnDrop(Arc::clone(&link));
    spawn.spawn(Box::pin(driver::drive(guard, Arc::clone(&connections), member)))?;
    Ok((link, connections))
}
