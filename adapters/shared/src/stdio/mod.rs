//! Connections over standard streams: of this process as a server, and of servers as child
//! processes.

mod child_server;
#[cfg(unix)]
pub mod pollable;
mod serving;
pub(crate) mod spawn;
mod stderr;
#[cfg(not(unix))]
pub mod threads;

pub use child_server::DriveChild;
