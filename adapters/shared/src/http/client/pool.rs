//! The pool of HTTP connections to one server.

mod connect;
mod http2;
mod permit;
#[cfg(test)]
#[cfg(feature = "tls")]
mod tests;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use event_listener::Event;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1;

use self::http2::{Http2Lease, Http2Pool, Patience};
use self::permit::Permits;
use super::full_body::FullBody;
use super::http_send::SendError;
use super::membership::Membership;
use super::pool_options::CONNECTIONS_FOR_STREAMS;
use super::proxy::ProxyServer;
use super::remote::Remote;
use super::tls::Tls;
use crate::http::dial::Dial;

/// The HTTP connections to one server. One over HTTP/1.1 is used by one exchange at a time.
pub(super) struct Pool {
    remote: Remote,
    runtime: Arc<dyn Dial>,
    /// Idle connections over HTTP/1.1, and since when they are idle.
    idle: Mutex<Vec<(Instant, http1::SendRequest<FullBody>)>>,
    http2: Http2Pool,
    /// Notified when a connection becomes idle.
    became_idle: Event,
    permits: Arc<Permits>,
    tls: Tls,
    /// The proxy that connections go through.
    proxy: Option<ProxyServer>,
    /// The authorization of the connection, which decides which addresses may be connected to.
    member: Option<Arc<dyn Membership>>,
}

/// The number of connections kept for messages other than calls: as many as are sent concurrently.
///
/// Otherwise, a server that sends many requests would make this client open a connection for almost
/// every response.
const ONE_WAY_MAX: usize = 64;

/// A connection for one exchange.
pub(super) enum Leased {
    Http1(http1::SendRequest<FullBody>),
    Http2(Http2Lease),
}

/// A connection, and whether it was used before: the server may have closed it in the meantime.
pub(super) struct Borrowed {
    pub(super) leased: Leased,
    pub(super) is_reused: bool,
}

impl Borrowed {
    const fn reused(leased: Leased) -> Self {
        Self { leased, is_reused: true }
    }
}

impl Pool {
    pub(super) fn new(
        remote: Remote,
        runtime: Arc<dyn Dial>,
        member: Option<Arc<dyn Membership>>,
    ) -> io::Result<Self> {
        let is_local = remote.socket.is_some();
        let proxy = match remote.proxy.server_for(remote.is_secure, &remote.host)? {
            Some(proxy) if !is_local => Some(proxy.clone()),
            _ => None,
        };
        let connections = remote.concurrent_calls_max.saturating_add(CONNECTIONS_FOR_STREAMS);
        let version = remote.pool.version;
        let tls = Tls::new(remote.is_secure, &remote.host, &remote.tls, version.offers_http2())?;
        version.check(proxy.is_some() && !remote.is_secure)?;
        Ok(Self {
            idle: Mutex::default(),
            http2: Http2Pool::default(),
            became_idle: Event::new(),
            permits: Permits::new(remote.pool.connections_max.unwrap_or(connections)),
            tls,
            proxy,
            member,
            remote,
            runtime,
        })
    }

    /// Closes the idle connections.
    pub(super) fn close(&self) {
        self.idle().clear();
        self.http2.close();
    }

    /// Takes an idle connection, if there is one.
    pub(super) fn reserve(&self) -> Option<Leased> {
        if let Some(lease) = self.http2.lease() {
            return Some(Leased::Http2(lease));
        }
        self.idle().pop().map(|(_, sender)| Leased::Http1(sender))
    }

