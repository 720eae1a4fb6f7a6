//! Clients over Streamable HTTP: exchanges over sockets that a runtime opens.

mod authorization;
mod authorize;
mod challenge_reason;
mod connections;
mod dial;
mod driver;
mod exchange;
mod redirect;
mod remote;
mod tls;
mod transport;

use std::io;
use std::sync::Arc;

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::http::client::HttpClient;

pub use dial::{ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME};
pub use remote::Remote;
pub use transport::AuthChallenge;
pub(crate) use transport::ClientTransport;

use self::connections::HttpConnections;
use crate::client::connector::ConnectionConfig;
use crate::exec::clock::Clock;
use crate::transport::link::{Link, Transport};

/// Creates a connection and spawns its driver. The returned sockets explain why it did not open.
pub(crate) fn start(
    connection: &ConnectionConfig,
    remote: &Remote,
    runtime: &Arc<dyn Dial>,
    machine: Config,
) -> io::Result<(Arc<Link<Machine>>, Arc<HttpConnections>)> {
    let connections = HttpConnections::new(remote.clone(), Arc::clone(runtime))?;
    let settings = connections.settings().map_err(|error| io::Error::other(error.to_string()))?;
    let clock = Clock::new();
    let machine = Machine::new(clock.now(), machine);
    let transport =
        Transport::Http(Box::new(ClientTransport::new(HttpClient::new(machine, settings))));
    let spawn = Arc::clone(runtime).as_spawn();
    let link = connection.link_over(clock, transport, &spawn);
    let guard = driver::AbandonOnDrop(Arc::clone(&link));
    spawn.spawn(Box::pin(driver::drive(guard, Arc::clone(&connections))))?;
    Ok((link, connections))
}
