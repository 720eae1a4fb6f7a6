//! [`ListenerState`]: whether a listener waits for the redirect of the running login.

use crate::auth::redirect_listener::RedirectListener;

/// The listener of the running login.
pub(super) enum ListenerState {
    Closed,
    /// A thread opens the listener with this number.
    Opening(u64),
    Open(u64, RedirectListener),
}

impl ListenerState {
    /// Returns whether redirects to the listener with this number count.
    pub(super) const fn is(&self, number: u64) -> bool {
        matches!(self, Self::Opening(open) | Self::Open(open, _) if *open == number)
    }

    /// Forgets the listener; returns it, because dropping it blocks.
    pub(super) fn close(&mut self) -> Option<RedirectListener> {
        match std::mem::replace(self, Self::Closed) {
            Self::Open(_, listener) => Some(listener),
            Self::Closed | Self::Opening(_) => None,
        }
    }
}
