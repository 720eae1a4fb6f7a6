//! Traces of one connection, without the `tracing` feature: none.

#[cfg(feature = "auth")]
use std::fmt;
use std::future::Future;
use std::io;
#[cfg(feature = "task-store")]
use std::path::Path;
use std::time::Duration;

use super::EventSummary;

/// Traces nothing.
#[derive(Clone, Debug)]
pub(crate) struct Trace;

#[allow(clippy::unused_self, reason = "shared signatures with the feature")]
impl Trace {
    pub(crate) const fn new(_: &'static str, _: bool) -> Self {
        Self
    }

    pub(crate) const fn input(&self, _: &[u8]) {}

    pub(crate) const fn output(&self, _: &[u8]) {}

    pub(crate) const fn event(&self, _: EventSummary<'_>) {}

    pub(crate) const fn recording_failed(&self, _: &io::Error) {}

    pub(crate) const fn held(&self, _: &str, _: Duration) {}

    pub(crate) fn run_handler<T>(&self, _: &str, run: impl FnOnce() -> T) -> T {
        run()
    }

    pub(crate) const fn instrument_handler<F: Future>(&self, _: &str, future: F) -> F {
        future
    }
}

#[cfg(feature = "schemars")]
pub(crate) const fn unserializable(_: &str) {}

pub(crate) const fn undeclared_logging() {}

#[cfg(feature = "http")]
pub(crate) const fn refused(_: u16, _: &str) {}

pub(crate) const fn unusual_tool_name(_: &str) {}

#[cfg(feature = "auth")]
pub(crate) const fn not_verifiable(_: &str, _: &'static str, _: &dyn fmt::Display) {}

#[cfg(feature = "task-store")]
pub(crate) const fn unreadable_task(_: &Path, _: &str) {}

pub(crate) const fn unsaved_task(_: &io::Error) {}
