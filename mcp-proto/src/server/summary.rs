//! One-line summaries of a server's events.

use core::fmt;

use super::Event;
use crate::command::summary::{closed, completed, name, request};

/// The summary: ids, methods and codes, and none of the values that the event carries.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(why) => f.write_str(&closed(why)),
            Self::Completed { call, outcome } => f.write_str(&completed(*call, outcome)),
            Self::Notification { method, .. } => name(method).fmt(f),
            Self::Progress { call, .. } => write!(f, "{call} progress"),
            Self::Ready(peer) => write!(f, "ready {}", peer.revision),
            Self::Request { incoming, request: what, .. } => {
                f.write_str(&request(*incoming, &what.method))
            }
            Self::RequestCancelled { incoming, .. } => write!(f, "{incoming} cancelled"),
            Self::Unwatched { .. } => f.write_str("unwatched"),
            Self::Violation(violation) => write!(f, "violation {:?}", violation.kind),
            Self::Watched { .. } => f.write_str("watched"),
        }
    }
}
