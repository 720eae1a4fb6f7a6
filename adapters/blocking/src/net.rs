//! Sockets for HTTP, on the event loop of `mcp-smol`.

use std::io;
use std::net::{SocketAddr, TcpListener};
#[cfg(unix)]
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapter::http::{ByteStream, Dial, HttpService, Stop};
use mcp_adapter::{BoxFuture, HttpRuntime, Listen, Runtime as _, Spawn};
use mcp_smol::Smol;

use crate::drive;
use crate::runtime::Threads;

/// One thread that polls all sockets, on which handlers may not wait.
struct EventLoop(Arc<Smol>);

impl Spawn for EventLoop {
    fn spawn(&self, future: BoxFuture<'static, ()>) -> io::Result<()> {
        self.0.spawn(future)
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn waits_for_ends(&self) -> bool {
        !drive::is_driver()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(duration)
    }
}

impl Dial for EventLoop {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        self.0.resolve(host, port)
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        self.0.dial(address)
    }

    #[cfg(unix)]
    fn dial_unix(
        &self,
        path: &std::path::Path,
    ) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        self.0.dial_unix(path)
    }
}

impl HttpRuntime for Threads {
    fn dialer(self: Arc<Self>) -> io::Result<Arc<dyn Dial>> {
        Ok(Arc::new(EventLoop(Smol::current()?)))
    }
}

// The waiting thread only accepts. The thread that handles the requests also waits for IO: were it
// this one, each batch of requests would change threads.
impl Listen<TcpListener> for Threads {
    async fn listen(service: HttpService, listener: TcpListener, stop: &Stop) -> io::Result<()> {
        Smol::listen(service, listener, stop).await
    }
}

#[cfg(unix)]
impl Listen<UnixListener> for Threads {
    async fn listen(service: HttpService, listener: UnixListener, stop: &Stop) -> io::Result<()> {
        Smol::listen(service, listener, stop).await
    }
}
