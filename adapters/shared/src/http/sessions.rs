//! The sessions and modern-era subscriptions of one HTTP service, both bounded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_lite::future::or;
use mcp_proto::http::SessionTable;
use mcp_proto::server::Server as Machine;

use super::runtime::HttpRuntime;
use crate::exec::clock::Clock;
use crate::server::events::Serving;
use crate::transport::link::{Link, SpawnTimer};

/// A session in the table.
#[derive(Debug)]
pub(super) struct SessionEntry {
    pub(super) link: Arc<Link<Machine>>,
    /// Keeps the session subscribed to changes.
    _serving: Serving,
}

#[derive(Debug)]
pub(super) struct Sessions {
    state: Mutex<SessionsState>,
    clock: Clock,
}

#[derive(Debug)]
struct SessionsState {
    table: SessionTable<SessionEntry>,
    /// Subscriptions outside of sessions, by number.
    listeners: BTreeMap<u64, Weak<Link<Machine>>>,
    listeners_max: usize,
    next_listener: u64,
    /// A task is running that ends idle sessions.
    is_swept: bool,
    /// No more sessions are accepted.
    is_closed: bool,
}

impl Sessions {
    pub(super) fn new(table: SessionTable<SessionEntry>, listeners_max: usize) -> Arc<Self> {
        let state = SessionsState {
            table,
            listeners: BTreeMap::new(),
            listeners_max,
            next_listener: 0,
            is_swept: false,
            is_closed: false,
        };
        Arc::new(Self { state: Mutex::new(state), clock: Clock::new() })
    }

    fn lock(&self) -> MutexGuard<'_, SessionsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether there is room for another session.
    pub(super) fn has_room(&self) -> bool {
        let state = self.lock();
        !state.is_closed && state.table.has_room().is_ok()
    }

    pub(super) fn len(&self) -> usize {
        self.lock().table.len()
    }

    pub(super) fn get(&self, id: &str) -> Option<Arc<Link<Machine>>> {
        self.lock().table.get(self.clock.now(), id).map(|entry| Arc::clone(&entry.link))
    }

    /// Adds a session, which is ended once idle; returns false if there is no room.
    pub(super) fn insert(
        self: &Arc<Self>,
        runtime: &Arc<dyn HttpRuntime>,
        id: &str,
        link: &Arc<Link<Machine>>,
        serving: Serving,
    ) -> bool {
        let mut state = self.lock();
        let entry = SessionEntry { link: Arc::clone(link), _serving: serving };
        if state.is_closed || state.table.insert(self.clock.now(), id, entry).is_err() {
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

    /// Removes and ends a session; returns false if it does not exist.
    pub(super) fn remove(&self, id: &str) -> bool {
        let removed = self.lock().table.remove(id);
        if let Some(entry) = &removed {
            end(entry);
        }
        removed.is_some()
    }

    /// Registers a subscription outside of sessions, to be ended by [`close`](Self::close); returns
    /// `None` if there is no room.
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

    /// Ends all sessions and subscriptions, and accepts no more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let table =
            std::mem::replace(&mut state.table, SessionTable::new(0, std::time::Duration::ZERO));
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        table.iter().for_each(end);
        listeners.values().filter_map(Weak::upgrade).for_each(|link| close(&link));
    }
}

/// The registration of a subscription outside of sessions, until it is dropped.
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

fn end(entry: &SessionEntry) {
    close(&entry.link);
}

fn close(link: &Arc<Link<Machine>>) {
    link.with(|state, now| {
        if let Some(http) = state.connection.http() {
            http.close(now);
        }
    });
}

/// Ends idle sessions, as long as there are sessions.
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
        let is_busy = |entry: &SessionEntry| {
            entry.link.lock().connection.http().is_some_and(|http| http.is_busy())
        };
        let idle = state.table.expire(now, is_busy);
        drop(state);
        idle.iter().for_each(end);
    }
}

/// Spawns the timer tasks of sessions.
pub(super) struct SessionTimers {
    pub(super) sessions: Weak<Sessions>,
    pub(super) runtime: Arc<dyn HttpRuntime>,
}

impl SpawnTimer<Link<Machine>> for SessionTimers {
    fn spawn_timer(&self, link: Arc<Link<Machine>>) {
        let timer = run_timer(link, Arc::clone(&self.runtime), Weak::clone(&self.sessions));
        // A runtime that rejects futures is shutting down, and the session with it.
        let _shutting_down = Arc::clone(&self.runtime).as_spawn().spawn(Box::pin(timer));
    }
}

/// Runs the timers of a session until it has no deadline or has closed, and removes a closed one.
async fn run_timer(
    link: Arc<Link<Machine>>,
    runtime: Arc<dyn HttpRuntime>,
    sessions: Weak<Sessions>,
) {
    let timers = link.run_timers_until_idle(|duration| runtime.sleep(duration));
    let has_closed = or(timers, async {
        link.closed().await;
        link.dispatched().await;
        true
    });
    if !has_closed.await {
        return;
    }
    link.abandon();
    // HTTP-33: requests with the id of an ended session get 404, and the client opens another.
    let id = link.lock().connection.http().and_then(|http| http.id().map(str::to_owned));
    if let Some((sessions, id)) = sessions.upgrade().zip(id) {
        sessions.lock().table.remove(&id);
    }
}
