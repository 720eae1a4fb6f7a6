//! Creates the connections of a server.

use std::io;
use std::sync::Arc;

use mcp_proto::server::{Config, Server as Machine};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Caller, Instant, Limits, Principal};

use crate::exec::callbacks::Callbacks;
use crate::exec::clock::Clock;
use crate::exec::workers::{Spawn, Workers};
use crate::server::connection::events::{ServerParts, ServerShared};
use crate::server::connection::serve::STEPS;
use crate::server::connection::serving::Serving;
use crate::server::handler::required_scopes::GrantedScopes;
use crate::server::settings::ServerSettings;
use crate::trace::Trace;
use crate::transport::link::{BoxedTransport, Link};
use crate::transport::shutdown::DriverHandle;

impl ServerSettings {
    /// Creates a connection over a pair of byte streams for an adapter to drive. All requests come
    /// from `principal`.
    ///
    /// # Errors
    /// Fails if a registered tool, resource, resource template or prompt is invalid.
    pub(crate) fn open_at(
        &self,
        clock: Clock,
        runtime: Arc<dyn Spawn>,
        principal: Option<Principal>,
    ) -> io::Result<(Serving, DriverHandle<Machine>)> {
        let began = clock.now();
        let mut machine = Stdio::new(Machine::new(began, self.config()?));
        // AUT-76: who has no token has no scopes.
        let caller = principal.clone().map(|principal| {
            Caller::new().with_principal(principal).with_data(GrantedScopes(Vec::new()))
        });
        machine.set_caller(caller.map(Arc::new));
        let transport = self.recorder.start(machine, began);
        self.open_on(transport, clock, runtime, principal)
    }

    /// Creates a connection over a pair of byte streams with this machine.
    ///
    /// # Errors
    /// Fails under the conditions listed for [`open_at`](Self::open_at).
    pub(crate) fn open_on(
        &self,
        transport: BoxedTransport<Machine>,
        clock: Clock,
        runtime: Arc<dyn Spawn>,
        principal: Option<Principal>,
    ) -> io::Result<(Serving, DriverHandle<Machine>)> {
        let parts = self.parts(Arc::clone(&runtime), clock.is_manual())?;
        let link = self.link(clock, transport, runtime, parts);
        link.lock().role.principal.clone_from(&principal);
        let driving = DriverHandle::new(Arc::clone(&link), None, Limits::default())
            .pipe_bytes(self.stdio.pipe_bytes);
        let serving = Serving::new(link, principal).process(self.stdio);
        let driving = driving.watching(serving.host());
        Ok((serving, driving))
    }

    /// Returns the configuration of the server's connections.
    pub(crate) fn config(&self) -> io::Result<Config> {
        self.builder.config()
    }

    /// Returns where the application's callbacks run.
    pub(crate) fn callbacks(&self, runtime: Arc<dyn Spawn>) -> Callbacks {
        self.callback_threads.on(runtime)
    }

    /// Returns what the connections on `runtime` share. Starts the handlers of tasks that ran
    /// before a restart of the server.
    ///
    /// # Errors
    /// Fails if the store of tasks cannot be read.
    pub(crate) fn parts(
        &self,
        runtime: Arc<dyn Spawn>,
        is_manual: bool,
    ) -> io::Result<Arc<ServerParts>> {
        let open = self.builder.changes.open_tasks();
        let parts = Arc::new(ServerParts {
            changes: self.builder.changes.clone(),
            sealing: self.builder.sealing.clone(),
            checks: self.builder.changes.checks(),
            argument_checks: self.builder.argument_checks.clone(),
            callbacks: Arc::clone(&self.callbacks),
            callback_threads: self.callbacks(Arc::clone(&runtime)).manual(is_manual),
            layers: self.layers.clone(),
            states: Arc::clone(&self.builder.states),
            visibility: self.visibility.clone(),
            unregistered: self.unregistered.clone(),
            kept: Arc::default(),
            tasks: open.map(|open| self.tasks.get(open)).transpose()?,
        });
        if let Some(tasks) = &parts.tasks {
            let machine = || self.config().ok().map(|config| Machine::new(Instant::ZERO, config));
            Arc::clone(tasks).resume(STEPS, &machine, &|machine| {
                let clock = if is_manual { Clock::manual(Instant::ZERO) } else { Clock::new() };
                let transport = Box::new(Stdio::new(machine));
                self.link(clock, transport, Arc::clone(&runtime), Arc::clone(&parts))
            });
        }
        Ok(parts)
    }

    /// Creates a connection.
    pub(crate) fn link(
        &self,
        clock: Clock,
        transport: BoxedTransport<Machine>,
        runtime: Arc<dyn Spawn>,
        parts: Arc<ServerParts>,
    ) -> Arc<Link<Machine>> {
        let workers = Workers::new(Arc::clone(&self.threads), runtime)
            .manual(clock.is_manual())
            .for_single_request(transport.is_single_request());
        let shared = ServerShared { parts, workers };
        Link::over_transport(clock, transport, shared, Trace::new("server", self.trace_payloads))
    }
}
