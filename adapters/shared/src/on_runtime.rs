//! Servers and clients of a runtime, for code that works with several adapters.
//!
//! Each adapter names those of its runtime `Server` and `Client`. A server that one function builds
//! can be served on any runtime:
//!
//! ```
//! use mcp_adapter::{Server, on_runtime};
//!
//! fn weather() -> Server {
//!     Server::new("weather", "1.0.0")
//! }
//! # struct Tokio;
//!
//! let server: on_runtime::Server<Tokio> = on_runtime::server(weather());
//! # drop(server);
//! ```

use std::any::Any;
use std::io;
use std::sync::Arc;

use mcp_proto::Instant;
use mcp_proto::server::Server as Machine;
use mcp_proto::testing::DriverMachine;

pub use crate::client::Client;
use crate::exec::clock::Clock;
use crate::exec::workers::Spawn;
pub use crate::server::Server;
use crate::server::connection::serving::Serving;
use crate::transport::shutdown::DriverHandle;

/// Returns a server for another runtime.
pub fn server<R, Q>(server: Server<R>) -> Server<Q> {
    server.on()
}

/// Opens a connection of a server, for tests of adapters.
///
/// # Errors
/// Fails if a registered entry of the server is invalid.
#[doc(hidden)]
pub fn open<R>(
    server: &Server<R>,
    runtime: Arc<dyn Spawn>,
) -> io::Result<(Serving, DriverHandle<Machine>)> {
    server.settings.open_at(Clock::new(), runtime, None)
}

/// A connection whose driver [`check_driver`](mcp_proto::testing::check_driver) judges, for tests
/// of adapters.
#[doc(hidden)]
#[derive(Debug)]
pub struct JudgedConnection(Serving);

/// Opens a connection of a server whose driver is judged, in virtual time, for tests of adapters.
///
/// # Errors
/// Fails if a registered entry of the server is invalid.
#[doc(hidden)]
pub fn open_judged<R>(
    server: &Server<R>,
    runtime: Arc<dyn Spawn>,
) -> io::Result<(JudgedConnection, DriverHandle<Machine>)> {
    let (machine, clock) = (Box::new(DriverMachine::new()), Clock::manual(Instant::ZERO));
    let (serving, driving) = server.settings.open_on(machine, clock, runtime, None)?;
    Ok((JudgedConnection(serving), driving))
}

impl JudgedConnection {
    /// Advances the clock of the connection, without handling the timeouts that have expired then.
    pub fn advance_clock(&self, now: Instant) {
        self.0.link.clock.advance_to(now);
    }

    /// Passes the machine to `visit` and returns its result; `None` if it is not that of the kit.
    pub fn visit<T>(&self, visit: impl FnOnce(&mut DriverMachine) -> T) -> Option<T> {
        let mut state = self.0.link.lock();
        let machine: &mut dyn Any = &mut *state.connection;
        machine.downcast_mut().map(visit)
    }
}

/// Returns a client for another runtime.
pub fn client<R, Q>(client: Client<R>) -> Client<Q> {
    client.on()
}
