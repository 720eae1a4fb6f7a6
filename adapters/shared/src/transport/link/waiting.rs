//! Waits on a connection: for room, for a condition, for something to take.

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::yield_now;
use mcp_proto::{Instant, Misuse};

use super::{Link, LinkRole, State};

impl<R: LinkRole> Link<R> {
    /// Like [`with`](Self::with), but retries for at most `patience` while the failure may pass,
    /// such as a lack of room.
    ///
    /// Yields before it returns a failure: a task that ignores the failure and tries again would
    /// otherwise spin in a single poll, for example once its request is cancelled.
    pub(crate) async fn with_room<T>(
        self: &Arc<Self>,
        patience: Duration,
        mut act: impl FnMut(&mut State<R>, Instant) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        let mut give_up = None;
        let outcome = loop {
            let room;
            let patient_until;
            {
                let mut state = self.lock();
                let now = self.clock.now();
                patient_until = *give_up.get_or_insert(now + patience);
                let outcome = act(&mut state, now);
                let may_pass =
                    !state.is_over() && outcome.as_ref().is_err_and(|misuse| R::may_pass(*misuse));
                if !may_pass || now >= patient_until {
                    self.settle(state);
                    break outcome;
                }
                room = self.listen_for_room(&mut state);
            }
            self.wait_for(room, patient_until).await;
        };
        if outcome.is_err() {
            yield_now().await;
        }
        outcome
    }

    /// Waits until `done` returns true, for at most `patience` and only while the connection has a
    /// driver; returns whether it did.
    pub(crate) async fn wait_until(
        &self,
        patience: Duration,
        mut done: impl FnMut(&State<R>) -> bool,
    ) -> bool {
        let give_up = self.clock.now() + patience;
        loop {
            let room;
            {
                let mut state = self.lock();
                if done(&state) {
                    return true;
                }
                if state.is_over() {
                    return false;
                }
                room = self.listen_for_room(&mut state);
            }
            if self.clock.until(give_up).is_zero() {
                return false;
            }
            self.wait_for(room, give_up).await;
        }
    }

    /// Waits until `poll` returns a value.
    pub(crate) async fn when<T>(&self, mut poll: impl FnMut(&mut State<R>) -> Option<T>) -> T {
        loop {
            let room;
            {
                let mut state = self.lock();
                if let Some(found) = poll(&mut state) {
                    return found;
                }
                room = self.listen_for_room(&mut state);
            }
            room.await;
        }
    }
}
