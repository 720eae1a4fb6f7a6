//! The tasks of a server: calls of tools that outlive their response.
//!
//! ```text
//!  tools/call ──▶ begin ──▶ table, store ──▶ response: the task
//!                   │
//!                   └─▶ handler ──▶ deliver ──▶ table ──▶ tasks/get, tasks/result
//!                          ▲           │ asks
//!                          └── run ◀───┴──▶ client answers
//!                               ▲
//!  restart ──▶ store, resume ───┘
//! ```

mod begin;
mod capabilities;
mod cell;
mod checkpoint;
pub(crate) mod client_task;
mod deliver;
mod owner;
mod questions;
mod requests;
mod resume;
mod start;
mod table;
mod thread;
mod waiting;

pub(crate) use begin::begin;
pub(crate) use capabilities::declare;
pub(crate) use cell::TaskCell;
pub(crate) use requests::{accept_task_ids, serve_task_request};
pub(crate) use resume::resume;
pub(crate) use start::{TaskStart, task_start};
pub(crate) use table::{ServerTasks, TaskSteps};
