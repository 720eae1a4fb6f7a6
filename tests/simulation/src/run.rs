//! Runs cases, and shrinks failing ones.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use crate::case::{Case, Feature, Kind};
use crate::coverage::Coverage;
use crate::http;
use crate::plan::Plan;
use crate::world::World;

/// The most cases tried to shrink one.
const TRIES_MAX: usize = 600;

/// A case that breaks a promise.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The case.
    pub case: Case,
    /// The panic message; its first line names the promise.
    pub breach: String,
    /// The timeline of the world.
    pub timeline: String,
    taken: usize,
}

impl Failure {
    /// Returns the broken promise without numbers, which must not change while the case is shrunk.
    #[must_use]
    pub fn kind(&self) -> String {
        let line = self.breach.lines().next().unwrap_or_default();
        // The time of the failure does not matter.
        let line = line.split_once(": ").map_or(line, |(_, rest)| rest);
        line.chars().filter(|character| !character.is_ascii_digit()).take(60).collect()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.breach.lines().next().unwrap_or_default();
        writeln!(f, "A PROMISE IS BROKEN: {line}\n{}", self.timeline)?;
        writeln!(f, "seed: {}", self.case.seed)?;
        write!(f, "replay: cargo run --release -p mcp-simulation -- {}", replay(&self.case))
    }
}

/// A world of either kind.
pub(crate) trait Runs {
    /// Runs the world to its end.
    ///
    /// # Panics
    ///
    /// If a promise is broken.
    fn run(&mut self);

    /// Returns what was reached.
    fn coverage(&self) -> &Coverage;

    /// Returns the number of steps taken.
    fn taken(&self) -> usize;

    /// Returns the history in words.
    fn timeline(&mut self) -> String;
}

fn world(case: &Case) -> Box<dyn Runs> {
    match case.kind {
        Kind::Http => Box::new(http::World::new(case)),
        Kind::Streams => Box::new(World::new(case)),
    }
}

/// Returns the features that are on in the world of a case.
fn features(case: &Case) -> BTreeSet<Feature> {
    match case.kind {
        Kind::Http => http::Plan::draw(case).on,
        Kind::Streams => Plan::draw(case).on,
    }
}

fn replay(case: &Case) -> String {
    format!("--once {case}")
}

/// Runs one case.
///
/// # Errors
///
/// If it breaks a promise.
pub fn run(case: &Case, coverage: &mut Coverage) -> Result<(), Box<Failure>> {
    let mut world = world(case);
    let done = caught(|| world.run());
    coverage.merge(world.coverage());
    done.map_err(|payload| {
        let words = payload.downcast_ref::<String>().cloned();
        let words = words.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
        let place = PLACE.take();
        let breach = words.unwrap_or_default();
        let breach = breach.replacen('\n', &format!(" [{place}]\n"), 1);
        Box::new(Failure {
            case: case.clone(),
            breach,
            timeline: world.timeline(),
            taken: world.taken(),
        })
    })
}

/// Returns a smaller case that fails alike.
#[must_use]
pub fn shrink(failure: &Failure) -> Failure {
    let kind = failure.kind();
    let mut best = failure.clone();
    let mut tries = 0;
    let mut attempt = |best: &mut Failure, change: &dyn Fn(&mut Case)| {
        let mut case = best.case.clone();
        change(&mut case);
        tries += 1;
        if case == best.case || tries > TRIES_MAX {
            return false;
        }
        match run(&case, &mut Coverage::default()) {
            Err(smaller) if smaller.kind() == kind => {
                *best = *smaller;
                true
            }
            _ => false,
        }
    };
    let taken = best.taken;
    attempt(&mut best, &|case| case.steps = Some(taken));
    for _ in 0..2 {
        for feature in features(&best.case) {
            attempt(&mut best, &|case| _ = case.without.insert(feature));
        }
        let steps = best.case.steps.unwrap_or(taken);
        let mut size = steps.div_ceil(2);
        while size > 0 {
            for start in (0..steps).step_by(size) {
                let piece: BTreeSet<usize> = (start..(start + size).min(steps)).collect();
                attempt(&mut best, &|case| case.skip.extend(&piece));
            }
            size /= 2;
        }
        // Skipped steps at the end need not be listed.
        let last =
            (0..steps).rev().find(|step| !best.case.skip.contains(step)).map_or(0, |step| step + 1);
        attempt(&mut best, &|case| {
            case.steps = Some(last);
            case.skip.retain(|step| *step < last);
        });
    }
    best
}

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `body` and catches its panic, which the panic hook does not print: the caller reports it.
pub(crate) fn caught(body: impl FnOnce()) -> std::thread::Result<()> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if IS_CAUGHT.get() {
                PLACE.set(info.location().map(ToString::to_string).unwrap_or_default());
            } else {
                others(info);
            }
        }));
    });
    IS_CAUGHT.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(body));
    IS_CAUGHT.set(false);
    done
}
