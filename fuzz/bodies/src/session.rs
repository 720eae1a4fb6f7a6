//! The sessions of a server over HTTP, driven by a script of requests, with valid and invalid
//! session ids, and times.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use mcp_proto::http::SessionTable;
use mcp_proto::{Instant, Revision};

use crate::served::Served;

/// Whatever clients claim about sessions and events, the number of sessions is bounded, a session
/// expires once it was idle long enough and never while busy, and none reveals another's messages.
///
/// Steps have three bytes: the action, the session, and its details.
pub fn session(data: &[u8]) {
    let mut table: SessionTable<Rc<RefCell<Served>>> = SessionTable::new(SESSIONS_MAX, IDLE_MAX);
    // When each session was last used.
    let mut known: BTreeMap<String, (Instant, Rc<RefCell<Served>>)> = BTreeMap::new();
    let mut now = Instant::ZERO;
    for step in data.chunks_exact(3) {
        let [what, which, how] = [step[0], step[1], step[2]];
        let id = format!("s{}", which % 6);
        match what % 8 {
            0 => {
                let is_full = known.len() == SESSIONS_MAX;
                assert_eq!(table.has_room().is_err(), is_full);
                let revision = Revision::LEGACY[usize::from(how) % Revision::LEGACY.len()];
                let served = Rc::new(RefCell::new(Served::new(now, revision, &id)));
                let is_refused = is_full || known.contains_key(&id);
                let is_inserted = table.insert(now, id.as_str(), None, Rc::clone(&served)).is_ok();
                assert_eq!(!is_inserted, is_refused);
                if !is_refused {
                    known.insert(id, (now, served));
                }
            }
            1 => {
                let removed = table.remove(&id, None);
                assert_eq!(removed.is_some(), known.remove(&id).is_some());
                end(now, removed);
            }
            2 => {
                now += Duration::from_millis(1 << (which % 16));
                known.values().for_each(|(_, served)| served.borrow_mut().wait(now));
                let is_busy = |served: &Rc<RefCell<Served>>| served.borrow_mut().http.is_busy();
                let is_due = table.poll_timeout().is_some_and(|due| due <= now);
                let expired = table.expire(now, |served| is_busy(served));
                assert!(is_due || expired.is_empty(), "nothing was due");
                for served in &expired {
                    let id = served.borrow().http.id().map(str::to_owned).unwrap_or_default();
                    let (used, _) =
                        known.remove(&id).unwrap_or_else(|| panic!("{id} did not exist"));
                    assert!(!is_busy(served) && now >= used + IDLE_MAX, "{id} was not idle");
                }
                end(now, expired);
                // No session outlives the idle timeout for long.
                let is_late = |used: Instant| now.duration_since(used) >= 2 * IDLE_MAX;
                let late = known
                    .iter()
                    .find(|(_, (used, served))| is_due && is_late(*used) && !is_busy(served));
                assert!(late.is_none(), "{late:?} stays");
                assert!(table.poll_timeout().is_some() || known.is_empty());
            }
            _ => {
                let served = table.get(now, &id, None).map(Rc::clone);
                assert_eq!(served.is_some(), known.contains_key(&id));
                let Some(served) = served else { continue };
                known.entry(id).and_modify(|(used, _)| *used = now);
                use_it(&mut served.borrow_mut(), now, what, how, &known);
            }
        }
        assert_eq!(table.len(), known.len());
    }
    end(now, table.iter().map(Rc::clone));
}

const SESSIONS_MAX: usize = 3;

const IDLE_MAX: Duration = Duration::from_secs(10);

fn use_it(
    served: &mut Served,
    now: Instant,
    what: u8,
    how: u8,
    known: &BTreeMap<String, (Instant, Rc<RefCell<Served>>)>,
) {
    match what % 8 {
        3 => served.ask(now, how),
        4 if how.is_multiple_of(4) => served.gone(now, how / 4),
        4 => served.read(how / 4, usize::from(how % 4)),
        5 => served.act(now, how % Served::ACTS, how),
        6 => {
            // The session in use is borrowed and cannot list its ids.
            let other = known
                .values()
                .find_map(|(_, other)| Some(other.try_borrow().ok()?.event_id(how, 1)));
            let id = other
                .filter(|_| how.is_multiple_of(2))
                .unwrap_or_else(|| served.event_id(how, how / 8));
            served.get(now, Some(&id));
        }
        _ => served.get(now, None),
    }
}

/// Checks that nothing remains of ended sessions.
fn end(now: Instant, sessions: impl IntoIterator<Item = Rc<RefCell<Served>>>) {
    for served in sessions {
        let mut served = served.borrow_mut();
        served.look();
        served.check_kept(now);
        served.finish(now);
    }
}
