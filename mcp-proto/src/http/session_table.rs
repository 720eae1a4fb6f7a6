//! The sessions of one HTTP server, by id: how many there may be, and which have been idle for too
//! long; knows nothing of what a session is.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::time::Instant;

/// Sessions by their ids, bounded in number and in idleness. (SEC-18)
///
/// The driver mints the ids: randomness is IO. Costs the session, its id and about 100 bytes each.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::Instant;
/// use mcp_proto::http::Table;
///
/// let mut table = Table::new(1, Duration::from_secs(60));
/// table.insert(Instant::ZERO, "a", 'A').unwrap();
/// assert!(table.insert(Instant::ZERO, "b", 'B').is_err());
/// assert_eq!(table.get(Instant::ZERO, "a"), Some(&'A'));
/// let late = table.poll_timeout().unwrap();
/// assert_eq!(table.expire(late, |_| false), ['A']);
/// ```
#[derive(Debug)]
pub struct Table<T> {
    sessions: BTreeMap<Box<str>, Entry<T>>,
    sessions_max: usize,
    idle_max: Duration,
    /// No session is due before this.
    next: Option<Instant>,
}

#[derive(Debug)]
struct Entry<T> {
    session: T,
    /// When it was last asked for.
    used: Instant,
}

/// There are as many sessions as there may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there are too many sessions")
    }
}

impl core::error::Error for Full {}

impl<T> Table<T> {
    /// A table of at most `sessions_max` sessions, each of which may be idle for `idle_max`.
    #[must_use]
    pub const fn new(sessions_max: usize, idle_max: Duration) -> Self {
        Self { sessions: BTreeMap::new(), sessions_max, idle_max, next: None }
    }

    /// How many sessions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Whether there is room for one more.
    ///
    /// # Errors
    /// [`Full`] when there is not.
    pub fn has_room(&self) -> Result<(), Full> {
        if self.sessions.len() < self.sessions_max { Ok(()) } else { Err(Full) }
    }

    /// Adds a session.
    ///
    /// # Errors
    /// [`Full`], and it is not added; nor is one whose id is taken, which chance does not bring
    /// about.
    pub fn insert(&mut self, now: Instant, id: &str, session: T) -> Result<(), Full> {
        self.has_room()?;
        if self.sessions.contains_key(id) {
            return Err(Full);
        }
        self.sessions.insert(id.into(), Entry { session, used: now });
        self.next.get_or_insert(now + self.idle_max);
        Ok(())
    }

    /// The session with this id, which is used by being asked for.
    pub fn get(&mut self, now: Instant, id: &str) -> Option<&T> {
        let entry = self.sessions.get_mut(id)?;
        entry.used = entry.used.max(now);
        Some(&entry.session)
    }

    /// Takes a session out.
    pub fn remove(&mut self, id: &str) -> Option<T> {
        self.sessions.remove(id).map(|entry| entry.session)
    }

    /// All sessions, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.sessions.values().map(|entry| &entry.session)
    }

    /// When to call [`expire`](Self::expire).
    #[must_use]
    pub const fn poll_timeout(&self) -> Option<Instant> {
        self.next
    }

    /// Takes out the sessions that were idle for too long. One that is busy is not idle: a request
    /// is in flight, or somebody listens. Costs a look at each session, at most once in half of
    /// the time that one may be idle.
    pub fn expire(&mut self, now: Instant, is_busy: impl Fn(&T) -> bool) -> Vec<T> {
        if self.next.is_none_or(|next| now < next) {
            return Vec::new();
        }
        let idle_max = self.idle_max;
        let mut due = Vec::new();
        let mut soonest = None;
        for (id, entry) in &mut self.sessions {
            if is_busy(&entry.session) {
                entry.used = entry.used.max(now);
            }
            if entry.used + idle_max <= now {
                due.push(id.clone());
            } else {
                let at = entry.used + idle_max;
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
    fn the_session_too_many_is_refused_and_the_others_stay() {
        let mut table = Table::new(2, MINUTE);
        assert_eq!(table.insert(Instant::ZERO, "a", 1), Ok(()));
        assert_eq!(table.insert(Instant::ZERO, "a", 2), Err(Full), "a taken id");
        assert_eq!(table.insert(Instant::ZERO, "b", 2), Ok(()));
        assert_eq!(table.insert(Instant::ZERO, "c", 3), Err(Full));
        assert_eq!(table.remove("a"), Some(1));
        assert_eq!(table.insert(Instant::ZERO, "c", 3), Ok(()));
        assert_eq!(table.iter().copied().collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn the_idle_expire_and_the_busy_do_not() {
        let mut table = Table::new(9, MINUTE);
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
