//! The handles of a connection: calls and incoming requests.

use core::fmt;

/// A request that we sent, until it completes.
///
/// A call keeps its id for its whole life, also when it is repeated with input.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CallId(pub(crate) u64);

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call#{}", self.0)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A request that the peer sent, until we respond.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct IncomingId(pub(crate) u64);

impl fmt::Debug for IncomingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request#{}", self.0)
    }
}

impl fmt::Display for IncomingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A channel that messages travel on.
///
/// A byte stream is one channel for both directions, [`StreamId::ONLY`]. Over HTTP each request is
/// one, and what belongs to it comes back on it. A transport with several streams names each
/// message's stream in [`handle_message`](crate::Session::handle_message), with ids of its own that
/// it never reuses.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct StreamId(pub u64);

impl StreamId {
    /// The one stream of a transport that has one.
    pub const ONLY: Self = Self(0);
}
