//! The state of the exchanges with one server: how they are sent, and which are in flight.

use std::collections::HashMap;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::http::client::{ExchangeId, HttpConfig};
use mcp_proto::{CallError, CloseReason, Fault};

use super::authorization::SharedFetch;
use super::http_send::HttpSend;
use super::membership::Membership;
use super::pool::{Leased, Pool};
use super::proxy::ProxyServer;
use super::remote::Remote;
use super::response::ResponseStream;
use crate::error::{Error, HttpFailure};
use crate::exec::cancellation::Cancellation;
use crate::http::dial::Dial;

/// The HTTP connections to one server, and the exchanges in flight.
pub(crate) struct HttpConnections {
    pub(super) remote: Remote,
    pub(super) runtime: Arc<dyn Dial>,
    pub(super) route: Route,
    /// The abort flag of each exchange in flight.
    in_flight: Mutex<HashMap<ExchangeId, Arc<Cancellation>>>,
    /// The latest connection error.
    cause: Mutex<Option<io::Error>>,
    /// The URL that rejected the latest request, if redirects led to it.
    rejected_at: Mutex<Option<String>>,
    /// The authorization of the connection, if it obtains the credentials.
    pub(super) member: Option<Arc<dyn Membership>>,
    /// The asynchronous fetch of the `Authorization` field.
    pub(super) authorization: SharedFetch,
}

/// How requests are sent.
pub(super) enum Route {
    Pool(Box<Pool>),
    Client(Arc<dyn HttpSend>),
}

impl HttpConnections {
    pub(super) fn new(
        remote: Remote,
        runtime: Arc<dyn Dial>,
        member: Option<Arc<dyn Membership>>,
    ) -> io::Result<Arc<Self>> {
        let route = match &remote.client {
            Some(client) => Route::Client(Arc::clone(client)),
            None => {
                let pool = Pool::new(remote.clone(), Arc::clone(&runtime), member.clone())?;
                Route::Pool(Box::new(pool))
            }
        };
        Ok(Arc::new(Self {
            remote,
            runtime,
            route,
            in_flight: Mutex::default(),
            cause: Mutex::default(),
            rejected_at: Mutex::default(),
            member,
            authorization: SharedFetch::default(),
        }))
    }

    /// Notes the URL that rejected a request, if redirects led to it.
    pub(super) fn rejected_at(&self, url: Option<String>) {
        *self.rejected_at.lock().unwrap_or_else(PoisonError::into_inner) = url;
    }

    /// Returns the URL that rejected the latest request, if redirects led to it.
    pub(super) fn redirected_to(&self) -> Option<String> {
        self.rejected_at.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the configuration of the session, with a random seed.
    pub(super) fn settings(&self) -> Result<HttpConfig, getrandom::Error> {
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
        config = if self.member.is_some() { config.parks() } else { config };
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
        if let Route::Pool(pool) = &self.route {
            pool.close();
        }
    }

    /// Returns the number of exchanges in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes an idle connection, if there is one.
    pub(super) fn reserve(&self) -> Option<Leased> {
        match &self.route {
            Route::Pool(pool) => pool.reserve(),
            Route::Client(_) => None,
        }
    }

    /// Closes connections that have been idle for too long. Never returns.
    pub(super) async fn close_idle(&self) {
        match &self.route {
            Route::Pool(pool) => pool.close_idle().await,
            Route::Client(_) => pending().await,
        }
    }

    /// Returns the proxy that forwards requests, because they are not encrypted.
    pub(super) fn forwarder(&self) -> Option<&ProxyServer> {
        match &self.route {
            Route::Pool(pool) => pool.forwarder(),
            Route::Client(_) => None,
        }
    }

    /// Returns the connection of a response, whose body has ended, to the pool.
    pub(super) fn give_back(&self, response: ResponseStream) {
        if let (Route::Pool(pool), Some(leased)) = (&self.route, response.finish()) {
            pool.give_back(leased);
        }
    }
}
