//! Everything needed to connect and reconnect: the client's configuration, the server and the
//! runtime.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use mcp_proto::Limits;
use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::stdio::Stdio;

use crate::box_future::BoxFuture;
use crate::client::call_hooks::CallHook;
use crate::client::events::{ClientCallbacks, ClientShared, LogLevel};
use crate::client::feed::Feed;
use crate::client::recovery::Recovery;
use crate::client::request_handler::Handlers;
use crate::client::task::settings::ClientTasks;
use crate::error::Error;
use crate::exec::callbacks::CallbackThreads;
use crate::exec::clock::Clock;
use crate::exec::pace::Pace;
use crate::exec::workers::{HandlerThreads, Spawn, Workers};
use crate::process::child::Child;
use crate::recorder::Recorder;
use crate::trace::Trace;
use crate::transport::link::{BoxedTransport, Link};

/// The configuration that all connections of one client share, except that of the protocol machine.
#[derive(Clone)]
pub(crate) struct ConnectionConfig {
    pub(crate) limits: Limits,
    pub(crate) handlers: Handlers,
    pub(crate) callbacks: ClientCallbacks,
    pub(crate) label: Option<Arc<str>>,
    pub(crate) on_call: Arc<[CallHook]>,
    pub(crate) tasks: ClientTasks,
    pub(crate) threads: HandlerThreads,
    pub(crate) callback_threads: CallbackThreads,
    pub(crate) trace_payloads: bool,
    pub(crate) recorder: Recorder,
    pub(crate) recovery: Recovery,
    /// The log level to request in each session, if any.
    pub(crate) log_level: LogLevel,
}

/// Everything needed to connect to a server, and to reconnect.
pub(crate) struct Connector {
    pub(crate) target: Box<dyn Target>,
    pub(crate) connection: ConnectionConfig,
    pub(crate) machine: Config,
    /// The subscriptions over all connections of this connector.
    feeds: Mutex<Vec<Weak<Feed>>>,
}

/// An open connection, with the process of its server.
pub(crate) type Opened = (Arc<Link<Machine>>, Option<Arc<Child>>);

/// The server to connect to, and the runtime to use.
pub(crate) trait Target: Send + Sync {
    /// Connects, and waits until the connection is open.
    fn open<'t>(
        &'t self,
        connection: &'t ConnectionConfig,
        machine: Config,
    ) -> BoxFuture<'t, Result<Opened, Error>>;

    /// Returns the runtime.
    fn runtime(&self) -> Arc<dyn Spawn>;
}

impl Connector {
    pub(crate) fn new(
        target: impl Target + 'static,
        connection: ConnectionConfig,
        machine: Config,
    ) -> Arc<Self> {
        Arc::new(Self { target: Box::new(target), connection, machine, feeds: Mutex::default() })
    }

    /// Remembers a subscription, to resume it on another link.
    pub(crate) fn add_feed(&self, feed: &Arc<Feed>) {
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.retain(|feed| feed.strong_count() > 0);
        feeds.push(Arc::downgrade(feed));
    }

    pub(crate) fn feeds(&self) -> Vec<Arc<Feed>> {
        let feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.iter().filter_map(Weak::upgrade).collect()
    }
}

impl ConnectionConfig {
    /// Creates a connection over a byte stream.
    pub(crate) fn link(
        &self,
        clock: Clock,
        machine: Config,
        runtime: &Arc<dyn Spawn>,
    ) -> Arc<Link<Machine>> {
        let began = clock.now();
        let machine = Stdio::new(Machine::new(began, machine));
        self.link_over(clock, self.recorder.start(machine, began), runtime)
    }

    /// Creates a connection over any transport.
    pub(crate) fn link_over(
        &self,
        clock: Clock,
        transport: BoxedTransport<Machine>,
        runtime: &Arc<dyn Spawn>,
    ) -> Arc<Link<Machine>> {
        let shared = ClientShared {
            handlers: Arc::clone(&self.handlers),
            pace: Arc::new(Pace::blocking()),
            workers: Workers::new(Arc::clone(&self.threads), Arc::clone(runtime))
                .manual(clock.is_manual()),
            callbacks: self.callbacks.clone(),
            callback_threads: self
                .callback_threads
                .on(Arc::clone(runtime))
                .manual(clock.is_manual()),
            label: self.label.clone(),
            on_call: Arc::clone(&self.on_call),
            log_level: Arc::clone(&self.log_level),
            tasks: self.tasks.clone(),
            ended: Arc::default(),
        };
        let trace = Trace::new("client", self.trace_payloads);
        Link::over_transport(clock, transport, shared, trace)
    }
}
