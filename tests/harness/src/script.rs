//! Scenarios as data, played in many ways that must yield identical output: split anywhere, polled
//! in any order, with time that stutters.

use std::time::Duration;

use mcp_proto::{CommandOutcome, Instant, Misuse, OwnedCommand};

use crate::check::Checked;
use crate::diff::diff;
use crate::player::Player;
use crate::role::Role;
use mcp_proto::testing::Seed;

/// One step of a scenario.
#[derive(Clone, Debug)]
pub enum Step {
    /// The application runs a command. Calls and requests are identified by number.
    Apply(OwnedCommand),
    /// The input ends.
    Eof,
    /// Bytes arrive.
    Input(Vec<u8>),
    /// Time passes without a call to the machine.
    Jump(Duration),
    /// The machine learns the current time.
    Tick,
    /// Time passes.
    Wait(Duration),
}

/// The inputs of one machine, in order.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Script {
    /// Returns the number of input bytes in the whole scenario.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        self.steps
            .iter()
            .map(|step| if let Step::Input(bytes) = step { bytes.len() } else { 0 })
            .sum()
    }
}

/// How the input of one moment is split.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cut {
    /// The input of a moment together, split in two at this byte of the whole scenario's input.
    At(usize),
    /// Into pieces of this many bytes.
    Bytes(usize),
    /// As in the scenario.
    Steps,
    /// At random.
    Seeded(Seed),
    /// The input of a moment together.
    Whole,
}

/// When the machine is polled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Polls {
    /// After each piece of input, events first.
    EventsFirst,
    /// Events only when the application acts on them, bytes only at the end.
    Late,
    /// After each piece of input, everything twice, one byte at a time, with early timeouts and
    /// times that go back.
    Nervous,
    /// After each piece of input, bytes first.
    OutboxFirst,
    /// At random.
    Seeded(Seed),
}

/// A way to play a scenario.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Play {
    /// How input is split.
    pub cut: Cut,
    /// When the machine is polled.
    pub polls: Polls,
}

/// The output of a scenario that must not depend on how it is played.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Trace {
    /// The lines sent.
    pub lines: Vec<String>,
    /// The events, in full.
    pub events: Vec<String>,
    /// The outcome of each command.
    pub done: Vec<Result<CommandOutcome, Misuse>>,
    /// The deadline, and whether the machine was closed, before each step that is not input, and at
    /// the end.
    pub moments: Vec<(Option<Instant>, bool)>,
}

/// Plays a scenario on a fresh machine.
pub fn play<R: Role>(machine: R, script: &Script, play: Play) -> Trace {
    play_checked(Checked::new(machine), script, play)
}

/// Plays a scenario on a machine whose checks are already configured.
#[must_use]
pub fn play_checked<R: Role>(machine: Checked<R>, script: &Script, play: Play) -> Trace {
    Player::new(machine, play).run(script)
}

/// Plays the scenario with every split point of its input, byte by byte, and split at random.
///
/// # Panics
///
/// If the output differs.
pub fn assert_chunk_free<R: Role>(machine: impl Fn() -> R, script: &Script) {
    let polls = Polls::OutboxFirst;
    let base = play(machine(), script, Play { cut: Cut::Steps, polls });
    let points = (1..script.input_bytes()).map(Cut::At);
    let sizes = [1, 2, 3, 7, 64].map(Cut::Bytes);
    let seeds = (0..16).map(|seed| Cut::Seeded(Seed(seed)));
    for cut in points.chain(sizes).chain(seeds).chain([Cut::Whole]) {
        compare(&base, &machine, script, Play { cut, polls });
    }
}

/// Plays the scenario in every named poll order, and in random ones.
///
/// # Panics
///
/// If the output differs.
pub fn assert_order_free<R: Role>(machine: impl Fn() -> R, script: &Script) {
    let base = play(machine(), script, Play { cut: Cut::Steps, polls: Polls::OutboxFirst });
    let named = [Polls::EventsFirst, Polls::Late, Polls::Nervous];
    let seeds = (0..32).map(|seed| Polls::Seeded(Seed(seed)));
    for polls in named.into_iter().chain(seeds) {
        for cut in [Cut::Steps, Cut::Whole, Cut::Bytes(5)] {
            compare(&base, &machine, script, Play { cut, polls });
        }
    }
}

/// Plays the scenario twice in each of several ways.
///
/// # Panics
///
/// If the two outputs differ.
pub fn assert_deterministic<R: Role>(machine: impl Fn() -> R, script: &Script) {
    for seed in 0..8 {
        let way = Play { cut: Cut::Seeded(Seed(seed)), polls: Polls::Seeded(Seed(seed)) };
        let base = play(machine(), script, way);
        compare(&base, &machine, script, way);
    }
}

fn compare<R: Role>(base: &Trace, machine: impl Fn() -> R, script: &Script, way: Play) {
    let other = play(machine(), script, way);
    if *base != other {
        let base = format!("{base:#?}");
        let other = format!("{other:#?}");
        let lines = |text: &str| text.lines().map(ToOwned::to_owned).collect::<Vec<String>>();
        panic!("{way:?} yields different output:\n{}", diff(&lines(&base), &lines(&other)));
    }
}
