//! What is known of the other side, and what surrounds one of its requests.

use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::json::{Raw, find};
use crate::limits::{IDENTITY_BYTES_FREE, IDENTITY_FACTOR};
use crate::method::Method;
use crate::revision::{Capability, Revision};
use crate::schema::{Capabilities, Decode, DecodeError, Implementation, Level, key};
use crate::vocabulary::Answers;

/// Who is on the other side, as it said itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Peer {
    /// The revision spoken with it.
    pub revision: Revision,
    /// Its name and version.
    pub info: Implementation,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What a server wants a model to know before it uses it.
    pub instructions: Option<Box<str>>,
}

impl Peer {
    /// Whether the peer declared `capability`.
    #[must_use]
    pub const fn has(&self, capability: Capability) -> bool {
        self.capabilities.has(capability)
    }
}

/// A request of the peer: what it asks for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// What is asked for.
    pub method: Method,
    /// The params, an object; `None` when there are none.
    pub params: Option<Raw>,
}

impl Request {
    /// Reads the params as a type of [`schema`](crate::schema); absent ones count as an empty
    /// object.
    ///
    /// # Errors
    /// When the type requires what is not there: answer with `-32602`.
    pub fn decode<T: Decode>(&self) -> Result<T, DecodeError> {
        match &self.params {
            Some(params) => T::decode(params),
            None => T::decode(&Raw::empty_object()),
        }
    }
}

/// What surrounds a request: who asks, and what they want besides the answer.
///
/// In a session it is what the handshake said, for every request the same; without sessions it is
/// what the request itself says. The application need not know which.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Context {
    /// Who asks, and in which revision.
    pub peer: Arc<Peer>,
    /// The least grave log message that is wanted.
    pub log_level: Option<Level>,
    /// Whether progress is wanted.
    pub wants_progress: bool,
    /// The answers to what was asked with `request_input`; `None` when nothing was.
    pub answers: Option<Answers>,
    /// The state that was given to `request_input`.
    pub state: Option<Box<str>>,
    /// The request's `_meta`, as it came.
    pub meta: Option<Raw>,
}

impl Context {
    pub(crate) const fn new(peer: Arc<Peer>) -> Self {
        Self {
            peer,
            log_level: None,
            wants_progress: false,
            answers: None,
            state: None,
            meta: None,
        }
    }
}

/// Bytes that it takes to hold whom a request's `_meta` says it is from, beyond the text: read as a
/// type, a long list of small things takes many times its text.
pub(crate) fn identity_cost(meta: &Raw) -> usize {
    if meta.as_bytes().len() <= IDENTITY_BYTES_FREE {
        return 0;
    }
    let info = find(meta.as_bytes(), key::CLIENT_INFO).map_or(0, <[u8]>::len);
    if info > IDENTITY_BYTES_FREE { info * IDENTITY_FACTOR } else { 0 }
}

#[cfg(test)]
mod tests;
