//! The states of a task, and the table of its transitions.
//!
//! ```text
//!            Ask                    Complete, Fail, Cancel
//!          ┌──────▶ InputRequired ────────────┐
//!  Working ◀──────┘   │     ▲                 ▼
//!    │        Resume  └─────┘ Ask     Completed, Failed, Cancelled
//!    └────────────────────────────────▶ (final)
//!          Complete, Fail, Cancel
//! ```

use crate::schema::TaskStatus;

/// The state of a task.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

/// What changes the state of a task.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// The task needs input.
    Ask,
    /// The last outstanding input request is answered or withdrawn.
    Resume,
    Complete,
    Fail,
    Cancel,
}

/// Returns the state after `step`, or `None` if the step is not legal in `state`.
// TSK-10: this table is the machine; final states are never left.
pub(super) const fn next(state: State, step: Step) -> Option<State> {
    match (state, step) {
        (State::Working | State::InputRequired, Step::Ask) => Some(State::InputRequired),
        (State::InputRequired, Step::Resume) => Some(State::Working),
        (State::Working | State::InputRequired, Step::Complete) => Some(State::Completed),
        (State::Working | State::InputRequired, Step::Fail) => Some(State::Failed),
        (State::Working | State::InputRequired, Step::Cancel) => Some(State::Cancelled),
        (State::Working, Step::Resume)
        | (State::Completed | State::Failed | State::Cancelled, _) => None,
    }
}

impl State {
    pub(super) const ALL: [Self; 5] =
        [Self::Working, Self::InputRequired, Self::Completed, Self::Failed, Self::Cancelled];

    pub(super) const fn status(self) -> TaskStatus {
        match self {
            Self::Working => TaskStatus::Working,
            Self::InputRequired => TaskStatus::InputRequired,
            Self::Completed => TaskStatus::Completed,
            Self::Failed => TaskStatus::Failed,
            Self::Cancelled => TaskStatus::Cancelled,
        }
    }

    pub(super) fn of(status: &TaskStatus) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.status() == *status)
    }

    pub(super) const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // TSK-10
    #[test]
    fn the_transitions_are_those_of_the_specification() {
        use State::*;
        let steps = [Step::Ask, Step::Resume, Step::Complete, Step::Fail, Step::Cancel];
        for state in State::ALL {
            let mut reached: alloc::vec::Vec<State> =
                steps.into_iter().filter_map(|step| next(state, step)).collect();
            reached.retain(|next| *next != state);
            let expected: &[State] = match state {
                Working => &[InputRequired, Completed, Failed, Cancelled],
                InputRequired => &[Working, Completed, Failed, Cancelled],
                Completed | Failed | Cancelled => &[],
            };
            assert_eq!(reached, expected);
            assert_eq!(state.is_final(), state.status().is_final());
            assert_eq!(State::of(&state.status()), Some(state));
        }
    }
}
