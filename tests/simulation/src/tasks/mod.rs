//! Worlds of tasks: two clients with their own principals, a server with a durable store, and
//! everything that can happen to them.

mod client;
mod op;
mod random;
mod server;
mod setup;
mod truth;
mod world;

pub use op::TaskStep;
pub use random::{TaskFailure, TaskTally, run_tasks};
pub use world::TasksWorld;
