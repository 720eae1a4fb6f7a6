//! The pool of HTTP connections to one server, each used by one exchange at a time.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use event_listener::Event;
use futures_lite::future::or;
use hyper::client::conn::http1::{self, SendRequest};
use mcp_proto::http::client::{ExchangeId, HttpConfig};
use mcp_proto::{CallError, CloseReason, Fault};

use super::authorization::SharedFetch;
use super::dial::{ByteStream, Dial, dial_any};
use super::full_body::FullBody;
use super::membership::{AllowedAddresses, AuthMember, RequestProofs};
use super::proxy::ProxyServer;
use super::remote::Remote;
use super::tls::Tls;
use crate::error::{Error, HttpFailure};
use crate::exec::cancellation::Cancellation;
use crate::http::hyper_stream::HyperStream;

/// The HTTP connections to one server, and the exchanges in flight.
pub(crate) struct HttpConnections {
    pub(super) remote: Remote,
    pub(super) runtime: Arc<dyn Dial>,
    /// Idle connections, and since when they are idle.
    idle: Mutex<Vec<(Instant, SendRequest<FullBody>)>>,
    /// Notified when a connection becomes idle.
    became_idle: Event,
    /// The abort flag of each exchange in flight.
    in_flight: Mutex<HashMap<ExchangeId, Arc<Cancellation>>>,
    /// The latest connection error.
    cause: Mutex<Option<io::Error>>,
    tls: Tls,
    /// The proxy that connections go through.
    proxy: Option<ProxyServer>,
    /// The addresses that may be connected to.
    addresses: AllowedAddresses,
    pub(super) proofs: RequestProofs,
    /// The asynchronous fetch of the `Authorization` field.
    pub(super) authorization: SharedFetch,
}

/// How long a connection is kept idle.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// The number of connections kept for messages other than calls: as many as are sent at once.
///
/// Otherwise, a server that sends many requests would make this client open a connection for almost
/// every answer.
const ONE_WAY_MAX: usize = 64;

/// How long opening a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection for one exchange.
pub(super) struct Borrowed {
    pub(super) sender: SendRequest<FullBody>,
    /// The connection was idle before, so the server may have closed it in the meantime.
    pub(super) is_reused: bool,
}

impl HttpConnections {
    pub(super) fn new(
        remote: Remote,
        runtime: Arc<dyn Dial>,
        member: &AuthMember,
    ) -> io::Result<Arc<Self>> {
        let tls = Tls::new(remote.is_secure, &remote.host, &remote.tls)?;
        let proxy = remote.proxy.server_for(remote.is_secure, &remote.host)?.cloned();
        Ok(Arc::new(Self {
            remote,
            runtime,
            idle: Mutex::default(),
            became_idle: Event::new(),
            in_flight: Mutex::default(),
            cause: Mutex::default(),
            tls,
            proxy,
            addresses: member.addresses(),
            proofs: member.proofs(),
            authorization: SharedFetch::default(),
        }))
    }

