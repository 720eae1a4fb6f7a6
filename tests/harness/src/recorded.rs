//! Plays scenarios on recorded machines: recording must change nothing, and a replay must yield
//! identical output.

use std::cell::RefCell;
use std::rc::Rc;

use mcp_proto::Instant;
use mcp_proto::record::{Recorded, Recording, Sink};
use mcp_proto::testing::Seed;

use crate::role::Role;
use crate::script::{Cut, Play, Polls, Script, play};

/// A recording that can be read while it is written.
#[derive(Clone, Debug, Default)]
pub struct Tape(Rc<RefCell<Vec<u8>>>);

impl Tape {
    /// Returns the recorded bytes.
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

/// Plays the scenario on a recorded machine, in several ways: the output must equal that without
/// recording, and the recording must replay on a new machine.
///
/// # Panics
///
/// If it does not.
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
        assert!(trace == play(machine(), script, way), "{way:?}: recording changes the output");
        let bytes = tape.bytes();
        let recording = Recording::read(&bytes).unwrap_or_else(|error| panic!("{way:?}: {error}"));
        assert!(
            recording.is_complete(),
            "{way:?}: the recording cannot be read:\n{}",
            recording.show(true)
        );
        let replayed = recording
            .replay(&mut machine())
            .unwrap_or_else(|divergence| panic!("{way:?}: {divergence}\n{}", recording.show(true)));
        assert_eq!(replayed.events, trace.events.len() as u64, "{way:?}");
    }
}
