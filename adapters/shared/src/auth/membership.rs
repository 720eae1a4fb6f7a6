//! [`DriverMember`]: the part of a connection in an authorization that several may share.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_lite::future::or;
use mcp_proto::auth::{AuthConfig, Reach, RecordKey};
use mcp_proto::http::client::{Credentials, Generation, ParkedRequest};
use mcp_proto::http::header::Host;

use super::builder::Auth;
use super::driver::{AuthDriver, Decision, DriverIo, DriverTask, Member, MemberId};
use super::extensions::DpopSigner;
use super::oauth_http::OAuthHttp;
use crate::exec::workers::Spawn;
use crate::http::{Dial, Network, Remote};

/// How long stored credentials are waited for before the first request.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the end of a connection waits for a refresh and its save.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// The drivers of this process.
static DRIVERS: Mutex<Vec<Weak<AuthDriver>>> = Mutex::new(Vec::new());

/// A connection's membership in a shared authorization, which ends on drop.
pub(super) struct DriverMember {
    driver: Arc<AuthDriver>,
    id: MemberId,
    runtime: Arc<dyn Dial>,
    reach: Option<Reach>,
    dpop: Option<DpopSigner>,
}

impl DriverMember {
    /// Joins the authorization for `remote`, and starts it if there is none in this process.
    ///
    /// # Errors
    /// Fails if the URL or the configuration cannot be used, or if the runtime is shutting down.
    pub(super) async fn join(
        auth: &Auth,
        remote: &Remote,
        runtime: &Arc<dyn Dial>,
    ) -> io::Result<Self> {
        let limits = auth.auth_limits();
        let server = auth.server(remote)?;
        let http = OAuthHttp::new(Arc::clone(runtime), remote, limits.clone());
        let reach = match server.host() {
            // What a name leads to is up to the client, as it is through a proxy.
            Host::Name(_) if remote.has_client() && !server.is_loopback() => Some(Reach::Public),
            Host::Name(_) if !server.is_loopback() => http.reach_of(&server).await.ok().flatten(),
            Host::Name(_) | Host::V4(_) | Host::V6(_) => None,
        };
        let mut config = auth.config(server, remote.certificate().as_deref())?;
        if let Some(reach) = reach {
            config = config.reach(reach);
        }
        let (config, dpop) = auth.extensions.bind_tokens(config, limits)?;
        let io = DriverIo { runtime: Arc::clone(runtime), http };
        let (driver, id) = find_or_start(auth, config, &remote.network(), io)?;
        let joined = Self { driver, id, runtime: Arc::clone(runtime), reach, dpop };
        or(joined.driver.restored(), runtime.sleep(RESTORE_TIMEOUT)).await;
        Ok(joined)
    }

    /// Returns the least private address that the server may be connected to at, if there is one.
    // AUT-67: what the server may name depends on it.
    pub(super) const fn reach(&self) -> Option<Reach> {
        self.reach
    }

    /// Returns the signer of the proofs that requests need, if tokens may be bound to a key.
    pub(super) const fn dpop(&self) -> Option<&DpopSigner> {
        self.dpop.as_ref()
    }

    /// Connects a connection; returns the credentials for its first request.
    pub(super) fn attach_member(&self, member: Arc<dyn Member>) -> Option<Credentials> {
        self.driver.attach(self.id, member)
    }

    /// Handles a rejected request of `member`, this connection. `url` rejected it, if redirects led
    /// to another one than that of the connection.
    pub(super) fn on_parked(&self, member: &dyn Member, parked: &ParkedRequest, url: Option<&str>) {
        match self.driver.challenge(self.id, parked, url) {
            Decision::Wait => {}
            Decision::Retry(credentials) => member.authorize(&credentials),
            Decision::Deny(reason) => member.deny(parked.exchange, &reason),
        }
    }

    /// Notes that the server accepted credentials.
    pub(super) fn accepted(&self, generation: Generation) {
        self.driver.accepted(generation);
    }

    /// Leaves the authorization. If no other connection uses it, waits until a refresh in flight is
    /// saved, but at most 5 s: a refresh that takes longer is finished and saved in the background,
    /// within its timeouts, if the runtime keeps running. Its token is lost otherwise.
    //
    pub(super) async fn leave_driver(&self) {
        self.driver.leave(self.id);
        or(self.driver.stopped(), self.runtime.sleep(STOP_TIMEOUT)).await;
    }
}

impl Drop for DriverMember {
    fn drop(&mut self) {
        self.driver.leave(self.id);
    }
}

/// Joins the driver with this configuration and identity, or starts one.
fn find_or_start(
    auth: &Auth,
    config: AuthConfig,
    network: &Network,
    io: DriverIo,
) -> io::Result<(Arc<AuthDriver>, MemberId)> {
    let (driver, id) = find_or_create(auth, config, network)
        .ok_or_else(|| io::Error::other("the authorization is closed"))?;
    let spawn = Arc::clone(&io.runtime) as Arc<dyn Spawn>;
    let task = DriverTask::new(Arc::clone(&driver), id, io);
    spawn.spawn(Box::pin(task.run())).inspect_err(|_| driver.leave(id))?;
    Ok((driver, id))
}

fn find_or_create(
    auth: &Auth,
    config: AuthConfig,
    network: &Network,
) -> Option<(Arc<AuthDriver>, MemberId)> {
    // Dropped after the lock: the last reference to a driver drops values of the application.
    let running: Vec<Arc<AuthDriver>>;
    let mut drivers = DRIVERS.lock().unwrap_or_else(PoisonError::into_inner);
    drivers.retain(|driver| driver.strong_count() > 0);
    running = drivers.iter().filter_map(Weak::upgrade).collect();
    let join = |driver: &Arc<AuthDriver>| {
        driver.join(auth, &config, network).map(|id| (Arc::clone(driver), id))
    };
    running.iter().find_map(join).or_else(|| {
        let driver = Arc::new(AuthDriver::new(auth.clone(), config.clone(), network.clone()));
        drivers.push(Arc::downgrade(&driver));
        join(&driver)
    })
}

/// Returns the drivers of this process that use a record of the store of `auth`.
pub(super) fn drivers_with(auth: &Auth, key: &RecordKey) -> Vec<Arc<AuthDriver>> {
    // Dropped after the lock: the last reference to a driver drops values of the application.
    let mut running: Vec<Arc<AuthDriver>> = {
        let drivers = DRIVERS.lock().unwrap_or_else(PoisonError::into_inner);
        drivers.iter().filter_map(Weak::upgrade).collect()
    };
    running.retain(|driver| driver.uses(auth, key));
    running
}
