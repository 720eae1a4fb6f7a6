//! The seam between HTTP clients and an async runtime: connecting, sleeping and spawning.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::{AsyncRead, AsyncWrite};

use crate::BoxFuture;
use crate::exec::workers::Spawn;

/// A connection's bytes, both ways.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// What a runtime does for HTTP clients.
pub trait Dial: Spawn {
    /// Connects to a port of a host, by name or address. What is read asks the system each time it
    /// would wait: a server that has closed what nobody used is to be noticed before anything
    /// is sent.
    fn dial(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn Duplex>>>;

    /// Sleeps.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// The same as what futures are run by.
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}
