//! The interface between HTTP clients and an async runtime.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_lite::{AsyncRead, AsyncWrite};

use crate::BoxFuture;
use crate::exec::workers::Spawn;

/// A bidirectional byte stream.
pub trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// The runtime operations that HTTP clients need.
pub trait Dial: Spawn {
    /// Opens a TCP connection to `port` on `host`, which is a host name or an IP address.
    ///
    /// A read from the returned stream must query the operating system before it returns `Pending`.
    /// Otherwise, the client might not notice that the server has closed an idle connection, and
    /// might send a request over it.
    fn dial(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>>;

    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Upcasts to [`Spawn`].
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}
