//! A bounded table of the sessions of one HTTP server, with expiry and eviction.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::time::{Instant, PERIOD_MIN};
use crate::vocabulary::Principal;

/// A table of sessions by id that limits their number and their idle time.
///
/// The first [`get`](Self::get) *confirms* a session. A confirmed session expires when idle. An
/// unconfirmed one expires earlier, because its client sent `initialize` and nothing else.
///
/// A session belongs to the principal that opened it, or to unauthenticated clients if it was
/// opened without a principal. To all others, the session does not exist.
///
/// The driver generates the ids, because generating random numbers is IO. Each entry costs about
/// 250 bytes in addition to the session, its id and its principal.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::http::SessionTable;
/// use mcp_proto::{Instant, Principal};
///
/// // At most one session, idle for at most 60 s.
/// let mut table = SessionTable::new(1, Duration::from_secs(60));
/// let [ada, eve] = ["ada", "eve"].map(|id| Principal::new(id).unwrap());
/// table.insert(Instant::ZERO, "a", Some(&ada), 'A').unwrap();
/// // The table is full.
/// assert!(table.insert(Instant::ZERO, "b", Some(&eve), 'B').is_err());
/// assert_eq!(table.get(Instant::ZERO, "a", Some(&ada)), Some(&'A'));
/// assert_eq!(table.get(Instant::ZERO, "a", Some(&eve)), None);
/// assert_eq!(table.get(Instant::ZERO, "a", None), None);
/// let late = table.poll_timeout().unwrap();
/// assert!(table.expire(late, |_| false).is_empty());
/// let late = table.poll_timeout().unwrap();
/// assert_eq!(table.expire(late, |_| false), ['A']);
/// ```
// SEC-18: what clients can make a server hold is bounded.
pub struct SessionTable<T> {
    sessions: BTreeMap<Arc<str>, Entry<T>>,
    /// The sessions by a lower bound of their expiry, which lookups do not update.
    expiries: BTreeMap<(Instant, u64), Arc<str>>,
    sessions_max: usize,
    idle_max: Duration,
    unconfirmed_max: Duration,
    /// The number of the next session, which distinguishes equal expiries.
    next: u64,
}

// The keys are session ids, which are credentials.
impl<T: fmt::Debug> fmt::Debug for SessionTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTable")
            .field("sessions", &self.sessions.values())
            .field("sessions_max", &self.sessions_max)
            .field("idle_max", &self.idle_max)
            .field("unconfirmed_max", &self.unconfirmed_max)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Entry<T> {
    session: T,
    principal: Option<Principal>,
    expires: Instant,
    /// The key in `expiries`.
    key: (Instant, u64),
}

impl<T> Entry<T> {
    // SEC-13: a session id does not authenticate its client.
    fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.principal.as_ref() == principal
    }
}

/// The default of [`SessionTable::unconfirmed_max`].
const UNCONFIRMED_MAX: Duration = Duration::from_secs(20);

/// The number of busy sessions that one eviction skips at most.
const SKIPPED_MAX: usize = 64;

/// The error for a session that does not fit into a [`SessionTable`] or whose id is taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionTableFull;

impl fmt::Display for SessionTableFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("session limit reached")
    }
}

impl core::error::Error for SessionTableFull {}

impl<T> SessionTable<T> {
    /// Creates a table of at most `sessions_max` sessions, which expire when idle for `idle_max`.
    #[must_use]
    pub const fn new(sessions_max: usize, idle_max: Duration) -> Self {
        Self {
            sessions: BTreeMap::new(),
            expiries: BTreeMap::new(),
            sessions_max,
            idle_max,
            unconfirmed_max: UNCONFIRMED_MAX,
            next: 0,
        }
    }

    /// Sets how long a session is kept if [`get`](Self::get) never returns it. Default: 20 s.
    ///
    /// If the duration exceeds the maximum idle time, the maximum idle time applies instead.
    #[must_use]
    pub const fn unconfirmed_max(mut self, unconfirmed_max: Duration) -> Self {
        self.unconfirmed_max = unconfirmed_max;
        self
    }

