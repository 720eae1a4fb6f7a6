//! Connecting sockets with async-io.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs as _};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use async_io::Async;
use mcp_adapter::http::{ByteStream, Dial, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIME};
use mcp_adapter::{BoxFuture, HttpRuntime};
use socket2::{SockRef, TcpKeepalive};

use crate::runtime::Smol;

impl HttpRuntime for Smol {
    fn dialer(self: Arc<Self>) -> io::Result<Arc<dyn Dial>> {
        Ok(self)
    }
}

impl Dial for Smol {
    fn resolve(&self, host: &str, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Box::pin(async move { Ok(vec![(address, port).into()]) });
        }
        let host = host.to_owned();
        Box::pin(blocking::unblock(move || Ok((&*host, port).to_socket_addrs()?.collect())))
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        Box::pin(async move {
            let stream = Async::<TcpStream>::connect(address).await?;
            stream.get_ref().set_nodelay(true)?;
            SockRef::from(&stream).set_tcp_keepalive(&keep_alive())?;
            Ok(Box::new(stream) as Box<dyn ByteStream>)
        })
    }

    #[cfg(unix)]
    fn dial_unix(
        &self,
        path: &std::path::Path,
    ) -> BoxFuture<'static, io::Result<Box<dyn ByteStream>>> {
        let path = path.to_owned();
        Box::pin(async move {
            Ok(Box::new(Async::<UnixStream>::connect(path).await?) as Box<dyn ByteStream>)
        })
    }
}

/// Returns how a dead server is detected: event streams may be silent for any time otherwise.
fn keep_alive() -> TcpKeepalive {
    TcpKeepalive::new().with_time(KEEP_ALIVE_TIME).with_interval(KEEP_ALIVE_INTERVAL)
}
