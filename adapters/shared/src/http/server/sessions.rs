//! The sessions and modern-era subscriptions of one HTTP service, both bounded.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use event_listener::Event;
use futures_lite::future::or;
use mcp_proto::http::SessionTable;
use mcp_proto::server::Server as Machine;
use mcp_proto::{Instant, Principal};

use super::budget::{AddressShare, Counters, Share};
use super::transport::MeteredServer;
use crate::exec::clock::Clock;
use crate::http::dial::Dial;
use crate::server::connection::serving::Serving;
use crate::transport::link::{Link, SpawnTimer};

/// A session in the table.
#[derive(Debug)]
pub(super) struct SessionEntry {
    pub(super) link: Arc<Link<Machine>>,
    /// Keeps the session subscribed to changes.
    _serving: Serving,
    _place: SessionPlace,
}

/// A counted session of a client.
#[derive(Debug)]
pub(super) struct SessionPlace {
    counters: Arc<Counters>,
    _address: AddressShare,
    _principal: Share<Principal>,
}

impl SessionPlace {
    pub(super) fn new(
        counters: &Arc<Counters>,
        address: AddressShare,
        principal: Share<Principal>,
    ) -> Self {
        counters.sessions.fetch_add(1, Relaxed);
        Self { counters: Arc::clone(counters), _address: address, _principal: principal }
    }
}

impl Drop for SessionPlace {
    fn drop(&mut self) {
        self.counters.sessions.fetch_sub(1, Relaxed);
    }
}

#[derive(Debug)]
pub(super) struct Sessions {
    state: Mutex<SessionsState>,
    clock: Clock,
    counters: Arc<Counters>,
    sessions_bytes_max: usize,
    /// Notified when a session was inserted that expires before the sweep wakes.
    earlier: Event,
}

#[derive(Debug)]
struct SessionsState {
    /// Boxed: a tree of smaller values wastes less memory.
    table: SessionTable<Box<SessionEntry>>,
    /// Subscriptions outside of sessions, by number.
    listeners: BTreeMap<u64, OpenListener>,
    listeners_max: usize,
    next_listener: u64,
    /// A task is running that ends idle sessions.
    is_swept: bool,
    /// When that task wakes.
    swept_at: Option<Instant>,
    /// No more sessions are accepted.
    is_closed: bool,
}

/// A subscription outside of sessions.
#[derive(Debug)]
struct OpenListener {
    link: Weak<Link<Machine>>,
    principal: Option<Principal>,
}

impl OpenListener {
    fn close(&self) {
        if let Some(link) = self.link.upgrade() {
            close(&link);
        }
    }
}

/// Why a session was not added.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NotInserted {
    /// All sessions are busy, or the service is stopping.
    Full,
    /// Another session has the id.
    Taken,
}

