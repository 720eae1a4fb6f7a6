//! The head of an HTTP request to a hub, and what the hub keeps of it until its response is over.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::connections::HubConnectionId;
use crate::http::admit::{PostHead, too_long};
use crate::http::cross_origin::CrossOrigin;
use crate::http::headers::Headers;
use crate::http::policy::Policy;
use crate::http::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::server::ServerExchangeId;
use crate::time::Instant;
use crate::vocabulary::{Caller, Principal};

/// The head of an HTTP request to an [`HttpHub`](super::HttpHub).
#[derive(Clone)]
#[non_exhaustive]
pub struct HubRequest<'a> {
    /// The HTTP method, in upper case.
    pub method: &'a str,
    /// The headers. Over HTTP/2 and later, they include `:authority` as `host`.
    pub headers: &'a dyn Headers,
    /// The authenticated sender; `None` if the driver does not authenticate clients.
    pub caller: Option<Arc<Caller>>,
}

// Headers may hold credentials.
impl fmt::Debug for HubRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubRequest")
            .field("method", &self.method)
            .field("caller", &self.caller)
            .finish_non_exhaustive()
    }
}

impl<'a> HubRequest<'a> {
    /// Creates the head of a request of an unauthenticated sender.
    #[must_use]
    pub fn new(method: &'a str, headers: &'a dyn Headers) -> Self {
        Self { method, headers, caller: None }
    }

    /// Sets the sender.
    #[must_use]
    pub fn caller(mut self, caller: impl Into<Option<Arc<Caller>>>) -> Self {
        self.caller = caller.into();
        self
    }

    pub(super) fn principal(&self) -> Option<&Principal> {
        self.caller.as_ref()?.principal()
    }
}

/// The memory of a kept header beyond its text.
const HEADER_BYTES: usize = 128;

/// A POST whose body is being read.
pub(super) struct PendingBody {
    pub(super) head: PostHead,
    /// The headers that are checked against the body.
    pub(super) headers: Vec<(String, Vec<u8>)>,
    pub(super) caller: Option<Arc<Caller>>,
    pub(super) page: CrossOrigin,
    pub(super) due: Instant,
    pub(super) body: Vec<u8>,
}

impl PendingBody {
    pub(super) fn new(request: &HubRequest<'_>, head: PostHead, due: Instant) -> Self {
        let mut headers = Vec::new();
        request.headers.each(&mut |name, value| {
            if name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("mcp-")) {
                headers.push((name.into(), value.into()));
            }
        });
        let (caller, page) = (request.caller.clone(), CrossOrigin::default());
        Self { head, headers, caller, page, due, body: Vec::new() }
    }

    /// Appends to the body, unless it would be too long.
    pub(super) fn push(&mut self, policy: &Policy, part: &[u8]) -> Result<(), Refusal> {
        if self.body.len() + part.len() > policy.body_bytes_max() {
            return Err(too_long(policy));
        }
        self.body.extend_from_slice(part);
        Ok(())
    }

    /// Returns the bytes of the body and the headers.
    pub(super) fn bytes(&self) -> usize {
        let header = |(name, value): &(String, Vec<u8>)| name.len() + value.len() + HEADER_BYTES;
        self.headers.iter().map(header).sum::<usize>() + self.body.len()
    }
}

/// An exchange after its body.
#[derive(Debug)]
pub(super) struct HubExchange {
    pub(super) page: CrossOrigin,
    pub(super) source: ReplySource,
}

/// Where the response of an exchange comes from.
#[derive(Debug)]
pub(super) enum ReplySource {
    Reply(Reply),
    Connection(HubConnectionId, ServerExchangeId),
}

impl From<Refusal> for ReplySource {
    fn from(refusal: Refusal) -> Self {
        Self::Reply(refusal.into())
    }
}

/// What follows the head of a request.
pub(super) enum Admission {
    Post(PendingBody),
    Reply(ReplySource),
}
