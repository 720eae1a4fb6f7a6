//! Clients over Streamable HTTP and HTTP+SSE: exchanges over sockets that a runtime opens.

mod authorization;
mod authorize;
mod blocking_client;
mod call_credentials;
mod connections;
mod dial;
mod driver;
mod error_reason;
mod exchange;
mod full_body;
mod http_send;
mod membership;
#[cfg(feature = "auth")]
mod network;
mod pool;
mod pool_options;
mod proxy;
mod redirect;
mod remote;
mod remote_connection;
mod response;
mod this_machine;
mod tls;
mod transport;

use std::io;
use std::sync::Arc;

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::http::client::HttpClient;

pub use blocking_client::BlockingClient;
#[cfg(feature = "auth")]
pub(crate) use dial::dial_any;
pub use dial::{ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME};
#[cfg(feature = "auth")]
pub(crate) use full_body::FullBody;
pub use http_send::{HttpSend, ReceivedBody, SendError};
#[cfg(feature = "auth")]
pub(crate) use network::Network;
#[cfg(feature = "auth")]
pub(crate) use proxy::ProxyServer;
pub use proxy::{Proxy, ProxyError};
pub use remote::Remote;
#[cfg(feature = "tls")]
pub use tls::ClientIdentity;
#[cfg(feature = "auth")]
pub(crate) use tls::{Tls, TlsConfig};
pub use transport::AuthChallenge;
pub(crate) use transport::ClientTransport;

pub(crate) use self::call_credentials::{CachedFor, CallCredentials};
use self::connections::HttpConnections;
use self::membership::AuthMember;
use crate::client::connector::ConnectionConfig;
use crate::exec::clock::Clock;
use crate::exec::workers::Spawn;
use crate::transport::link::{Link, Transport};

/// Creates a connection and spawns its driver. The returned sockets explain why it did not open.
pub(crate) async fn start(
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
    let guard = driver::AbandonOnDrop(Arc::clone(&link));
    spawn.spawn(Box::pin(driver::drive(guard, Arc::clone(&connections), member)))?;
    Ok((link, connections))
}
