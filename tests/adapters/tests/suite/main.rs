//! One behavior suite, written against the shared handles and run on each runtime.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod apps;
mod arguments;
mod asked_tasks;
mod asking;
mod call_hooks;
mod callbacks;
mod calls;
mod cancelling;
mod checked;
#[cfg(unix)]
mod children;
mod clients;
mod contexts;
mod extensions;
mod full;
mod layer_pace;
mod layers;
mod limits;
mod list_handlers;
mod listening;
mod long_checks;
mod macros;
mod manual;
mod parameters;
mod prompts;
mod questions;
mod recorded;
#[cfg(unix)]
mod recovery;
mod relays;
mod requests;
mod results;
mod served_tasks;
mod skills;
mod state;
#[cfg(unix)]
mod stderr;
mod streams;
mod task_calls;
mod task_handles;
mod task_kills;
mod task_questions;
mod task_restarts;
mod task_script;
mod task_stores;
mod tasks;
mod test_pair;
mod timeouts;
#[cfg(unix)]
mod tokio_alone;

/// The path of this package's server, set by cargo.
const SERVER: &str = env!("CARGO_BIN_EXE_adapter-server");
