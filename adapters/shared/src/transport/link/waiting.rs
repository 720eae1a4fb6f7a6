//! Waits on a connection: for room, for a condition, for something to take.

use std::sync::Arc;
use std::time::Duration;

use futures_lite::future::yield_now;
use mcp_proto::{Instant, Misuse};

use super::{Link, LinkRole, State};

/// The right to wait for room, given to the next blocked command when dropped.
struct Turn<'l, R: LinkRole> {
    link: &'l Link<R>,
}

impl<R: LinkRole> State<R> {
    /// Takes the turn to wait for room; returns false if another command has it.
    const fn take_turn(&mut self) -> bool {
        !std::mem::replace(&mut self.is_turn_taken, true)
    }
}

impl<R: LinkRole> Drop for Turn<'_, R> {
    fn drop(&mut self) {
        self.link.lock().is_turn_taken = false;
        self.link.turn.notify(1);
    }
}

impl<R: LinkRole> Link<R> {
    /// Like [`with`](Self::with), but retries for at most `patience` while the failure may pass,
    /// such as a lack of room.
    ///
    /// Yields before it returns a failure: a task that ignores the failure and tries again would
    /// otherwise spin in a single poll, for example once its request is cancelled.
    pub(crate) async fn with_room<T>(
        self: &Arc<Self>,
        patience: Duration,
        act: impl FnMut(&mut State<R>, Instant) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        self.retry_with_room(patience, false, act).await
    }

    /// Like [`with_room`](Self::with_room), for commands that may be many: only one of them waits
    /// for room, the others wait for their turn. Otherwise each end of a call would wake all.
    pub(crate) async fn with_room_in_turn<T>(
        self: &Arc<Self>,
        patience: Duration,
        act: impl FnMut(&mut State<R>, Instant) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        self.retry_with_room(patience, true, act).await
    }

    async fn retry_with_room<T>(
        self: &Arc<Self>,
        patience: Duration,
        is_in_turn: bool,
        mut act: impl FnMut(&mut State<R>, Instant) -> Result<T, Misuse>,
    ) -> Result<T, Misuse> {
        let mut give_up = None;
        let (mut turn, mut is_in_line) = (None, false);
        let outcome = loop {
            let room;
            let patient_until;
            {
                let mut state = self.lock();
                let now = self.clock.now();
                patient_until = *give_up.get_or_insert(now + patience);
                // Taken before acting: the end of this command must wake the next one.
                if is_in_line && turn.is_none() {
                    turn = state.take_turn().then(|| Turn { link: self });
                }
                let outcome = act(&mut state, now);
                let may_pass =
                    !state.is_over() && outcome.as_ref().is_err_and(|misuse| R::may_pass(*misuse));
                if !may_pass || now >= patient_until {
                    self.settle(state);
                    break outcome;
                }
                if is_in_turn && turn.is_none() {
                    turn = state.take_turn().then(|| Turn { link: self });
                }
                is_in_line = is_in_turn && turn.is_none();
                room =
                    if is_in_line { self.turn.listen() } else { self.listen_for_room(&mut state) };
            }
            self.wait_for(room, patient_until).await;
        };
        drop(turn);
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
