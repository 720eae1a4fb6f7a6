//! The design's rules, as functions from source files and cargo's output to breaches.
//!
//! `tests/workspace.rs` reads the workspace and applies every rule. Each rule has unit tests on
//! small planted breaches, which prove that it can fail.

#![allow(
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "these lints keep the core free of `std`"
)]

mod aliases;
pub mod allowed;
mod branches;
pub mod cargo;
pub mod commands;
pub mod coverage;
pub mod dependencies;
pub mod docs;
pub mod eras;
pub mod features;
pub mod floors;
pub mod imports;
mod lexer;
pub mod lines;
pub mod named_items;
pub mod named_paths;
pub mod plans;
pub mod purity;
pub mod requirements;
pub mod revisions;
pub mod shape;
pub mod sizes;
pub mod sources;
pub mod style;
pub mod surface;
pub mod unique_types;

use std::fmt;

/// One place where the workspace breaks a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Breach {
    /// Where: `path:line` for a source file, a package for a dependency.
    pub place: String,
    /// Which rule is broken, and by what.
    pub what: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
