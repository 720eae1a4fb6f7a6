//! What happened to a machine once, played again: the same must come of it, however its input is
//! split and whenever it is polled; knows nothing of what it should be.

use mcp_harness::{Checked, Cut, Play, Polls, Role, Script, Trace, play_checked};
use mcp_proto::Limits;

use crate::case::Case;
use crate::coverage::Coverage;
use crate::node::Record;

/// Plays a record again, as it was and in other ways.
///
/// # Panics
/// When something else comes of it.
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
        // With a clock that goes back, what answers the machine may seem to come at the moment of
        // what it answers.
        if is_backward && matches!(cut, Cut::At(_)) {
            continue;
        }
        other_way(&base, &machine, &script, Play { cut, polls: Polls::EventsFirst });
        coverage.mark("replay other-splits");
    }
    // Who sends nothing until the end is blocked once much has to be sent, as it should be.
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

/// Both must be the same, as far as the shorter was taken down.
fn compare(what: &str, first: &[String], again: &[String]) {
    let differs = first.iter().zip(again).position(|(first, again)| first != again);
    if let Some(index) = differs {
        panic!("{what} differ at {index}:\n  - {}\n  + {}", first[index], again[index]);
    }
    assert!(first.len() == again.len(), "{what}: {} and then {}", first.len(), again.len());
}
