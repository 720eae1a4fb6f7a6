//! The data that all requests of a service share, and its refusals.

use std::io;
use std::sync::{Arc, Mutex};

use mcp_proto::http::legacy_sse::SseSettings;
use mcp_proto::http::{ContextCache, Policy, Refusal, SessionTable};
use mcp_proto::server::{Config, Server as Machine};

use crate::exec::callbacks::{CallbackThreads, Callbacks};
use crate::exec::workers::Spawn;
use crate::http::dial::Dial;
use crate::http::server::authentication::Authenticator;
use crate::http::server::budget::Rejection;
use crate::http::server::options::Http;
use crate::http::server::sessions::{NotInserted, SessionTimers, Sessions};
use crate::server::connection::events::ServerParts;
use crate::server::settings::ServerSettings;
use crate::transport::link::{Link, SpawnTimer};

pub(super) struct ServiceShared {
    pub(super) server: ServerSettings,
    /// The data that the connections share.
    pub(super) parts: Arc<ServerParts>,
    pub(super) config: Config,
    /// The configuration for legacy clients without sessions.
    pub(super) sessionless_config: Config,
    /// The data that connections of legacy clients without sessions share, which have no tasks.
    pub(super) sessionless_parts: Arc<ServerParts>,
    pub(super) options: Http,
    pub(super) policy: Policy,
    /// HTTP+SSE, if the service offers it.
    pub(super) sse: Option<SseSettings>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) timers: Arc<dyn SpawnTimer<Link<Machine>>>,
    /// Runs checks and authentication.
    pub(super) callbacks: Callbacks,
    pub(super) runtime: Arc<dyn Dial>,
    /// The latest context of a modern request. A client repeats it in each request.
    pub(super) contexts: Mutex<ContextCache>,
}

impl ServiceShared {
    pub(super) fn new(
        server: &ServerSettings,
        options: Http,
        runtime: Arc<dyn Dial>,
    ) -> io::Result<Self> {
        let config = server.config()?;
        if options.authenticator.as_ref().and_then(Authenticator::authorizer).is_none()
            && let Some(name) = server.entry_with_scopes()
        {
            let why = format!("{name:?} requires scopes: set `Http::authorizing`");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let limits = options.connection_limits(config.limits_ref());
        let config = config.limits(limits);
        options.check_paths()?;
        let policy = options.policy(&config)?;
        let sse = options.sse_settings(&config)?;
        let sessions = Sessions::new(
            SessionTable::new(options.limits.sessions_max, options.limits.idle_max)
                .unconfirmed_max(options.limits.unconfirmed_max),
            options.limits.listeners_max,
            Arc::clone(&options.counters),
            options.limits.sessions_bytes_max,
        );
        options.sessions.add(&sessions);
        let server = server.clone();
        let timers = Arc::new(SessionTimers {
            sessions: Arc::downgrade(&sessions),
            runtime: Arc::clone(&runtime),
        });
        // Separate threads: callbacks may wait for clients, and no client must be able to hold up
        // the authentication of others.
        let callbacks = CallbackThreads::default().on(Arc::clone(&runtime) as Arc<dyn Spawn>);
        let parts = server.parts(Arc::clone(&runtime) as Arc<dyn Spawn>, false)?;
        Ok(Self {
            server,
            sessionless_config: config.clone().without_sessions(),
            sessionless_parts: Arc::new(ServerParts { tasks: None, ..(*parts).clone() }),
            parts,
            config,
            options,
            policy,
            sse,
            sessions,
            timers,
            callbacks,
            runtime,
            contexts: Mutex::default(),
        })
    }

    /// Returns a refusal because of a limit, and counts it.
    pub(super) fn refusal(&self, rejection: Rejection, why: &'static str) -> Refusal {
        self.options.counters.refuse(rejection);
        Refusal::new(rejection.status(), why).header("retry-after", RETRY_AFTER)
    }

    pub(super) fn session_refusal(&self, why: NotInserted) -> Refusal {
        match why {
            NotInserted::Full => {
                self.refusal(Rejection::Service, "too many sessions (`HttpLimits::sessions_max`)")
            }
            NotInserted::Taken => Refusal::new(500, "session id is taken (`Http::session_ids`)"),
        }
    }

    pub(super) fn require_session_bytes(&self) -> Result<(), Refusal> {
        if self.sessions.has_bytes() {
            return Ok(());
        }
        let why = "sessions hold too many bytes (`HttpLimits::sessions_bytes_max`)";
        Err(self.refusal(Rejection::Service, why))
    }
}

/// How long a client that was refused should wait, in seconds.
const RETRY_AFTER: &str = "5";
