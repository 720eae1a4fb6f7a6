//! A task table beside a simple model of it, for tests and fuzzing.

mod model;
mod op;
mod world;

pub use op::TaskOp;
pub use world::TaskWorld;
