//! A bounded table of the sessions of one HTTP server, with idle expiry.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::time::Instant;

/// A table of sessions by id that limits their number and their idle time.
///
/// The driver generates the ids, because generating random numbers is IO. Each entry costs about
/// 100 bytes in addition to the session and its id.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::Instant;
/// use mcp_proto::http::SessionTable;
///
/// // At most one session, idle for at most 60 s.
/// let mut table = SessionTable::new(1, Duration::from_secs(60));
/// table.insert(Instant::ZERO, "a", 'A').unwrap();
/// // The table is full.
/// assert!(table.insert(Instant::ZERO, "b", 'B').is_err());
/// assert_eq!(table.get(Instant::ZERO, "a"), Some(&'A'));
/// let late = table.poll_timeout().unwrap();
/// assert_eq!(table.expire(late, |_| false), ['A']);
/// ```
// SEC-18: what clients can make a server hold is bounded.
pub struct SessionTable<T> {
    sessions: BTreeMap<Box<str>, Entry<T>>,
    sessions_max: usize,
    idle_max: Duration,
    /// A lower bound of the next expiry.
    next: Option<Instant>,
}

// The keys are session ids, which are credentials.
impl<T: fmt::Debug> fmt::Debug for SessionTable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTable")
            .field("sessions", &self.sessions.values())
            .field("sessions_max", &self.sessions_max)
            .field("idle_max", &self.idle_max)
            .field("next", &self.next)
            .finish()
    }
}

#[derive(Debug)]
struct Entry<T> {
    session: T,
    /// When the session was last looked up or busy.
    last_used: Instant,
}

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
        Self { sessions: BTreeMap::new(), sessions_max, idle_max, next: None }
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

    /// Inserts a session.
    ///
    /// # Errors
    /// Returns [`SessionTableFull`], and drops `session`, if the limit is reached or the id is
    /// taken. Random ids do not collide in practice.
    pub fn insert(&mut self, now: Instant, id: &str, session: T) -> Result<(), SessionTableFull> {
        self.has_room()?;
        if self.sessions.contains_key(id) {
            return Err(SessionTableFull);
        }
        self.sessions.insert(id.into(), Entry { session, last_used: now });
        self.next.get_or_insert(now + self.idle_max);
        Ok(())
    }

    /// Returns the session with this id, if there is one, and restarts its idle timer.
    pub fn get(&mut self, now: Instant, id: &str) -> Option<&T> {
        let entry = self.sessions.get_mut(id)?;
        entry.last_used = entry.last_used.max(now);
        Some(&entry.session)
    }

    /// Removes and returns a session; `None` if the id is unknown.
    pub fn remove(&mut self, id: &str) -> Option<T> {
        self.sessions.remove(id).map(|entry| entry.session)
    }

    /// Iterates over all sessions in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.sessions.values().map(|entry| &entry.session)
    }

    /// Returns when to call [`expire`](Self::expire) next, or `None` if no timer is running.
    ///
    /// At that time, `expire` may still find that no session has expired.
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }

    /// Removes and returns the sessions that have been idle for the maximum time.
    ///
    /// `is_busy` returns whether a session has a request in flight or a listening client. Such a
    /// session does not count as idle.
    ///
    /// At most two calls per maximum idle time scan the table, in time linear in the number of
    /// sessions. All other calls return immediately.
    pub fn expire(&mut self, now: Instant, is_busy: impl Fn(&T) -> bool) -> Vec<T> {
        if self.next.is_none_or(|next| now < next) {
            return Vec::new();
        }
        let idle_max = self.idle_max;
        let mut due = Vec::new();
        let mut soonest = None;
        for (id, entry) in &mut self.sessions {
            if is_busy(&entry.session) {
                entry.last_used = entry.last_used.max(now);
            }
            if entry.last_used + idle_max <= now {
                due.push(id.clone());
            } else {
                let at = entry.last_used + idle_max;
                soonest = Some(soonest.map_or(at, |soonest: Instant| soonest.min(at)));
            }
        }
        self.next = soonest.map(|at| at.max(now + idle_max / 2));
        due.iter().filter_map(|id| self.remove(id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn an_insert_beyond_the_limit_fails_and_keeps_the_others() {
        let mut table = SessionTable::new(2, MINUTE);
        assert_eq!(table.insert(Instant::ZERO, "a", 1), Ok(()));
        assert_eq!(table.insert(Instant::ZERO, "a", 2), Err(SessionTableFull), "a taken id");
        assert_eq!(table.insert(Instant::ZERO, "b", 2), Ok(()));
        assert_eq!(table.insert(Instant::ZERO, "c", 3), Err(SessionTableFull));
        assert_eq!(table.remove("a"), Some(1));
        assert_eq!(table.insert(Instant::ZERO, "c", 3), Ok(()));
        assert_eq!(table.iter().copied().collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn idle_sessions_expire_and_busy_ones_do_not() {
        let mut table = SessionTable::new(9, MINUTE);
        table.insert(Instant::ZERO, "idle", 1).unwrap();
        table.insert(Instant::ZERO, "busy", 2).unwrap();
        table.insert(Instant::ZERO, "used", 3).unwrap();
        let half = Instant::ZERO + MINUTE / 2;
        assert_eq!(table.get(half, "used"), Some(&3));
        let due = Instant::ZERO + MINUTE;
        assert_eq!(table.poll_timeout(), Some(due));
        assert!(
            table.expire(Instant::ZERO + (MINUTE - Duration::from_nanos(1)), |_| false).is_empty()
        );
        assert_eq!(table.expire(due, |session| *session == 2), [1]);
        let next = table.poll_timeout().unwrap();
        assert_eq!(table.expire(next, |_| false), [3]);
        let last = table.poll_timeout().unwrap();
        assert_eq!(table.expire(last, |_| false), [2]);
        assert_eq!(table.poll_timeout(), None);
    }
}
