//! The pace of a handler: whether it has proved quick enough to run on the thread that drives its
//! connection.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// Whether one handler is quick, judged by its run times. Shared by all connections of a server.
///
/// ```text
///            `PROOF` quick runs in a row, roughly
///   unproven ────────────────────────────────────▶ quick
///      ▲                                             │
///      └─────────────────────────────────────────────┘
///        several slow runs, or one long one: the proof
///        then takes eight times as many runs
/// ```
///
/// Handlers start as unproven and run on the thread pool. A quick handler runs on the thread that
/// drives the connection, which saves two context switches per request.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The request that the handler serves, for warnings.
    name: OnceLock<String>,
    /// Quick runs, less [`PENALTY`] for each slow one. At most `proof` + [`RESERVE`].
    score: AtomicU32,
    /// The score from which the handler counts as quick; [`NEVER`] if it must not.
    proof: AtomicU32,
}

/// The longest run that counts as quick. Requests that arrive together wait for each other, and so
/// do other connections of a runtime, so this is far below what a person or a program notices.
pub(crate) const QUICK_MAX: Duration = Duration::from_micros(100);

/// A single run longer than this on the driver's thread ends the proof. A shorter one may be due to
/// the system, which can take the processor away at any time.
pub(crate) const LONG: Duration = Duration::from_millis(5);

/// The number of quick runs that prove a handler quick.
const PROOF: u32 = 16;

/// How far the score may rise above the proof, and what one slow run costs: the third slow run in
/// short succession ends the proof, a single one does not.
const RESERVE: u32 = 16;
const PENALTY: u32 = 8;

/// The maximum number of quick runs that a proof takes: a client that can make a handler slow at
/// will can delay others once in that many calls.
const PROOF_MAX: u32 = 65_536;

/// The proof of a handler that never counts as quick.
const NEVER: u32 = u32::MAX;

impl Default for Pace {
    fn default() -> Self {
        Self::with_proof(PROOF)
    }
}

impl Pace {
    /// Creates the pace of a handler that is known to block.
    pub(crate) const fn blocking() -> Self {
        Self::with_proof(NEVER)
    }

    const fn with_proof(proof: u32) -> Self {
        Self { name: OnceLock::new(), score: AtomicU32::new(0), proof: AtomicU32::new(proof) }
    }

    /// Sets what the handler serves. Only the first name counts.
    pub(crate) fn set_name(&self, name: &str) {
        let _named = self.name.set(name.to_owned());
    }

    pub(crate) fn name(&self) -> &str {
        self.name.get().map_or("a handler", String::as_str)
    }

    pub(crate) fn is_quick(&self) -> bool {
        self.score.load(Relaxed) >= self.proof.load(Relaxed)
    }

    /// Records a run on the driver's thread. Returns whether it was too long for that thread.
    pub(crate) fn record_inline(&self, took: Duration) -> bool {
        if took <= LONG {
            self.record(took);
            return false;
        }
        self.score.store(0, Relaxed);
        let proof = self.proof.load(Relaxed);
        if proof != NEVER {
            self.proof.store(proof.saturating_mul(8).min(PROOF_MAX), Relaxed);
        }
        true
    }

    /// Records that a run on the driver's thread continues for too long: the next ones must not
    /// begin there. Its end is still to be recorded.
    pub(crate) fn record_stuck(&self) {
        self.score.store(0, Relaxed);
    }

    /// Records a run on a thread of the pool.
    // Two threads may overwrite each other's records: the proof takes a little longer then.
    pub(crate) fn record(&self, took: Duration) {
        let score = self.score.load(Relaxed);
        let max = self.proof.load(Relaxed).saturating_add(RESERVE);
        let next = if took > LONG {
            0
        } else if took > QUICK_MAX {
            score.saturating_sub(PENALTY)
        } else {
            score.saturating_add(1).min(max)
        };
        if next != score {
            self.score.store(next, Relaxed);
        }
    }

    /// Rules out that the handler counts as quick: it has used what may block.
    pub(crate) fn disprove(&self) {
        self.proof.store(NEVER, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONG, NEVER, PENALTY, PROOF, PROOF_MAX, Pace, QUICK_MAX, RESERVE};

    const SLOW: Duration = Duration::from_micros(200);

    fn run(pace: &Pace, took: Duration, times: u32) {
        (0..times).for_each(|_| pace.record(took));
    }

    fn proved() -> Pace {
        let pace = Pace::default();
        run(&pace, QUICK_MAX, PROOF + RESERVE);
        pace
    }

    #[test]
    fn quick_runs_prove_a_handler_quick() {
        let pace = Pace::default();
        run(&pace, QUICK_MAX, PROOF - 1);
        assert!(!pace.is_quick());
        run(&pace, QUICK_MAX, 1);
        assert!(pace.is_quick());
    }

    #[test]
    fn one_slow_run_is_forgiven_and_several_are_not() {
        let pace = proved();
        run(&pace, SLOW, RESERVE / PENALTY);
        assert!(pace.is_quick());
        run(&pace, SLOW, 1);
        assert!(!pace.is_quick());
        run(&pace, QUICK_MAX, PENALTY);
        assert!(pace.is_quick());
    }

    #[test]
    fn a_long_run_on_the_drivers_thread_makes_the_next_proof_harder() {
        let pace = proved();
        assert!(!pace.record_inline(LONG));
        assert!(pace.is_quick());
        let mut proof = PROOF;
        for _ in 0..6 {
            assert!(pace.record_inline(LONG * 2));
            proof = (proof * 8).min(PROOF_MAX);
            run(&pace, QUICK_MAX, proof - 1);
            assert!(!pace.is_quick(), "{proof}");
            run(&pace, QUICK_MAX, 1);
            assert!(pace.is_quick(), "{proof}");
        }
        assert_eq!(proof, PROOF_MAX);
    }

    #[test]
    fn a_long_run_on_the_pool_only_starts_the_proof_again() {
        let pace = proved();
        run(&pace, LONG * 2, 1);
        assert!(!pace.is_quick());
        run(&pace, QUICK_MAX, PROOF);
        assert!(pace.is_quick());
    }

    #[test]
    fn a_blocking_handler_is_never_quick() {
        let (declared, disproved) = (Pace::blocking(), proved());
        disproved.disprove();
        for pace in [declared, disproved] {
            run(&pace, Duration::ZERO, 1000);
            assert!(!pace.is_quick());
            assert!(pace.record_inline(LONG * 2));
            assert_eq!(pace.proof.into_inner(), NEVER);
        }
    }
}
