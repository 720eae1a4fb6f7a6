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

mod as_task;
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
mod service;
mod table;
mod thread;
mod waiting;

pub(crate) use capabilities::declare;
pub(crate) use cell::TaskCell;
