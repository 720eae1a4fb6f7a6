//! Scenarios played on machines that are recorded: the recording changes nothing, and what is done
//! again comes out the same; knows nothing of what a recording looks like.

use std::cell::RefCell;
use std::rc::Rc;

use mcp_proto::Instant;
use mcp_proto::record::{Recorded, Recording, Sink};
use mcp_proto::testing::Seed;

use crate::role::Role;
use crate::script::{Cut, Play, Polls, Script, play};

/// A recording that can be read while it goes on.
#[derive(Clone, Debug, Default)]
pub struct Tape(Rc<RefCell<Vec<u8>>>);

impl Tape {
    /// What is on it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }
}

impl Sink for Tape {
    fn write(&mut self, piece: &[u8]) {
        self.0.borrow_mut().extend_from_slice(piece);
    }
}

/// Plays the scenario on a machine that is recorded, in some ways: it must show what it shows
/// without, and the recording must replay on a new machine.
///
/// # Panics
/// When it does not.
pub fn assert_replays<R: Role>(machine: impl Fn() -> R, script: &Script) {
    let ways = [
        (Cut::Steps, Polls::OutboxFirst),
        (Cut::Whole, Polls::Late),
        (Cut::Bytes(7), Polls::Nervous),
        (Cut::Seeded(Seed(5)), Polls::Seeded(Seed(5))),
    ];
    for (cut, polls) in ways {
        let way = Play { cut, polls };
        let tape = Tape::default();
        let recorded = Recorded::new(machine(), Instant::ZERO, tape.clone());
        let trace = play(recorded, script, way);
        assert!(
            trace == play(machine(), script, way),
            "{way:?}: it shows something else when it is recorded"
        );
        let bytes = tape.bytes();
        let recording = Recording::read(&bytes).unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert!(
            recording.is_whole(),
            "{way:?}: the recording cannot be read:\n{}",
            recording.show(true)
        );
        let replayed = recording
            .replay(&mut machine())
            .unwrap_or_else(|divergence| panic!("{way:?}: {divergence}\n{}", recording.show(true)));
        assert_eq!(replayed.events, trace.events.len() as u64, "{way:?}");
    }
}