    /// Returns the number of sessions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Returns whether the table has no sessions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Checks that one more session fits.
    ///
    /// # Errors
    /// Returns [`SessionTableFull`] if the limit is reached.
    pub fn has_room(&self) -> Result<(), SessionTableFull> {
        if self.sessions.len() < self.sessions_max { Ok(()) } else { Err(SessionTableFull) }
    }

    /// Returns whether a session has this id, of any principal.
    #[must_use]
    pub fn contains(&self, id: &str) -> bool {
        self.sessions.contains_key(id)
    }

    /// Inserts a session of `principal`.
    ///
    /// # Errors
    /// Returns [`SessionTableFull`], and drops `session`, if the limit is reached or the id is
    /// taken. Random ids do not collide in practice.
    pub fn insert(
        &mut self,
        now: Instant,
        id: impl Into<Arc<str>>,
        principal: Option<&Principal>,
        session: T,
    ) -> Result<(), SessionTableFull> {
        let id = id.into();
        self.has_room()?;
        if self.sessions.contains_key(&id) {
            return Err(SessionTableFull);
        }
        let expires = now + self.unconfirmed_max.min(self.idle_max);
        let key = (expires, self.next);
        self.next += 1;
        self.expiries.insert(key, Arc::clone(&id));
        self.sessions.insert(id, Entry { session, principal: principal.cloned(), expires, key });
        Ok(())
    }

    /// Returns the session with this id and restarts its idle timer. Returns `None` if the id is
    /// unknown or the session belongs to another principal.
    // AUT-74.
    pub fn get(&mut self, now: Instant, id: &str, principal: Option<&Principal>) -> Option<&T> {
        self.get_mut(now, id, principal).map(|session| &*session)
    }

    /// Like [`get`](Self::get), but returns a mutable reference.
    pub fn get_mut(
        &mut self,
        now: Instant,
        id: &str,
        principal: Option<&Principal>,
    ) -> Option<&mut T> {
        let entry = self.sessions.get_mut(id).filter(|entry| entry.belongs_to(principal))?;
        entry.expires = entry.expires.max(now + self.idle_max);
        Some(&mut entry.session)
    }

    /// Removes and returns a session. Returns `None` if the id is unknown or the session belongs to
    /// another principal.
    pub fn remove(&mut self, id: &str, principal: Option<&Principal>) -> Option<T> {
        self.sessions.get(id).filter(|entry| entry.belongs_to(principal))?;
        self.discard(id)
    }

    /// Like [`remove`](Self::remove), for a session of any principal: for the server itself, never
    /// for requests.
    pub fn discard(&mut self, id: &str) -> Option<T> {
        let entry = self.sessions.remove(id)?;
        self.expiries.remove(&entry.key);
        Some(entry.session)
    }

    /// Removes and returns all sessions of `principal`, in the order of their ids.
    ///
    /// A server calls this method when a user logs out or is locked out. Takes time linear in the
    /// number of all sessions.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_proto::http::SessionTable;
    /// use mcp_proto::{Instant, Principal};
    ///
    /// let mut table = SessionTable::new(3, Duration::from_secs(60));
    /// let [ada, eve] = ["ada", "eve"].map(|id| Principal::new(id).unwrap());
    /// for (id, principal) in [("a", &ada), ("b", &eve), ("c", &ada)] {
    ///     table.insert(Instant::ZERO, id, Some(principal), id).unwrap();
    /// }
    /// assert_eq!(table.remove_principal(&ada), ["a", "c"]);
    /// assert_eq!(table.get(Instant::ZERO, "b", Some(&eve)), Some(&"b"));
    /// ```
    pub fn remove_principal(&mut self, principal: &Principal) -> Vec<T> {
        let of_principal = |entry: &Entry<T>| entry.belongs_to(Some(principal));
        let ids: Vec<Arc<str>> = self
            .sessions
            .iter()
            .filter(|(_, entry)| of_principal(entry))
            .map(|(id, _)| Arc::clone(id))
            .collect();
        ids.iter().filter_map(|id| self.discard(id)).collect()
    }

    /// Returns the number of sessions of `principal`. Takes time linear in the number of all
    /// sessions.
    #[must_use]
    pub fn count_of(&self, principal: &Principal) -> usize {
        self.sessions.values().filter(|entry| entry.belongs_to(Some(principal))).count()
    }

