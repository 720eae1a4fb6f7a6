//! [`DriverTask`]: performs the actions of an authorization on the runtime of one member.

use std::sync::Arc;
use std::thread;

use futures_lite::future::or;
use mcp_proto::auth::Denial;

use super::member::{MemberId, deny_all};
use super::state::{Next, Stopped};
use super::{AuthDriver, DriverIo};
use crate::exec::callbacks::Callbacks;
use crate::exec::workers::Spawn;

/// The task of one member. Each member has one, on its own runtime, so that the driver continues as
/// long as any of these runtimes does; the tasks take turns.
///
/// Built before it is spawned: dropping it ends it, also if a runtime that shuts down never runs
/// it. The end of the last task stops the driver.
pub(in crate::auth) struct DriverTask {
    driver: Arc<AuthDriver>,
    member: MemberId,
    io: Arc<DriverIo>,
}

impl DriverTask {
    /// Creates the task of a member that has joined.
    pub(in crate::auth) fn new(driver: Arc<AuthDriver>, member: MemberId, io: DriverIo) -> Self {
        Self { driver, member, io: Arc::new(io) }
    }

    /// Performs actions and delivers events until the driver stops, or the member has left it to
    /// others.
    pub(in crate::auth) async fn run(self) {
        let driver = &self.driver;
        let callbacks = driver.threads.on(Arc::clone(&self.io.runtime) as Arc<dyn Spawn>);
        loop {
            let changed = driver.changed.listen();
            self.perform_all(&callbacks);
            let deadline = {
                let state = driver.lock();
                if state.needs_no_task_of(self.member) {
                    return;
                }
                state.machine.poll_timeout()
            };
            match deadline {
                Some(deadline) => {
                    or(changed, self.io.runtime.sleep(driver.clock.until(deadline))).await;
                }
                None => changed.await,
            }
            driver.handle_timeout();
        }
    }

    /// Performs what there is to do, unless another task does so.
    fn perform_all(&self, callbacks: &Callbacks) {
        if !self.driver.lock().begin_turn() {
            return;
        }
        let mut turn = Turn { driver: &self.driver, is_over: false };
        while let Some(next) = turn.next() {
            match next {
                Next::Act(action) => self.driver.perform(&self.io, callbacks, action),
                Next::Ask(number, event) => self.driver.ask(callbacks, number, &event),
                Next::Report => self.driver.report(callbacks),
                Next::Authorize(..) | Next::Deny(..) => deliver(next),
            }
        }
    }
}

impl Drop for DriverTask {
    fn drop(&mut self) {
        if let Some(stopped) = self.driver.change(|state, time| state.end_task(time)) {
            stopped.end();
        }
    }
}

/// The turn of one task, so that actions are performed in their order.
struct Turn<'d> {
    driver: &'d AuthDriver,
    is_over: bool,
}

impl Turn<'_> {
    /// Returns what to do next. With nothing to do, the turn ends immediately: no change is missed.
    fn next(&mut self) -> Option<Next> {
        let mut state = self.driver.lock();
        let next = state.next();
        if next.is_none() {
            state.end_turn();
            self.is_over = true;
        }
        next
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // After a panic.
        if !self.is_over {
            self.driver.lock().end_turn();
        }
    }
}

/// Passes an outcome on to the connections that it concerns.
fn deliver(next: Next) {
    match next {
        Next::Authorize(members, credentials) => {
            members.iter().for_each(|member| member.authorize(&credentials));
        }
        Next::Deny(waiting, reason) => deny_all(&waiting, &reason),
        Next::Act(_) | Next::Ask(..) | Next::Report => {}
    }
}

impl Stopped {
    /// Ends what remains, so that nothing waits without end. The lock of the driver must not be
    /// held: this runs code of the runtime and of the store.
    pub(super) fn end(self) {
        self.events.into_iter().for_each(deliver);
        deny_all(&self.waiting, &Denial::Closed.to_string());
        self.fetches.values().for_each(|aborted| aborted.set());
        let (records, listener) = (self.records, self.listener);
        // Closing a listener waits for its thread, and releasing a record may block.
        let _without_thread = thread::Builder::new().spawn(move || {
            records.values().for_each(|used| used.release());
            drop(listener);
        });
    }
}
