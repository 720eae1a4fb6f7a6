//! Marks threads that are the only ones to do the I/O of a connection.

use std::cell::Cell;

thread_local! {
    static IS_SOLE_DRIVER: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether this thread runs a handler and is the only thread that does the I/O of the
/// handler's connection.
///
/// In that case, the handler must not wait for the peer or for queue space. During the wait, no
/// thread would read the peer's messages or write the queued ones.
#[must_use]
pub fn is_sole_driver() -> bool {
    IS_SOLE_DRIVER.get()
}

/// Declares whether this thread is a sole driver, until this value is dropped.
pub(crate) struct SoleDriver {
    before: bool,
}

impl SoleDriver {
    pub(crate) fn declare(is_sole: bool) -> Self {
        Self { before: IS_SOLE_DRIVER.replace(is_sole) }
    }
}

impl Drop for SoleDriver {
    fn drop(&mut self) {
        IS_SOLE_DRIVER.set(self.before);
    }
}
