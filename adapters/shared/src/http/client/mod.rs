//! Clients over Streamable HTTP, as far as they need no runtime: exchanges on connections that a runtime opens.

mod dial;
mod exchange;
mod over;
mod pump;
mod remote;
#[cfg(feature = "tls")]
mod tls;
mod transport;

use std::io;
use std::sync::Arc;

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::http::client::Http;

pub use dial::{Dial, Duplex};
pub use over::Challenged;
pub(crate) use over::ClientOverHttp;
pub use remote::Remote;

use self::transport::Transport;
use crate::clock::Clock;
use crate::link::{Carrier, Link};
use crate::origin::Recipe;

/// Creates a connection and spawns its driver. The transport explains why a session did not open.
pub(crate) fn start(
    recipe: &Recipe,
    remote: &Remote,
    runtime: &Arc<dyn Dial>,
    config: Config,
) -> io::Result<(Arc<Link<Machine>>, Arc<Transport>)> {
    let transport = Transport::new(remote.clone(), Arc::clone(runtime))?;
    let settings = transport.settings().map_err(|error| io::Error::other(error.to_string()))?;
    let clock = Clock::new();
    let machine = Machine::new(clock.now(), config);
    let carrier = Carrier::Http(Box::new(ClientOverHttp::new(Http::new(machine, settings))));
    let spawn = Arc::clone(runtime).as_spawn();
    let link = recipe.link_over(clock, carrier, &spawn)?;
    let guard = pump::Guard(Arc::clone(&link));
    spawn.spawn(Box::pin(pump::drive(guard, Arc::clone(&transport))))?;
    Ok((link, transport))
}
