//! What the adapter does within one process, told in stories: one program, so that it links once.
//! What counts threads and files, or is about processes, has a program of its own.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a story fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../eras/mod.rs"]
mod eras;

mod asking;
mod calls;
mod changes;
mod crowds;
mod full_pipes;
mod listening;
mod offering;
mod openings;
mod rounds;
mod telling;
mod waiting;
