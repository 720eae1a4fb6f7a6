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

/// The part of a runtime that HTTP clients use.
pub trait Dial: Spawn {
    /// Opens a TCP connection to `port` of `host`, which is a name or an address.
    ///
    /// A read must query the operating system before it returns `Pending`. Otherwise a connection
    /// that the server closed while it was idle might not be detected before a request is sent over
    /// it.
    fn dial(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>>;

    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;

    /// Upcasts to [`Spawn`].
    fn as_spawn(self: Arc<Self>) -> Arc<dyn Spawn>;
}
