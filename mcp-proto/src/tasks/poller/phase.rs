//! The phases of a poller, and the table of its transitions.
//!
//! ```text
//!             Due            Running, Lost
//!  Waiting ─────────▶ Polling ────────────▶ Waiting ◀───────┐
//!                        │ Finished                         │ Lost
//!                        ├───────────▶ Ready ── Due ──▶ Fetching
//!                        │ Ended                            │ Ended
//!                        ▼                                  │
//!                       Over ◀──────────────────────────────┘
//!
//!  any but Over ── Cancel ──▶ Stopping ── Due ──▶ Cancelling ── Ended, Lost ──▶ Over
//! ```

/// The phase of a poller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Phase {
    /// Until the next poll.
    Waiting,
    /// `tasks/get` is in flight.
    Polling,
    /// `tasks/result` is to be sent.
    Ready,
    /// `tasks/result` is in flight.
    Fetching,
    /// `tasks/cancel` is to be sent.
    Stopping,
    /// `tasks/cancel` is in flight.
    Cancelling,
    Over,
}

/// What changes the phase.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Trigger {
    /// The time has come, and the request is sent.
    Due,
    /// The task runs.
    Running,
    /// The task is over, or asks for input; `tasks/result` has the rest.
    Finished,
    /// The outcome is known.
    Ended,
    /// A request was not answered.
    Lost,
    /// The application cancels the task.
    Cancel,
}

/// Returns the phase after `trigger`, or `None` if it changes nothing in `phase`.
pub(super) const fn next(phase: Phase, trigger: Trigger) -> Option<Phase> {
    match (phase, trigger) {
        (Phase::Waiting, Trigger::Due) => Some(Phase::Polling),
        (Phase::Ready, Trigger::Due) => Some(Phase::Fetching),
        (Phase::Stopping, Trigger::Due) => Some(Phase::Cancelling),
        (Phase::Polling, Trigger::Running | Trigger::Lost)
        | (Phase::Fetching, Trigger::Lost)
        | (Phase::Waiting, Trigger::Running) => Some(Phase::Waiting),
        // A notification can end a wait.
        (Phase::Waiting | Phase::Polling, Trigger::Finished) => Some(Phase::Ready),
        (Phase::Cancelling, Trigger::Ended | Trigger::Lost)
        | (Phase::Waiting | Phase::Polling | Phase::Ready | Phase::Fetching, Trigger::Ended) => {
            Some(Phase::Over)
        }
        (Phase::Waiting | Phase::Polling | Phase::Ready | Phase::Fetching, Trigger::Cancel) => {
            Some(Phase::Stopping)
        }
        _ => None,
    }
}
