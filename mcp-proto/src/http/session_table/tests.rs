//! Tests of the session table in virtual time.

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

/// Creates a table of sessions that were all used at time zero.
fn confirmed(ids: &[&'static str]) -> SessionTable<&'static str> {
    let mut table = SessionTable::new(ids.len(), MINUTE);
    for id in ids {
        table.insert(Instant::ZERO, *id, None, *id).unwrap();
        assert_eq!(table.get(Instant::ZERO, id, None), Some(id));
    }
    table
}

#[test]
fn an_insert_beyond_the_limit_fails_and_keeps_the_others() {
    let mut table = SessionTable::new(2, MINUTE);
    assert_eq!(table.insert(Instant::ZERO, "a", None, 1), Ok(()));
    assert_eq!(table.insert(Instant::ZERO, "a", None, 2), Err(SessionTableFull), "a taken id");
    assert_eq!(table.insert(Instant::ZERO, "b", None, 2), Ok(()));
    assert_eq!(table.insert(Instant::ZERO, "c", None, 3), Err(SessionTableFull));
    assert_eq!(table.remove("a", None), Some(1));
    assert_eq!(table.insert(Instant::ZERO, "c", None, 3), Ok(()));
    assert_eq!(table.iter().copied().collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn idle_sessions_expire_and_busy_ones_do_not() {
    let mut table = confirmed(&["idle", "busy", "used"]);
    assert_eq!(table.get(at(30), "used", None), Some(&"used"));
    let almost = Instant::ZERO + (MINUTE - Duration::from_nanos(1));
    assert_eq!(table.expire(almost, |_| false), Vec::<&str>::new());
    assert_eq!(table.poll_timeout(), Some(at(60)));
    assert_eq!(table.expire(at(60), |session| *session == "busy"), ["idle"]);
    assert_eq!(table.poll_timeout(), Some(at(90)));
    assert_eq!(table.expire(at(90), |_| false), ["used"]);
    assert_eq!(table.poll_timeout(), Some(at(120)));
    assert_eq!(table.expire(at(120), |_| false), ["busy"]);
    assert_eq!(table.poll_timeout(), None);
}

#[test]
fn a_session_whose_id_is_never_used_expires_early() {
    let mut table = SessionTable::new(9, MINUTE);
    table.insert(Instant::ZERO, "unused", None, 1).unwrap();
    table.insert(Instant::ZERO, "used", None, 2).unwrap();
    assert_eq!(table.get(at(19), "used", None), Some(&2));
    assert_eq!(table.poll_timeout(), Some(at(20)));
    assert!(table.expire(at(19), |_| false).is_empty());
    assert_eq!(table.expire(at(20), |_| false), [1]);
    assert_eq!(table.poll_timeout(), Some(at(79)));
    let mut short = SessionTable::new(1, MINUTE).unconfirmed_max(Duration::from_secs(1));
    short.insert(Instant::ZERO, "a", None, 1).unwrap();
    assert_eq!(short.poll_timeout(), Some(at(1)));
    let mut long = SessionTable::new(1, MINUTE).unconfirmed_max(2 * MINUTE);
    long.insert(Instant::ZERO, "a", None, 1).unwrap();
    assert_eq!(long.poll_timeout(), Some(at(60)), "the idle time limits it");
}

#[test]
fn eviction_removes_unconfirmed_sessions_and_then_the_longest_idle() {
    let mut table = SessionTable::new(9, MINUTE);
    for (second, id) in [(0, "old"), (1, "busy"), (2, "new")] {
        table.insert(at(second), id, None, id).unwrap();
        table.get(at(second), id, None);
    }
    table.insert(at(3), "unconfirmed", None, "unconfirmed").unwrap();
    table.get(at(3), "old", None);
    let is_busy = |session: &mut &str| *session == "busy";
    let evicted: Vec<_> = core::iter::from_fn(|| table.evict(at(4), is_busy)).collect();
    assert_eq!(evicted, ["unconfirmed", "new", "old"]);
    assert_eq!((table.len(), table.get(at(4), "busy", None)), (1, Some(&"busy")));
}

#[test]
fn eviction_skips_a_bounded_number_of_busy_sessions() {
    let mut table = SessionTable::new(200, MINUTE);
    for number in 0..150_u64 {
        let id = alloc::format!("{number}");
        table.insert(at(0), id.as_str(), None, number).unwrap();
        table.get(at(0), &id, None);
    }
    let examined = core::cell::Cell::new(0);
    let is_busy = |session: &mut u64| {
        examined.set(examined.get() + 1);
        *session != 149
    };
    for expected in [None, None, Some(149)] {
        examined.set(0);
        assert_eq!(table.evict(at(1), is_busy), expected);
        assert!(examined.get() <= SKIPPED_MAX);
    }
    assert_eq!(table.len(), 149);
}

#[test]
fn removed_sessions_leave_no_timer() {
    let mut table = confirmed(&["a", "b"]);
    assert_eq!(table.remove("a", None), Some("a"));
    assert_eq!(table.remove("b", None), Some("b"));
    assert_eq!((table.poll_timeout(), table.expiries.len()), (None, 0));
}

#[test]
fn busy_sessions_without_idle_time_are_examined_once_per_call() {
    let mut table = SessionTable::new(1, Duration::ZERO);
    table.insert(Instant::ZERO, "a", None, 1).unwrap();
    assert!(table.expire(Instant::ZERO, |_| true).is_empty());
    assert_eq!(table.evict(Instant::ZERO, |_| true), None);
    assert_eq!(table.len(), 1);
}

// SEC-13
#[test]
fn a_session_exists_for_its_principal_only() {
    let [ada, eve] = ["ada", "eve"].map(|id| Principal::new(id).unwrap());
    let callers = [None, Some(&ada), Some(&eve)];
    for owner in callers {
        let mut table = SessionTable::new(1, MINUTE);
        table.insert(Instant::ZERO, "a", owner, 'a').unwrap();
        for other in callers.into_iter().filter(|other| *other != owner) {
            assert_eq!(table.get(at(1), "a", other), None, "{owner:?} {other:?}");
            assert_eq!(table.remove("a", other), None, "{owner:?} {other:?}");
        }
        // The attempts of others kept the session neither alive nor away from its owner.
        assert_eq!(table.poll_timeout(), Some(at(20)));
        assert_eq!(table.get(at(1), "a", owner), Some(&'a'));
        assert_eq!(table.remove("a", owner), Some('a'));
        table.insert(Instant::ZERO, "a", owner, 'a').unwrap();
        assert_eq!(table.discard("a"), Some('a'));
    }
}

#[test]
fn the_server_reaches_sessions_without_restarting_their_idle_timers() {
    let mut table = SessionTable::new(2, MINUTE);
    let ada = Principal::new("ada").unwrap();
    table.insert(Instant::ZERO, "a", Some(&ada), 1).unwrap();
    table.insert(Instant::ZERO, "b", None, 2).unwrap();
    assert_eq!(table.get(Instant::ZERO, "a", Some(&ada)), Some(&1));
    assert_eq!(table.count_of(&ada), 1);
    table.iter_mut().for_each(|session| *session += 10);
    let mut asked = 0;
    let is_busy = |session: &mut i32| {
        asked += 1;
        *session == 12
    };
    assert_eq!((table.expire(at(60), is_busy), asked), (alloc::vec![11], 2));
}
