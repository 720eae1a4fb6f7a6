//! The ids of new sessions.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcp_proto::http::Refusal;

use crate::exec::random::random_id;

/// Generates session ids, at random or by a function of the application.
#[derive(Clone, Default)]
pub(super) struct SessionIds(Option<Arc<dyn Fn() -> String + Send + Sync>>);

impl SessionIds {
    /// Takes ids from a function.
    pub(super) fn new(new_id: impl Fn() -> String + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(new_id)))
    }

    /// Returns the id of a new session.
    pub(super) fn next(&self) -> Result<Arc<str>, Refusal> {
        let Some(new_id) = &self.0 else {
            // HTTP-30: the id must be unguessable.
            return random_id()
                .map(Into::into)
                .map_err(|_| Refusal::new(500, "no source of randomness is available"));
        };
        // The panic was reported when it happened.
        let id = catch_unwind(AssertUnwindSafe(|| new_id())).unwrap_or_default();
        if (1..=ID_BYTES_MAX).contains(&id.len()) && id.bytes().all(is_unreserved) {
            return Ok(id.into());
        }
        Err(Refusal::new(500, "invalid session id (`Http::session_ids`)"))
    }
}

/// Returns whether a URL may contain a byte as it is.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// The maximum length of a session id in bytes, as the policy accepts it.
const ID_BYTES_MAX: usize = 256;