    /// Returns the configuration of the session, with a random seed.
    pub(super) fn settings(&self, member: &AuthMember) -> Result<HttpConfig, getrandom::Error> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)?;
        let mut config = HttpConfig::new(u64::from_ne_bytes(seed));
        if let Some((min, max)) = self.remote.reconnect {
            config = config.reconnect(min, max);
        }
        config = config.concurrent_calls_max(self.remote.concurrent_calls_max);
        if let Some(max) = self.remote.retry_max {
            config = config.retry_max(max);
        }
        config = if member.parks() { config.parks() } else { config };
        if let Some(url) = self.remote.sse_url() {
            config = config.sse_fallback(url);
        }
        Ok(if self.remote.has_stream { config } else { config.without_stream() })
    }

    /// Records a connection error.
    pub(super) fn failed(&self, cause: io::Error) {
        *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause);
    }

    /// Adds the URL and the latest connection error to an [`Error::Start`].
    pub(crate) fn explain(&self, mut error: Error) -> Error {
        if let Error::Start { why, http, .. } = &mut error {
            // Other failures mean that the server was reached and answered.
            let unreached = [CallError::Unsent, CallError::Lost];
            let is_unreached = match &why {
                CloseReason::Fault(Fault::Unreachable(why)) => unreached.contains(why),
                _ => false,
            };
            let cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner).take();
            let cause = cause.filter(|_| is_unreached);
            *http = Some(Box::new(HttpFailure { url: self.remote.url.clone(), cause }));
        }
        error
    }

    /// Registers an exchange; returns its abort flag.
    pub(super) fn begin(&self, exchange: ExchangeId) -> Arc<Cancellation> {
        let aborted = Arc::new(Cancellation::default());
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        in_flight.insert(exchange, Arc::clone(&aborted));
        aborted
    }

    /// Removes an exchange that has ended.
    pub(super) fn ended(&self, exchange: ExchangeId) {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&exchange);
    }

    /// Aborts an exchange.
    pub(super) fn abort(&self, exchange: ExchangeId) {
        let aborted =
            self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).remove(&exchange);
        if let Some(aborted) = aborted {
            aborted.set();
        }
    }

    /// Aborts all exchanges and closes the idle connections.
    pub(super) fn abort_all(&self) {
        let in_flight =
            std::mem::take(&mut *self.in_flight.lock().unwrap_or_else(PoisonError::into_inner));
        in_flight.values().for_each(|aborted| aborted.set());
        self.idle().clear();
    }

    /// Returns the number of exchanges in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes an idle connection, if there is one.
    pub(super) fn reserve(&self) -> Option<SendRequest<FullBody>> {
        self.idle().pop().map(|(_, sender)| sender)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Instant, SendRequest<FullBody>)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes connections that were idle for [`IDLE_TIME`], for ever.
    pub(super) async fn close_idle(&self) {
        loop {
            let became_idle = self.became_idle.listen();
            if self.idle().is_empty() {
                became_idle.await;
            }
            self.runtime.sleep(IDLE_TIME).await;
            self.idle().retain(|(since, _)| since.elapsed() < IDLE_TIME);
        }
    }

    /// Returns a connection: the reserved one, another idle one, or a new one.
    pub(super) async fn borrow(
        &self,
        reserved: Option<SendRequest<FullBody>>,
    ) -> io::Result<Borrowed> {
        let mut next = reserved;
        while let Some(sender) = next {
            if sender.is_ready() {
                return Ok(Borrowed { sender, is_reused: true });
            }
            next = self.reserve();
        }
        Ok(Borrowed { sender: self.connect().await?, is_reused: false })
    }

    /// Returns `used` for the next request of its exchange, or another connection if it was closed.
    pub(super) async fn borrow_again(
        &self,
        mut used: SendRequest<FullBody>,
    ) -> io::Result<Borrowed> {
        if used.ready().await.is_ok() {
            return Ok(Borrowed { sender: used, is_reused: true });
        }
        self.borrow(self.reserve()).await
    }

    /// Returns a connection to the pool.
    pub(super) fn give_back(&self, sender: SendRequest<FullBody>) {
        let mut idle = self.idle();
        let idle_max = self.remote.concurrent_calls_max.saturating_add(ONE_WAY_MAX);
        if idle.len() < idle_max && !sender.is_closed() {
            idle.push((Instant::now(), sender));
            drop(idle);
            self.became_idle.notify(1);
        }
    }

    /// Returns the proxy that forwards requests, because they are not encrypted.
    pub(super) fn forwarder(&self) -> Option<&ProxyServer> {
        self.proxy.as_ref().filter(|_| !self.remote.is_secure)
    }

    /// Opens a stream to the server, or to the proxy that forwards requests.
    async fn open(&self) -> io::Result<Box<dyn ByteStream>> {
        let Remote { host, port, is_secure, .. } = &self.remote;
        match &self.proxy {
            Some(proxy) if *is_secure => proxy.tunnel(&*self.runtime, host, *port).await,
            Some(proxy) => proxy.connect(&*self.runtime).await,
            None => {
                let resolved = self.runtime.resolve(host, *port).await?;
                let addresses = self.addresses.of(resolved)?;
                Ok(dial_any(&*self.runtime, &addresses).await?.0)
            }
        }
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> io::Result<SendRequest<FullBody>> {
        let connected = async {
            let stream = self.tls.secure(self.open().await?).await?;
            let (sender, connection) =
                http1::handshake(HyperStream(stream)).await.map_err(io::Error::other)?;
            let driven = async move {
                // The exchange reports how the connection ends.
                let _ended = connection.await;
            };
            Arc::clone(&self.runtime).as_spawn().spawn(Box::pin(driven))?;
            Ok(sender)
        };
        let late = async {
            self.runtime.sleep(CONNECT_TIMEOUT).await;
            Err(io::Error::new(io::ErrorKind::TimedOut, "connecting timed out"))
        };
        or(connected, late).await
    }
}
