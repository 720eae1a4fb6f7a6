//! The checked configuration of a guard.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::metadata::Metadata;
use super::scopes::Implications;

/// The checked configuration of a guard.
#[derive(Clone, Debug)]
pub(super) struct GuardConfig {
    pub(super) metadata: Metadata,
    pub(super) issuers: Vec<Box<str>>,
    pub(super) audiences: Vec<Box<str>>,
    /// The scopes that every request needs.
    pub(super) required: Vec<Box<str>>,
    pub(super) implications: Implications,
    /// The tolerated difference between clocks, in seconds.
    pub(super) clock_skew: u64,
}
