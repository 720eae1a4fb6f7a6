//! The sessions of one HTTP service: each with what keeps its time, and all of them bounded; and
//! who listens without one. Knows nothing of HTTP.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_lite::future::or;
use mcp_proto::http::Table;
use mcp_proto::server::Server as Machine;

use super::runtime::HttpRuntime;
use crate::exec::clock::Clock;
use crate::server::events::Serving;
use crate::transport::link::{Keeper, Link};

/// A session that clients can come back to.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) link: Arc<Link<Machine>>,
    /// It hears of changes for as long as this is there.
    _serving: Serving,
}

#[derive(Debug)]
pub(super) struct Sessions {
    table: Mutex<State>,
    clock: Clock,
}

#[derive(Debug)]
struct State {
    table: Table<Kept>,
    /// Who listens without a session, by numbers of their own.
    listeners: BTreeMap<u64, Weak<Link<Machine>>>,
    listeners_max: usize,
    next_listener: u64,
    /// Somebody ends those that are idle.
    is_swept: bool,
    /// No more are taken in.
    is_closed: bool,
}

impl Sessions {
    pub(super) fn new(table: Table<Kept>, listeners_max: usize) -> Arc<Self> {
        let state = State {
            table,
            listeners: BTreeMap::new(),
            listeners_max,
            next_listener: 0,
            is_swept: false,
            is_closed: false,
        };
        Arc::new(Self { table: Mutex::new(state), clock: Clock::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether one more may come.
    pub(super) fn has_room(&self) -> bool {
        let state = self.lock();
        !state.is_closed && state.table.has_room().is_ok()
    }

    pub(super) fn len(&self) -> usize {
        self.lock().table.len()
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Link<Machine>>> {
        self.lock().table.get(self.clock.now(), id).map(|kept| Arc::clone(&kept.link))
    }

    /// Adds a session, and sees to it that it ends when it is idle; false when there is no room.
    pub(super) fn insert(
        self: &Arc<Self>,
        runtime: &Arc<dyn HttpRuntime>,
        id: &str,
        link: &Arc<Link<Machine>>,
        serving: Serving,
    ) -> bool {
        let mut state = self.lock();
        let kept = Kept { link: Arc::clone(link), _serving: serving };
        if state.is_closed || state.table.insert(self.clock.now(), id, kept).is_err() {
            return false;
        }
        if !state.is_swept {
            state.is_swept = true;
            let (sessions, timer) = (Arc::downgrade(self), Arc::clone(runtime));
            let swept = Arc::clone(runtime).as_spawn().spawn(Box::pin(sweep(sessions, timer)));
            state.is_swept = swept.is_ok();
        }
        true
    }

    /// Takes one out, and ends it.
    pub(super) fn remove(&self, id: &str) -> bool {
        let removed = self.lock().table.remove(id);
        if let Some(kept) = &removed {
            end(kept);
        }
        removed.is_some()
    }

    /// Somebody listens without a session, and is told when all ends; none when there is no room.
    pub(super) fn listen(self: &Arc<Self>, link: &Arc<Link<Machine>>) -> Option<Listener> {
        let mut state = self.lock();
        if state.is_closed || state.listeners.len() >= state.listeners_max {
            return None;
        }
        let number = state.next_listener;
        state.next_listener += 1;
        state.listeners.insert(number, Arc::downgrade(link));
        Some(Listener { sessions: Arc::clone(self), number })
    }

    /// Ends all of them, and takes in no more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let table = std::mem::replace(&mut state.table, Table::new(0, std::time::Duration::ZERO));
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        table.iter().for_each(end);
        listeners.values().filter_map(Weak::upgrade).for_each(|link| close(&link));
    }
}

/// Somebody listens without a session, for as long as this is there.
#[derive(Debug)]
pub(super) struct Listener {
    sessions: Arc<Sessions>,
    number: u64,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.sessions.lock().listeners.remove(&self.number);
    }
}

fn end(kept: &Kept) {
    close(&kept.link);
}

fn close(link: &Arc<Link<Machine>>) {
    link.with(|state, now| {
        if let Some(http) = state.session.http() {
            http.close(now);
        }
    });
}

/// Ends sessions that are idle, for as long as there are any.
async fn sweep(sessions: Weak<Sessions>, runtime: Arc<dyn HttpRuntime>) {
    loop {
        let due = {
            let Some(sessions) = sessions.upgrade() else { return };
            let mut state = sessions.lock();
            let Some(due) = state.table.poll_timeout() else {
                state.is_swept = false;
                return;
            };
            sessions.clock.until(due)
        };
        runtime.sleep(due).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let mut state = sessions.lock();
        let now = sessions.clock.now();
        let is_busy =
            |kept: &Kept| kept.link.lock().session.http().is_some_and(|http| http.is_busy());
        let idle = state.table.expire(now, is_busy);
        drop(state);
        idle.iter().for_each(end);
    }
}

/// Keeps the time of sessions, of each by a future of its own while there is any to keep.
pub(super) struct TimeKeeper {
    pub(super) sessions: Weak<Sessions>,
    pub(super) runtime: Arc<dyn HttpRuntime>,
}

impl Keeper<Machine> for TimeKeeper {
    fn keep(&self, link: Arc<Link<Machine>>) {
        let kept = keep(link, Arc::clone(&self.runtime), Weak::clone(&self.sessions));
        // A runtime that takes no more futures is ending, and the session with it.
        let _ending = Arc::clone(&self.runtime).as_spawn().spawn(Box::pin(kept));
    }
}

/// Keeps the time of a session until there is none to keep, or it is over.
async fn keep(link: Arc<Link<Machine>>, runtime: Arc<dyn HttpRuntime>, sessions: Weak<Sessions>) {
    let time = link.keep_time_for_now(|duration| runtime.sleep(duration));
    let is_over = or(time, async {
        link.closed().await;
        link.handed_out().await;
        true
    });
    if !is_over.await {
        return;
    }
    link.over();
    // However it ended, its client is to be told that it is gone, and opens another. (HTTP-33)
    let id = link.lock().session.http().and_then(|http| http.id().map(str::to_owned));
    if let Some((sessions, id)) = sessions.upgrade().zip(id) {
        sessions.lock().table.remove(&id);
    }
}
