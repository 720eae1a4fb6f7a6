//! Random worlds of tasks.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};

use mcp_harness::Seed;
use mcp_proto::Revision;

use super::op::TaskStep;
use super::world::TasksWorld;

/// The steps of a world.
const STEPS: usize = 200;

/// What happens most.
const COMMON: [TaskStep; 5] =
    [TaskStep::Up(0), TaskStep::Up(1), TaskStep::Down(0), TaskStep::Down(1), TaskStep::Poll];

/// The most tasks of a world.
const TASKS: usize = 6;

/// What many worlds came to, by name.
#[derive(Clone, Debug, Default)]
pub struct TaskTally(BTreeMap<String, u64>);

impl TaskTally {
    fn count(&mut self, name: String) {
        *self.0.entry(name).or_default() += 1;
    }

    /// Returns how often something occurred.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for TaskTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, count)| writeln!(f, "  {name}: {count}"))
    }
}

/// A world that breaks a promise.
#[derive(Clone, Debug)]
pub struct TaskFailure {
    seed: u64,
    breach: String,
    steps: Vec<TaskStep>,
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.steps)?;
        writeln!(f, "A PROMISE IS BROKEN: {}", self.breach)?;
        write!(f, "seed: {}; replay: mcp-simulation --tasks --once --seed {}", self.seed, self.seed)
    }
}

/// Runs the world of a seed.
///
/// # Errors
///
/// Returns the failure, with what happened, if a promise is broken.
pub fn run_tasks(seed: u64, tally: &mut TaskTally) -> Result<(), Box<TaskFailure>> {
    let mut random = Seed(seed.wrapping_mul(0xD6E8_FEB8_6659_FD93));
    let mut steps = Vec::new();
    let result = panic::catch_unwind(AssertUnwindSafe(|| live(&mut random, &mut steps, tally)));
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Box::new(TaskFailure { seed, breach: text.unwrap_or_default(), steps })
    })
}

fn live(random: &mut Seed, steps: &mut Vec<TaskStep>, tally: &mut TaskTally) {
    let revision = [Revision::V2025_11_25, Revision::V2026_07_28][random.below(2)];
    let mut world = TasksWorld::new(revision, random.below(2) == 0);
    // Rare steps are rarer in some worlds.
    let rarity = 1 + random.below(12);
    let all = TaskStep::all(TASKS);
    for _ in 0..STEPS {
        let step = match random.below(3) {
            0 => all[random.below(all.len())],
            _ => COMMON[random.below(COMMON.len())],
        };
        let odds = match step {
            TaskStep::Disconnect(_) | TaskStep::Restart => rarity,
            TaskStep::Expire => 4 * rarity,
            TaskStep::Cancel(_) | TaskStep::Complete(_) | TaskStep::Fail(_) => 3,
            TaskStep::Call(_) if world.tasks() >= TASKS => continue,
            _ => 1,
        };
        if random.below(odds) != 0 {
            continue;
        }
        steps.push(step);
        if world.take(step) {
            let name = format!("{step:?}");
            let name = name.split('(').next().unwrap_or_default();
            tally.count(format!("step {name}"));
        }
    }
    world.finish();
    tally.count(format!("worlds of {}", revision.name()));
    for end in world.ends() {
        tally.count(format!("tasks {end}"));
    }
}
