//! Opens the connections of a pool.

use std::io;
use std::time::Duration;

use futures_lite::future::or;
use hyper::client::conn::http1;

use super::permit::Permit;
use super::{Leased, Pool};
use crate::http::client::pool_options::HttpVersion;
use crate::http::client::remote::Remote;
use crate::http::dial::{ByteStream, dial_any};
use crate::http::hyper_stream::HyperStream;

/// How long opening a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

impl Pool {
    /// Opens a connection, which keeps its permit.
    pub(super) async fn connect(&self, permit: Permit) -> io::Result<Leased> {
        let connected = async {
            let (stream, has_chosen_http2) = self.tls.negotiate(self.open().await?).await?;
            if has_chosen_http2 || self.remote.pool.version == HttpVersion::Http2 {
                let opened = self.http2.open(stream, &self.runtime, permit).await;
                // It is idle once its exchanges end, also those that are given up.
                self.became_idle.notify(1);
                // It has room for others.
                self.permits.notify_all();
                return opened.map(Leased::Http2);
            }
            let (sender, connection) =
                http1::handshake(HyperStream(stream)).await.map_err(io::Error::other)?;
            let driven = async move {
                // The exchange reports how the connection ends.
                let _ended = connection.await;
                drop(permit);
            };
            self.runtime.spawn(Box::pin(driven))?;
            Ok(Leased::Http1(sender))
        };
        let late = async {
            self.runtime.sleep(CONNECT_TIMEOUT).await;
            Err(io::Error::new(io::ErrorKind::TimedOut, "connecting timed out"))
        };
        or(connected, late).await
    }

    /// Opens a stream to the server, or to the proxy that forwards requests.
    async fn open(&self) -> io::Result<Box<dyn ByteStream>> {
        let Remote { host, port, is_secure, socket, .. } = &self.remote;
        #[cfg(unix)]
        if let Some(socket) = socket {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", socket.display()))
            };
            return self.runtime.dial_unix(socket).await.map_err(named);
        }
        #[cfg(not(unix))]
        let _unsupported = socket;
        match &self.proxy {
            Some(proxy) if *is_secure => proxy.tunnel(&*self.runtime, host, *port).await,
            Some(proxy) => proxy.connect(&*self.runtime).await,
            None => {
                let resolved = self.runtime.resolve(host, *port).await?;
                let addresses = match &self.member {
                    Some(member) => member.allowed(resolved)?,
                    None => resolved,
                };
                Ok(dial_any(&*self.runtime, &addresses).await?.0)
            }
        }
    }
}
