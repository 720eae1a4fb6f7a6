//! The driver of an authorization, which all connections to one server and profile share.
//!
//! ```text
//!  connections                    AuthDriver                       outside
//!  ───────────                    ──────────                       ───────
//!  Parked ──── challenge ──▶ ┌───────────────┐ ── Fetch ────▶ authorization server
//!  Accepted ─ accepted ────▶ │ Authorization │ ── Show ─────▶ browser, `on_login`
//!                            │   (no IO)     │ ◀─ redirect ── listener, `Login`
//!  authorize ◀── Granted ─── └───────────────┘ ── Acquire ──▶ store   (callback threads)
//!  deny      ◀── Denied ────                   ── Sign ─────▶ key     (callback threads)
//! ```
//!
//! Tasks on the runtimes of the connections take turns to perform the actions and to keep the time.
//! Everything that may block runs on callback threads. Code of the application never runs under the
//! lock of the driver.

mod actions;
mod fetch;
mod job_slots;
mod listener;
mod listener_state;
mod member;
mod record_use;
mod state;
mod task;
mod users;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use event_listener::Event;
use mcp_proto::auth::{
    AuthConfig, Authorization, Denial, RecordKey, RejectedRequest, Time, Verdict,
};
use mcp_proto::http::client::{Credentials, Generation, ParkedRequest};

pub(crate) use member::{Member, MemberId};
pub(super) use state::Decision;
pub(super) use task::DriverTask;

use self::job_slots::JobSlots;
use self::state::DriverState;
use crate::auth::builder::Auth;
use crate::auth::oauth_http::OAuthHttp;
use crate::auth::system::unix_time;
use crate::exec::callbacks::CallbackThreads;
use crate::exec::clock::Clock;
use crate::http::{Dial, Network};

/// The driver of an authorization.
pub(super) struct AuthDriver {
    auth: Auth,
    config: AuthConfig,
    network: Network,
    clock: Clock,
    state: Mutex<DriverState>,
    /// Notified when there may be actions, events or another deadline.
    changed: Event,
    threads: CallbackThreads,
    /// The running functions that ask people, and those that open a browser.
    people: Arc<JobSlots>,
    browsers: Arc<JobSlots>,
}

/// The means by which a driver's task performs IO.
pub(super) struct DriverIo {
    pub(super) runtime: Arc<dyn Dial>,
    pub(super) http: OAuthHttp,
}

impl AuthDriver {
    /// Creates a driver without members.
    pub(super) fn new(auth: Auth, config: AuthConfig, network: Network) -> Self {
        let clock = Clock::new();
        let time = Time { now: clock.now(), unix: unix_time() };
        let mut machine = Authorization::new(time, config.clone());
        machine.restore(time);
        Self {
            auth,
            config,
            network,
            clock,
            state: Mutex::new(DriverState::new(machine)),
            changed: Event::new(),
            threads: CallbackThreads::default(),
            people: Arc::default(),
            browsers: Arc::default(),
        }
    }

    /// Adds a member if the driver has this configuration and identity and is not closing.
    // Another store, identity or key may mean another user.
    pub(super) fn join(
        &self,
        auth: &Auth,
        config: &AuthConfig,
        network: &Network,
    ) -> Option<MemberId> {
        let is_same = self.config == *config
            && self.auth.has_identity_of(auth)
            && self.network.is_same(network);
        if !is_same {
            return None;
        }
        self.lock().join()
    }

    /// Returns whether the tokens are the record `key` of the store of `auth`.
    pub(super) fn uses(&self, auth: &Auth, key: &RecordKey) -> bool {
        Arc::ptr_eq(&self.auth.store, &auth.store) && self.config.grant_key() == *key
    }

    /// Deletes the tokens, here, in the store and in the members, as after a logout.
    pub(super) fn forget(&self) {
        let (members, generation) = self.change(DriverState::forget);
        members.iter().for_each(|member| member.forget(generation));
    }

    /// Connects a member; returns the credentials for its first request.
    pub(super) fn attach(&self, id: MemberId, member: Arc<dyn Member>) -> Option<Credentials> {
        self.lock().attach(id, member)
    }

    /// Removes a member. After the last one, the driver finishes a refresh and its save, as long as
    /// the runtime of that member keeps running, and stops.
    pub(super) fn leave(&self, id: MemberId) {
        self.change(|state, time| state.leave(id, time));
    }

    /// Waits until stored credentials were loaded.
    pub(super) async fn restored(&self) {
        self.wait_until(|state| !state.machine.is_restoring()).await;
    }

    /// Waits until the driver has stopped, if it has no members left.
    pub(super) async fn stopped(&self) {
        self.wait_until(DriverState::is_idle).await;
    }

    /// Decides what becomes of a parked request.
    pub(super) fn challenge(
        &self,
        id: MemberId,
        parked: &ParkedRequest,
        url: Option<&str>,
    ) -> Decision {
        self.change(|state, time| {
            state.machine.redirected_to(url);
            let verdict = state.machine.handle_challenge(time, &RejectedRequest::from(parked));
            state.collect();
            match verdict {
                Verdict::Wait => {
                    state.wait(id, parked.exchange);
                    Decision::Wait
                }
                Verdict::Retry => match state.credentials() {
                    Some(credentials) => Decision::Retry(credentials),
                    None => Decision::Deny(Denial::Rejected.to_string()),
                },
                Verdict::Denied(denial) => Decision::Deny(denial.to_string()),
            }
        })
    }

    /// Notes that the server accepted credentials.
    pub(super) fn accepted(&self, generation: Generation) {
        // Nothing follows for the tasks.
        self.lock().machine.accepted(generation);
    }

    fn handle_timeout(&self) {
        let time = self.time();
        let mut state = self.lock();
        state.machine.handle_timeout(time);
        state.collect();
    }

    /// Changes the state, and wakes the tasks and those who wait.
    ///
    /// `act` must run no code of the application, nor drop values of it.
    fn change<T>(&self, act: impl FnOnce(&mut DriverState, Time) -> T) -> T {
        let mut state = self.lock();
        let outcome = act(&mut state, self.time());
        state.collect();
        drop(state);
        self.changed.notify(usize::MAX);
        outcome
    }

    async fn wait_until(&self, is_met: impl Fn(&DriverState) -> bool) {
        loop {
            let changed = self.changed.listen();
            if is_met(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    fn time(&self) -> Time {
        Time { now: self.clock.now(), unix: unix_time() }
    }

    fn lock(&self) -> MutexGuard<'_, DriverState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
