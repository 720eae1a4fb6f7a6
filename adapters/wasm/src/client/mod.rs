//! [`Client`]: a builder of clients for one thread.

pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod connection;

use std::fmt;
use std::future::Future;
use std::rc::Rc;

use mcp_proto::client::Config;
use mcp_proto::schema::Encode;
use mcp_proto::{Capability, Era, ErrorObject, Limits, Raw, Revision};

use crate::client::calls::{Answer, Handlers};

/// A builder of clients, whose handlers need not be `Send`.
///
/// Set handlers and options, then connect to a server: in memory with `memory::connect`, or over
/// HTTP with `js::connect_http` or `http::connect`.
///
/// ```
/// use std::future::ready;
///
/// use mcp_wasm::Client;
/// use mcp_wasm::proto::{Capability, Raw};
///
/// let client = Client::new("demo", "1.0.0").on_request(
///     Capability::Roots,
///     "roots/list",
///     |_params| ready(Ok(Raw::from_text(r#"{"roots":[]}"#).unwrap())),
/// );
/// # drop(client);
/// ```
#[derive(Clone)]
#[must_use = "a client does nothing until it connects"]
pub struct Client {
    config: Config,
    limits: Limits,
    handlers: Handlers,
}

impl Client {
    /// Creates a client without handlers. `name` and `version` identify it to servers.
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            limits: Limits::default(),
            handlers: Handlers::default(),
        }
    }

    /// Declares a capability and sets the handler of the requests that need it.
    ///
    /// The handler receives the params, or `{}`, and returns the result: [`Raw`] JSON, or a type of
    /// the feature `schema`. Its future is dropped when the server cancels the request.
    pub fn on_request<R, F>(
        mut self,
        capability: Capability,
        method: &str,
        handler: impl Fn(Raw) -> F + 'static,
    ) -> Self
    where
        R: Encode + 'static,
        F: Future<Output = Result<R, ErrorObject>> + 'static,
    {
        let answer: Answer = Rc::new(move |params| {
            let answer = handler(params);
            Box::pin(async move { Ok(Box::new(answer.await?) as Box<dyn Encode>) })
        });
        self.handlers.requests.retain(|(known, _)| **known != *method);
        self.handlers.requests.push((method.into(), answer));
        self.declare(capability)
    }

    /// Sets a function that is called with each notification of the server.
    ///
    /// It receives the method and the params. Progress and cancellations are not passed to it.
    pub fn on_notification(mut self, callback: impl Fn(&str, Option<&Raw>) + 'static) -> Self {
        self.handlers.notification = Some(Rc::new(callback));
        self
    }

    /// Declares a capability that no registered handler implies.
    pub fn declare(mut self, capability: Capability) -> Self {
        self.config = self.config.capability(capability);
        self
    }

    /// Restricts the client to these protocol revisions. Default: all supported revisions.
    pub fn revisions(mut self, revisions: &[Revision]) -> Self {
        self.config = self.config.revisions(revisions);
        self
    }

    /// Sets the era that the server is expected to have, usually that of the previous connection.
    ///
    /// By default, the client probes the server to detect its era. Expecting the legacy era saves a
    /// round trip.
    pub fn expect_era(mut self, era: Era) -> Self {
        self.config = self.config.expect_era(era);
        self
    }

    /// Sets the resource limits and timeouts of each connection. Default: [`Limits::default`].
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits.clone();
        self.config = self.config.limits(limits);
        self
    }

    pub(crate) fn into_parts(self) -> (Config, Limits, Handlers) {
        (self.config, self.limits, self.handlers)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}