    /// Iterates over all sessions in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.sessions.values().map(|entry| &entry.session)
    }

    /// Like [`iter`](Self::iter), but returns mutable references, for example to run the timers of
    /// all sessions. Restarts no idle timer.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_proto::Instant;
    /// use mcp_proto::http::{HttpServer, SessionTable};
    ///
    /// fn run_timers(now: Instant, table: &mut SessionTable<HttpServer>) -> Option<Instant> {
    ///     table.expire(now, HttpServer::is_busy);
    ///     table.iter_mut().for_each(|session| session.handle_timeout(now));
    ///     table.iter().filter_map(HttpServer::poll_timeout).chain(table.poll_timeout()).min()
    /// }
    /// # let mut table = SessionTable::new(1, Duration::from_secs(60));
    /// # assert_eq!(run_timers(Instant::ZERO, &mut table), None);
    /// ```
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.sessions.values_mut().map(|entry| &mut entry.session)
    }

    /// Returns the time at which to call [`expire`](Self::expire) next, or `None` if no timer is
    /// running.
    ///
    /// At that time, `expire` may still find that no session has expired.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.expiries.keys().next().map(|(at, _)| *at)
    }

    /// Removes and returns the sessions that have been idle for the maximum time.
    ///
    /// `is_busy` returns whether a session has a request in flight or a listening client. Such a
    /// session does not count as idle.
    ///
    /// Takes at most logarithmic time for each session that has expired, is busy, or was returned
    /// by [`get`](Self::get) since it was last examined.
    pub fn expire(&mut self, now: Instant, mut is_busy: impl FnMut(&mut T) -> bool) -> Vec<T> {
        let mut expired = Vec::new();
        while let Some(id) = self.first_to_expire().filter(|(at, _)| *at <= now).map(|(_, id)| id) {
            if !self.postpone_if_busy(now, &id, &mut is_busy) {
                expired.extend(self.discard(&id));
            }
        }
        expired
    }

    /// Removes and returns the session that would expire first, to make room for another.
    ///
    /// A session that [`get`](Self::get) never returned is therefore removed before recently used
    /// ones. `is_busy` returns whether a session must be kept because it has a request in flight or
    /// a listening client.
    ///
    /// Returns `None` if all sessions, or the first 64 examined, are busy. The next call then
    /// examines other sessions.
    pub fn evict(&mut self, now: Instant, mut is_busy: impl FnMut(&mut T) -> bool) -> Option<T> {
        for _ in 0..SKIPPED_MAX.min(self.sessions.len()) {
            let (_, id) = self.first_to_expire()?;
            if !self.postpone_if_busy(now, &id, &mut is_busy) {
                return self.discard(&id);
            }
        }
        None
    }

    /// Returns the session that expires first, and when, once its key in `expiries` is exact.
    fn first_to_expire(&mut self) -> Option<(Instant, Arc<str>)> {
        loop {
            let (key, id) = self.expiries.first_key_value()?;
            let (key, id) = (*key, Arc::clone(id));
            let Some(expires) = self.sessions.get(&id).map(|entry| entry.expires) else {
                self.expiries.remove(&key);
                continue;
            };
            if expires <= key.0 {
                return Some((key.0, id));
            }
            self.rekey(&id);
        }
    }

    /// Restarts the idle timer of a session if it is busy; returns whether it is.
    fn postpone_if_busy(
        &mut self,
        now: Instant,
        id: &str,
        is_busy: impl FnOnce(&mut T) -> bool,
    ) -> bool {
        // A timer of zero would examine the session forever.
        let idle_max = self.idle_max.max(PERIOD_MIN);
        let Some(entry) = self.sessions.get_mut(id) else { return false };
        let is_busy = is_busy(&mut entry.session);
        if is_busy {
            entry.expires = entry.expires.max(now + idle_max);
            self.rekey(id);
        }
        is_busy
    }

    /// Makes the key of a session in `expiries` exact.
    fn rekey(&mut self, id: &str) {
        let Some(entry) = self.sessions.get_mut(id) else { return };
        let Some(id) = self.expiries.remove(&entry.key) else { return };
        entry.key.0 = entry.expires;
        self.expiries.insert(entry.key, id);
    }
}

#[cfg(test)]
mod tests;