    /// Takes an idle connection that can send immediately, if there is one. Closes those that
    /// cannot.
    fn reserve_ready(&self) -> Option<Leased> {
        loop {
            let leased = self.reserve()?;
            let is_ready = match &leased {
                Leased::Http1(sender) => sender.is_ready(),
                Leased::Http2(lease) => lease.is_open(),
            };
            if is_ready {
                return Some(leased);
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Instant, http1::SendRequest<FullBody>)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes connections that have been idle for too long. Never returns.
    pub(super) async fn close_idle(&self) {
        let timeout = self.remote.pool.idle_timeout;
        let pause = timeout.max(IDLE_CHECK_MIN);
        loop {
            let became_idle = self.became_idle.listen();
            if self.idle().is_empty() && self.http2.is_empty() {
                became_idle.await;
            }
            self.runtime.sleep(pause).await;
            self.idle().retain(|(since, _)| since.elapsed() < timeout);
            self.http2.close_idle(timeout);
        }
    }

    /// Returns a connection: the reserved one, another idle one, or a new one. Waits while there
    /// are as many connections as there may be.
    pub(super) async fn borrow(&self, reserved: Option<Leased>) -> io::Result<Borrowed> {
        let mut next = reserved;
        let mut patience = Patience::default();
        loop {
            while let Some(leased) = next.take().or_else(|| self.reserve()) {
                match leased {
                    Leased::Http1(sender) if sender.is_ready() => {
                        return Ok(Borrowed::reused(Leased::Http1(sender)));
                    }
                    // The server may still receive the previous request. Another connection is
                    // quicker, if there may be one.
                    Leased::Http1(mut sender) if self.permits.is_exhausted() => {
                        if sender.ready().await.is_ok() {
                            return Ok(Borrowed::reused(Leased::Http1(sender)));
                        }
                    }
                    Leased::Http1(_) => {}
                    Leased::Http2(lease) if lease.is_open() => {
                        return Ok(Borrowed::reused(Leased::Http2(lease)));
                    }
                    Leased::Http2(_) => {}
                }
            }
            let connecting = self.http2.connecting(self.remote.pool.version, &mut patience).await;
            // Not before the waits above, which would keep the wake-up from another exchange.
            let freed = self.permits.freed();
            // A connection that was opened or returned since the first attempt.
            if let Some(leased) = self.reserve_ready() {
                return Ok(Borrowed::reused(leased));
            }
            if let Some(permit) = self.permits.acquire() {
                drop(freed);
                let connected = self.connect(permit).await;
                connecting.finish(connected.is_ok());
                return connected.map(|leased| Borrowed { leased, is_reused: false });
            }
            drop(connecting);
            freed.await;
        }
    }

    /// Returns `used` for the next request of its exchange, or another connection if it was closed.
    pub(super) async fn borrow_again(&self, used: Option<Leased>) -> io::Result<Borrowed> {
        match used {
            Some(Leased::Http1(mut sender)) => match sender.ready().await {
                Ok(()) => Ok(Borrowed::reused(Leased::Http1(sender))),
                Err(_) => self.borrow(None).await,
            },
            used => self.borrow(used).await,
        }
    }

    /// Returns a connection to the pool.
    pub(super) fn give_back(&self, leased: Leased) {
        match leased {
            Leased::Http1(sender) => {
                let used = self.remote.concurrent_calls_max.saturating_add(ONE_WAY_MAX);
                let idle_max = self.remote.pool.idle_max.unwrap_or(used);
                let mut idle = self.idle();
                if idle.len() >= idle_max || sender.is_closed() {
                    return;
                }
                idle.push((Instant::now(), sender));
            }
            Leased::Http2(lease) => drop(lease),
        }
        self.became_idle.notify(1);
        self.permits.notify();
    }

    /// Returns the proxy that forwards requests, because they are not encrypted.
    pub(super) fn forwarder(&self) -> Option<&ProxyServer> {
        self.proxy.as_ref().filter(|_| !self.remote.is_secure)
    }

    /// Sends a request and waits for the head of the response.
    pub(super) async fn send(
        &self,
        Borrowed { leased, is_reused }: Borrowed,
        request: Request<FullBody>,
    ) -> Result<(Leased, Response<Incoming>), SendError> {
        let retry = match leased {
            Leased::Http1(sender) => match send_http1(sender, request).await {
                Ok(sent) => return Ok(sent),
                // Nothing was sent: the server closed the idle connection.
                Err((_, Some(unsent))) if is_reused => unsent,
                Err((error, _)) => return Err(error),
            },
            Leased::Http2(lease) => match lease.send(request, &self.remote).await {
                Ok((lease, response)) => return Ok((Leased::Http2(lease), response)),
                Err((_, Some(refused))) => {
                    let again = self.borrow(None).await.map_err(SendError::unsent)?;
                    return self.send_again(again.leased, refused).await;
                }
                Err((error, None)) => return Err(error),
            },
        };
        let again = self.borrow_new().await.map_err(SendError::unsent)?;
        self.send_again(again, retry).await
    }

    /// Sends a request that another connection did not send, and no further.
    async fn send_again(
        &self,
        leased: Leased,
        retry: Request<FullBody>,
    ) -> Result<(Leased, Response<Incoming>), SendError> {
        match leased {
            Leased::Http1(sender) => send_http1(sender, retry).await.map_err(|(error, _)| error),
            Leased::Http2(lease) => match lease.send(retry, &self.remote).await {
                Ok((lease, response)) => Ok((Leased::Http2(lease), response)),
                Err((error, _)) => Err(error),
            },
        }
    }

    /// Opens a connection for a request that another one did not send. Takes one that is given back
    /// if there may be no more.
    async fn borrow_new(&self) -> io::Result<Leased> {
        loop {
            let freed = self.permits.freed();
            if let Some(permit) = self.permits.acquire() {
                drop(freed);
                return self.connect(permit).await;
            }
            if let Some(leased) = self.reserve_ready() {
                return Ok(leased);
            }
            freed.await;
        }
    }
}

/// The shortest time between two looks at idle connections.
const IDLE_CHECK_MIN: Duration = Duration::from_millis(10);

/// Sends a request. A request that was not sent is part of the error.
async fn send_http1(
    mut sender: http1::SendRequest<FullBody>,
    request: Request<FullBody>,
) -> Result<(Leased, Response<Incoming>), (SendError, Option<Request<FullBody>>)> {
    match sender.try_send_request(request).await {
        Ok(response) => Ok((Leased::Http1(sender), response)),
        Err(mut error) => {
            let unsent = error.take_message();
            let cause = error.into_error();
            let error =
                if unsent.is_some() { SendError::unsent(cause) } else { SendError::lost(cause) };
            Err((error, unsent))
        }
    }
}
