//! A scenario as data, played in many ways that must all show the same: cut anywhere, polled in any
//! order, with time that stutters; knows nothing of what the scenario means.

use std::time::Duration;

use mcp_proto::{Applied, Instant, Misuse, OwnedCommand};

use crate::check::Checked;
use crate::diff::diff;
use crate::player::Player;
use crate::role::Role;
use mcp_proto::testing::Seed;

/// One step of a scenario.
#[derive(Clone, Debug)]
pub enum Step {
    /// The application applies a command. Calls and requests go by their numbers.
    Apply(OwnedCommand),
    /// The peer hangs up.
    Eof,
    /// Bytes come in.
    Input(Vec<u8>),
    /// Time passes and nobody looks at the clock.
    Jump(Duration),
    /// Somebody looks at the clock.
    Tick,
    /// Time passes.
    Wait(Duration),
}

/// What happens to one machine, in order.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Script {
    /// All bytes that come in, in the whole of the scenario.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        self.steps
            .iter()
            .map(|step| if let Step::Input(bytes) = step { bytes.len() } else { 0 })
            .sum()
    }
}

/// How the bytes that come in at one moment are split.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cut {
    /// All that comes at one moment at once, and cut in two at this byte of the whole scenario's
    /// input.
    At(usize),
    /// Into pieces of so many bytes.
    Bytes(usize),
    /// As the scenario has it.
    Steps,
    /// At random.
    Seeded(Seed),
    /// All that comes at one moment at once.
    Whole,
}

/// When the machine is polled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Polls {
    /// After each piece of input, events first.
    EventsFirst,
    /// Events only when the application acts on them, bytes only at the end.
    Late,
    /// After each piece of input, everything twice, one byte at a time, with timeouts that are not
    /// due and with times that go backwards.
    Nervous,
    /// After each piece of input, bytes first.
    OutboxFirst,
    /// At random.
    Seeded(Seed),
}

/// One way to play a scenario.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Play {
    /// How bytes are split.
    pub cut: Cut,
    /// When the machine is polled.
    pub polls: Polls,
}

/// All that a scenario showed: what must not depend on how it is played.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Trace {
    /// The lines that were sent.
    pub lines: Vec<String>,
    /// The events, in full.
    pub events: Vec<String>,
    /// The outcome of each command.
    pub done: Vec<Result<Applied, Misuse>>,
    /// The deadline, and whether the machine was closed, before each step that is not input, and
    /// at the end.
    pub moments: Vec<(Option<Instant>, bool)>,
}

/// Plays a scenario on a new machine.
pub fn play<R: Role>(machine: R, script: &Script, play: Play) -> Trace {
    play_checked(Checked::new(machine), script, play)
}

/// Plays a scenario in one way, on a machine whose checks are set up already.
#[must_use]
pub fn play_checked<R: Role>(machine: Checked<R>, script: &Script, play: Play) -> Trace {
    Player::new(machine, play).run(script)
}

/// Plays the scenario with every single split point of its input, byte by byte, and split at
/// random.
///
/// # Panics
/// When some way shows something else.
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

/// Plays the scenario with the machine polled in every order that there is a name for, and in
/// random ones.
///
/// # Panics
/// When some order shows something else.
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

/// Plays the scenario twice in each of some ways.
///
/// # Panics
/// When the second time shows something else than the first.
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
        panic!("{way:?} shows something else:\n{}", diff(&lines(&base), &lines(&other)));
    }
}
