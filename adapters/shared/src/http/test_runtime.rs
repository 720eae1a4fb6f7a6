//! A runtime for tests: a thread for each task, and real sockets.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::future::block_on;

use super::dial::{ByteStream, Dial};
use crate::box_future::BoxFuture;
use crate::exec::workers::Spawn;

/// Runs each task on a thread, and resolves only addresses.
pub(crate) struct TestRuntime;

impl TestRuntime {
    /// Returns the runtime as a service passes it on.
    pub(crate) fn shared() -> Arc<dyn Dial> {
        Arc::new(Self)
    }
}

impl Spawn for TestRuntime {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        thread::spawn(move || block_on(future));
        Ok(())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let _now = Timer::after(duration).await;
        })
    }
}

impl Dial for TestRuntime {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let address = host.parse().map(|address| vec![SocketAddr::new(address, port)]);
        Box::pin(async move { address.map_err(|_| io::ErrorKind::NotFound.into()) })
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            Ok(Box::new(Async::<TcpStream>::connect(address).await?) as Box<dyn ByteStream>)
        })
    }
}
