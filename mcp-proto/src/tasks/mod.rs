//! Tasks: requests that outlive their response, for receivers and requestors, without IO.
//!
//! A [`TaskTable`] holds all tasks of a receiver, usually a server. It serves the tasks of revision
//! 2025-11-25 and the tasks extension of revision 2026-07-28; [`TaskProtocol`] is the table of
//! their differences. Time, ids and stored records come in; responses, notifications, [events] and
//! one deadline come out.
//!
//! ```text
//!            Ask                    Complete, Fail, Cancel
//!          ┌──────▶ InputRequired ────────────┐
//!  Working ◀──────┘   │     ▲                 ▼
//!    │        Resume  └─────┘ Ask     Completed, Failed, Cancelled
//!    └────────────────────────────────▶ (final)
//!          Complete, Fail, Cancel
//! ```
//!
//! A task belongs to the principal that created it. For others, and for the other protocol, it does
//! not exist. A task is deleted when its time is over, counted from its creation.
//!
//! [events]: TaskEvent

mod account;
mod clock;
mod entry;
mod error;
mod event;
mod handlers;
mod id;
mod limits;
mod links;
mod poller;
mod protocol;
mod record;
mod requestor;
mod requests;
mod restore;
mod status;
mod store;
mod table;

pub use clock::TaskTime;
pub use error::TaskError;
pub use event::TaskEvent;
pub use id::TaskId;
pub use limits::TaskLimits;
pub use links::TaskListener;
pub use poller::{
    PollLimits, TaskOutcome, TaskPollEvent, TaskPollRequest, TaskPollRequestKind, TaskPoller,
};
pub use protocol::TaskProtocol;
pub use record::{InvalidTaskRecord, OnRestart, TaskRecord};
pub use requestor::{NewTask, Requestor};
pub use requests::InputAnswer;
pub use table::TaskTable;

#[cfg(test)]
mod tests;
