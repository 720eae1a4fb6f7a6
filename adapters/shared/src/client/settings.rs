//! The settings of a client, independent of its runtime.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use mcp_proto::client::{Client as Machine, Config};
use mcp_proto::schema::Level;
use mcp_proto::{Capability, Limits, Side};

use crate::client::call_hooks::CallHook;
use crate::client::connect::Connecting;
use crate::client::connector::ConnectionConfig;
use crate::client::events::ClientCallbacks;
use crate::client::recovery::Recovery;
use crate::client::request_handler::{FORM, RequestHandler, URL};
use crate::client::task::settings::ClientTasks;
use crate::declared_extensions::DeclaredExtensions;
use crate::exec::callbacks::CallbackThreads;
use crate::exec::clock::Clock;
use crate::exec::workers::{HandlerThreads, Spawn, THREADS_MAX, handler_threads};
use crate::recorder::Recorder;
use crate::transport::shutdown::DriverHandle;

/// The settings of a client, with which it connects.
#[derive(Clone)]
pub(crate) struct ClientSettings {
    pub(crate) config: Config,
    pub(crate) extensions: DeclaredExtensions,
    pub(crate) limits: Limits,
    pub(crate) handlers: HashMap<&'static str, RequestHandler>,
    pub(crate) callbacks: ClientCallbacks,
    pub(crate) on_call: Vec<CallHook>,
    pub(crate) label: Option<Arc<str>>,
    pub(crate) tasks: ClientTasks,
    pub(crate) threads: HandlerThreads,
    pub(crate) callback_threads: CallbackThreads,
    pub(crate) trace_payloads: bool,
    pub(crate) recorder: Recorder,
    pub(crate) recovery: Recovery,
}

impl ClientSettings {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        Self {
            config: Config::new(name, version),
            extensions: DeclaredExtensions::default(),
            limits: Limits::default(),
            handlers: HashMap::new(),
            callbacks: ClientCallbacks::default(),
            on_call: Vec::new(),
            label: None,
            tasks: ClientTasks::undeclared(),
            threads: handler_threads(THREADS_MAX),
            callback_threads: CallbackThreads::default(),
            trace_payloads: false,
            recorder: Recorder::default(),
            recovery: Recovery::new(),
        }
    }

    /// Creates a connection over a pair of byte streams.
    pub(crate) fn open(
        self,
        clock: Clock,
        runtime: &Arc<dyn Spawn>,
    ) -> io::Result<(Connecting, DriverHandle<Machine>)> {
        let (connection, machine) = self.into_config()?;
        connection.open(clock, machine, runtime)
    }

    /// Returns the configuration of the protocol state machine.
    // TSK-01: the requests that may become tasks are those that have handlers.
    pub(super) fn machine_config(&self) -> Config {
        let has = |keys: &[&str]| keys.iter().any(|key| self.handlers.contains_key(key));
        let requests = [
            (Capability::TasksElicitation, has(&[FORM, URL])),
            (Capability::TasksSampling, has(&["sampling/createMessage"])),
        ];
        let offered: Vec<_> = requests.into_iter().filter(|(_, is_offered)| *is_offered).collect();
        if self.tasks.served.is_none() || offered.is_empty() {
            return self.config.clone();
        }
        let common = [Capability::Tasks, Capability::TasksCancel, Capability::TasksList];
        let declared = common.into_iter().chain(offered.into_iter().map(|(it, _)| it));
        declared.fold(self.config.clone(), Config::capability)
    }

    /// Splits off the configuration of the protocol state machine.
    ///
    /// # Errors
    /// Fails if an extension or the handler of one of its requests is invalid.
    pub(crate) fn into_config(self) -> io::Result<(ConnectionConfig, Config)> {
        let checked = self.extensions.check(Side::Server);
        checked.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let machine = self.machine_config();
        let log_level = self.callbacks.on_log.as_ref().map(|_| Level::Info);
        let connection = ConnectionConfig {
            limits: self.limits,
            handlers: Arc::new(self.handlers),
            callbacks: self.callbacks,
            on_call: self.on_call.into(),
            label: self.label,
            tasks: self.tasks,
            threads: self.threads,
            callback_threads: self.callback_threads,
            trace_payloads: self.trace_payloads,
            recorder: self.recorder,
            recovery: self.recovery,
            log_level: Arc::new(Mutex::new(log_level)),
        };
        Ok((connection, machine))
    }
}