impl Sessions {
    pub(super) fn new(
        table: SessionTable<Box<SessionEntry>>,
        listeners_max: usize,
        counters: Arc<Counters>,
        sessions_bytes_max: usize,
    ) -> Arc<Self> {
        let state = SessionsState {
            table,
            listeners: BTreeMap::new(),
            listeners_max,
            next_listener: 0,
            is_swept: false,
            swept_at: None,
            is_closed: false,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            clock: Clock::new(),
            counters,
            sessions_bytes_max,
            earlier: Event::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, SessionsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether sessions and subscriptions may hold more bytes. Ends idle sessions if
    /// necessary.
    pub(super) fn has_bytes(&self) -> bool {
        let is_over = || self.counters.sessions_bytes.get() > self.sessions_bytes_max;
        for _ in 0..EVICTIONS_MAX {
            if !is_over() {
                return true;
            }
            let evicted = self.evict(&mut self.lock());
            match evicted {
                Some(entry) => end(&entry),
                None => return false,
            }
        }
        !is_over()
    }

    /// Removes the session that would expire first, unless too many are busy. The caller ends it
    /// without the lock.
    fn evict(&self, state: &mut SessionsState) -> Option<Box<SessionEntry>> {
        let evicted = state.table.evict(self.clock.now(), |entry| is_busy(entry))?;
        self.counters.sessions_evicted.fetch_add(1, Relaxed);
        Some(evicted)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().table.len()
    }

    pub(super) fn get(
        &self,
        id: &str,
        principal: Option<&Principal>,
    ) -> Option<Arc<Link<Machine>>> {
        let mut state = self.lock();
        state.table.get(self.clock.now(), id, principal).map(|entry| Arc::clone(&entry.link))
    }

    /// Adds a session, which is ended once idle. If the table is full, the session that would
    /// expire first makes room.
    ///
    /// # Errors
    /// Fails if all sessions are busy, or if the id is taken.
    pub(super) fn insert(
        self: &Arc<Self>,
        runtime: &Arc<dyn Dial>,
        id: Arc<str>,
        principal: Option<&Principal>,
        link: &Arc<Link<Machine>>,
        serving: Serving,
        place: SessionPlace,
    ) -> Result<(), NotInserted> {
        let link = Arc::clone(link);
        let entry = Box::new(SessionEntry { link, _serving: serving, _place: place });
        let mut state = self.lock();
        if state.is_closed {
            return Err(NotInserted::Full);
        }
        if state.table.contains(&id) {
            return Err(NotInserted::Taken);
        }
        let mut evicted = None;
        if state.table.has_room().is_err() {
            evicted = self.evict(&mut state);
        }
        let is_inserted = state.table.insert(self.clock.now(), id, principal, entry).is_ok();
        if is_inserted && !state.is_swept {
            state.is_swept = true;
            let (sessions, timer) = (Arc::downgrade(self), Arc::clone(runtime));
            let swept = runtime.spawn(Box::pin(sweep(sessions, timer)));
            state.is_swept = swept.is_ok();
        }
        if state.swept_at.is_some_and(|at| state.table.poll_timeout().is_some_and(|due| due < at)) {
            self.earlier.notify(1);
        }
        drop(state);
        evicted.iter().for_each(|entry| end(entry));
        if is_inserted { Ok(()) } else { Err(NotInserted::Full) }
    }

    /// Removes and ends a session; returns false if it does not exist for the principal.
    pub(super) fn remove(&self, id: &str, principal: Option<&Principal>) -> bool {
        let removed = self.lock().table.remove(id, principal);
        if let Some(entry) = &removed {
            end(entry);
        }
        removed.is_some()
    }

    /// Registers a subscription of `principal` outside of sessions, to be ended by
    /// [`close`](Self::close) and [`end_principal`](Self::end_principal); returns `None` if there
    /// is no room.
    pub(super) fn listen(
        self: &Arc<Self>,
        link: &Arc<Link<Machine>>,
        principal: Option<&Principal>,
    ) -> Option<Listener> {
        let mut state = self.lock();
        if state.is_closed || state.listeners.len() >= state.listeners_max {
            return None;
        }
        let number = state.next_listener;
        state.next_listener += 1;
        let listener = OpenListener { link: Arc::downgrade(link), principal: principal.cloned() };
        state.listeners.insert(number, listener);
        Some(Listener { sessions: Arc::clone(self), number })
    }

    /// Returns whether no more sessions are accepted.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Ends all sessions and subscriptions, and accepts no more.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let table =
            std::mem::replace(&mut state.table, SessionTable::new(0, std::time::Duration::ZERO));
        let listeners = std::mem::take(&mut state.listeners);
        drop(state);
        table.iter().for_each(|entry| end(entry));
        listeners.values().for_each(OpenListener::close);
    }

    /// Ends all sessions and subscriptions of a principal, and returns their number.
    pub(super) fn end_principal(&self, principal: &Principal) -> usize {
        let mut state = self.lock();
        let sessions = state.table.remove_principal(principal);
        let (theirs, others) = std::mem::take(&mut state.listeners)
            .into_iter()
            .partition(|(_, listener)| listener.principal.as_ref() == Some(principal));
        let theirs: BTreeMap<u64, OpenListener> = theirs;
        state.listeners = others;
        drop(state);
        sessions.iter().for_each(|entry| end(entry));
        theirs.values().for_each(OpenListener::close);
        sessions.len() + theirs.len()
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

fn is_busy(entry: &SessionEntry) -> bool {
    entry.link.lock().metered().is_some_and(MeteredServer::is_busy)
}

fn end(entry: &SessionEntry) {
    entry.link.with(|state, now| {
        if let Some(metered) = state.metered() {
            metered.end_session(now);
        }
    });
}

fn close(link: &Arc<Link<Machine>>) {
    link.with(|state, now| {
        if let Some(http) = state.http() {
            http.close(now);
        }
    });
}

/// Ends idle sessions, as long as there are sessions.
async fn sweep(sessions: Weak<Sessions>, runtime: Arc<dyn Dial>) {
    loop {
        let (due, earlier) = {
            let Some(sessions) = sessions.upgrade() else { return };
            let mut state = sessions.lock();
            let due = state.table.poll_timeout();
            state.swept_at = due;
            let Some(due) = due else {
                state.is_swept = false;
                return;
            };
            (sessions.clock.until(due), sessions.earlier.listen())
        };
        or(runtime.sleep(due), earlier).await;
        let Some(sessions) = sessions.upgrade() else { return };
        let mut state = sessions.lock();
        let now = sessions.clock.now();
        let idle = state.table.expire(now, |entry| is_busy(entry));
        drop(state);
        idle.iter().for_each(|entry| end(entry));
    }
}

/// The number of idle sessions that one request ends at most to make room for its bytes.
const EVICTIONS_MAX: usize = 64;

/// Spawns the timer tasks of sessions.
pub(super) struct SessionTimers {
    pub(super) sessions: Weak<Sessions>,
    pub(super) runtime: Arc<dyn Dial>,
}

impl SpawnTimer<Link<Machine>> for SessionTimers {
    fn spawn_timer(&self, link: Arc<Link<Machine>>) {
        let timer = run_timer(link, Arc::clone(&self.runtime), Weak::clone(&self.sessions));
        // A runtime that rejects futures is shutting down, and the session with it.
        let _shutting_down = self.runtime.spawn(Box::pin(timer));
    }
}

/// Runs the timers of a session until it has no deadline or has closed, and removes a closed one.
async fn run_timer(link: Arc<Link<Machine>>, runtime: Arc<dyn Dial>, sessions: Weak<Sessions>) {
    if !link.run_timers_until_idle(|duration| runtime.sleep(duration)).await {
        return;
    }
    or(link.dispatched(), link.keep_time(|duration| runtime.sleep(duration))).await;
    link.abandon();
    // HTTP-33: requests with the id of an ended session get 404, and the client opens another.
    let id = link.lock().connection.session_id();
    if let Some((sessions, id)) = sessions.upgrade().zip(id) {
        sessions.lock().table.discard(&id);
    }
}
