//! Replays a machine's history: the outcome must be identical, however the input is split and
//! whenever events are polled.

use mcp_harness::{Checked, Cut, Play, Polls, Role, Script, Trace, play_checked};
use mcp_proto::Limits;

use crate::case::Case;
use crate::coverage::Coverage;
use crate::node::Record;

/// Replays a history unchanged and in other ways.
///
/// # Panics
///
/// If the outcome differs.
pub(crate) fn check<R: Role>(
    machine: impl Fn() -> Checked<R>,
    record: &Record,
    case: &Case,
    is_backward: bool,
    coverage: &mut Coverage,
) {
    let script = Script { steps: record.steps.clone() };
    let same = Play { cut: Cut::Steps, polls: Polls::OutboxFirst };
    let base = play_checked(machine(), &script, same);
    coverage.mark("replay same-again");
    compare("events", &record.events, &base.events);
    compare("lines", &record.lines, &base.lines);
    let mut random = case.fork(10);
    let point = 1 + random.below(script.input_bytes());
    for cut in [Cut::Bytes(1), Cut::Bytes(7), Cut::At(point), Cut::Seeded(random)] {
        // If the clock goes back, an answer may seem to arrive at the moment of its request.
        if is_backward && matches!(cut, Cut::At(_)) {
            continue;
        }
        other_way(&base, &machine, &script, Play { cut, polls: Polls::EventsFirst });
        coverage.mark("replay other-splits");
    }
    // A machine whose output is not drained until the end is blocked by much output, as it should
    // be.
    let sent: usize = base.lines.iter().map(|line| line.len() + 1).sum();
    if sent > Limits::default().outbox_bytes_max {
        return;
    }
    other_way(&base, &machine, &script, Play { cut: Cut::Seeded(random), polls: Polls::Late });
    coverage.mark("replay other-polls");
}

fn other_way<R: Role>(base: &Trace, machine: impl Fn() -> Checked<R>, script: &Script, way: Play) {
    let other = play_checked(machine(), script, way);
    compare(&format!("events of {way:?}"), &base.events, &other.events);
    compare(&format!("lines of {way:?}"), &base.lines, &other.lines);
    let done =
        |trace: &Trace| trace.done.iter().map(|done| format!("{done:?}")).collect::<Vec<_>>();
    compare(&format!("what came of actions, {way:?}"), &done(base), &done(&other));
    assert!(base.moments == other.moments, "{way:?}: other deadlines");
}

/// Compares two traces up to the length of the shorter one.
fn compare(what: &str, first: &[String], again: &[String]) {
    let differs = first.iter().zip(again).position(|(first, again)| first != again);
    if let Some(index) = differs {
        panic!("{what} differ at {index}:\n  - {}\n  + {}", first[index], again[index]);
    }
    assert!(first.len() == again.len(), "{what}: {} and then {}", first.len(), again.len());
}
