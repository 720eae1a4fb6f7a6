//! The HTTP connections to one server: opened on demand, kept while idle, and used by one exchange
//! at a time.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_lite::future::or;
use http_body::{Frame, SizeHint};
use hyper::client::conn::http1::{self, SendRequest};
use mcp_proto::http::client::{Config, ExchangeId};
use mcp_proto::{CallError, Close, Fault};
use smol_hyper::rt::FuturesIo;

use super::dial::{Dial, Duplex};
use super::remote::Remote;
use crate::error::{Error, HttpFailure};
use crate::exec::cancellation::Cancelled;

/// The connections to one server.
pub(crate) struct HttpConnections {
    pub(super) remote: Remote,
    pub(super) runtime: Arc<dyn Dial>,
    /// Connections that nobody uses.
    idle: Mutex<Vec<SendRequest<Once>>>,
    /// What ends each exchange.
    open: Mutex<HashMap<ExchangeId, Arc<Cancelled>>>,
    /// Why there was no connection, or none any more, the last time.
    cause: Mutex<Option<io::Error>>,
    #[cfg(feature = "tls")]
    tls: Option<super::tls::Tls>,
}

/// Connections that are kept although nobody uses them.
const IDLE_MAX: usize = 8;

/// How long it may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection, and whether it was used before: the server may have closed it in the meantime.
pub(super) struct Borrowed {
    pub(super) sender: SendRequest<Once>,
    pub(super) is_used: bool,
}

impl HttpConnections {
    pub(super) fn new(remote: Remote, runtime: Arc<dyn Dial>) -> io::Result<Arc<Self>> {
        #[cfg(feature = "tls")]
        let tls = if remote.is_secure { Some(super::tls::Tls::new(&remote)?) } else { None };
        Ok(Arc::new(Self {
            remote,
            runtime,
            idle: Mutex::default(),
            open: Mutex::default(),
            cause: Mutex::default(),
            #[cfg(feature = "tls")]
            tls,
        }))
    }

    /// How the session is to behave, with a seed of its own.
    pub(super) fn settings(&self) -> Result<Config, getrandom::Error> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)?;
        let mut config = Config::new(u64::from_ne_bytes(seed));
        if let Some((min, max)) = self.remote.reconnect {
            config = config.reconnect(min, max);
        }
        Ok(if self.remote.has_stream { config } else { config.without_stream() })
    }

    /// There is no connection, or none any more: why.
    pub(super) fn failed(&self, cause: io::Error) {
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause);
    }

    /// Adds where the server is, and why there was no connection to it.
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if let Error::Start { why, http, .. } = &mut error {
            // What was answered was reached.
            let unreached = [CallError::Unsent, CallError::Lost];
            let is_unreached =
                matches!(why, Close::Fault(Fault::Unopened(why)) if unreached.contains(why));
            let cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner).take();
            let cause = cause.filter(|_| is_unreached);
            *http = Some(Box::new(HttpFailure { url: self.remote.url.clone(), cause }));
        }
        error
    }

    /// An exchange begins; what ends it.
    pub(super) fn begin(&self, exchange: ExchangeId) -> Arc<Cancelled> {
        let aborted = Arc::new(Cancelled::default());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.insert(exchange, Arc::clone(&aborted));
        aborted
    }

    /// An exchange has ended.
    pub(super) fn ended(&self, exchange: ExchangeId) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&exchange);
    }

    /// Ends an exchange, wherever it stands.
    pub(super) fn abort(&self, exchange: ExchangeId) {
        let aborted = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&exchange);
        if let Some(aborted) = aborted {
            aborted.set();
        }
    }

    /// Ends all exchanges.
    pub(super) fn abort_all(&self) {
        let open = std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        open.values().for_each(|aborted| aborted.set());
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Exchanges that are open.
    pub(super) fn open(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes a connection that nobody uses, if one is there.
    pub(super) fn reserve(&self) -> Option<SendRequest<Once>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// A connection: the one that was reserved, another that is there, or a new one.
    pub(super) async fn borrow(&self, reserved: Option<SendRequest<Once>>) -> io::Result<Borrowed> {
        let mut next = reserved;
        while let Some(sender) = next {
            if sender.is_ready() {
                return Ok(Borrowed { sender, is_used: true });
            }
            next = self.reserve();
        }
        Ok(Borrowed { sender: self.connect().await?, is_used: false })
    }

    /// A connection is free again.
    pub(super) fn give_back(&self, sender: SendRequest<Once>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX && !sender.is_closed() {
            idle.push(sender);
        }
    }

    /// A new connection.
    pub(super) async fn connect(&self) -> io::Result<SendRequest<Once>> {
        let connected = async {
            let stream = self.runtime.dial(&self.remote.host, self.remote.port).await?;
            let stream = self.secure(stream).await?;
            let (sender, connection) =
                http1::handshake(FuturesIo::new(stream)).await.map_err(io::Error::other)?;
            let driven = async move {
                // How it ends is told by the exchange that it ends.
                let _ended = connection.await;
            };
            Arc::clone(&self.runtime).as_spawn().spawn(Box::pin(driven))?;
            Ok(sender)
        };
        let late = async {
            self.runtime.sleep(CONNECT_TIMEOUT).await;
            Err(io::Error::new(io::ErrorKind::TimedOut, "there was no connection in time"))
        };
        or(connected, late).await
    }

    #[cfg(feature = "tls")]
    async fn secure(&self, stream: Box<dyn Duplex>) -> io::Result<Box<dyn Duplex>> {
        match &self.tls {
            Some(tls) => tls.secure(stream).await,
            None => Ok(stream),
        }
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_async, reason = "as with the feature")]
    async fn secure(&self, stream: Box<dyn Duplex>) -> io::Result<Box<dyn Duplex>> {
        Ok(stream)
    }
}

/// A body that is there as a whole.
#[derive(Debug)]
pub(super) struct Once(Option<Bytes>);

impl Once {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }
}

impl http_body::Body for Once {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, Bytes::len) as u64)
    }
}
