//! Timer tasks of builds without the `http` feature: every connection has a driver.

use std::marker::PhantomData;

/// Replaces the timer task of connections without a driver.
pub(crate) struct TimerTask<L>(PhantomData<fn() -> L>);

impl<L> Default for TimerTask<L> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<L> TimerTask<L> {
    /// Does nothing: the driver runs the timers.
    #[expect(clippy::unused_self, reason = "shared signature with the feature")]
    pub(crate) const fn ensure_running(&self) {}
}
