//! Tests of the adapter within one process, in one program to save linking. Tests that count
//! threads and files, or that start processes, are separate programs.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../eras/mod.rs"]
mod eras;

mod asking;
mod calls;
mod changes;
mod crowds;
mod editing;
mod full_pipes;
mod listening;
mod offering;
mod openings;
mod requests;
mod rounds;
mod telling;
mod waiting;
