//! [`Exchange`]: one HTTP request of a flow, and the response as it arrives.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use zeroize::Zeroizing;

use super::action::FetchId;
use crate::http::Headers;
use crate::http::header::visible;

/// The longest wait that a server can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);

/// The maximum length of a DPoP nonce in bytes; longer ones are ignored.
const NONCE_BYTES_MAX: usize = 1024;

/// A request in flight.
pub(super) struct Exchange {
    pub(super) id: FetchId,
    status: u16,
    retry_after: Option<Duration>,
    dpop_nonce: Option<Box<str>>,
    /// `None` once the body is too long or encoded.
    body: Option<Zeroizing<Vec<u8>>>,
    bytes_max: usize,
}

// The body may hold tokens.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("id", &self.id)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

/// The end of a request.
#[derive(Debug)]
pub(super) enum Fetched {
    /// A response to judge.
    Response(Response),
    /// The server cannot be reached, or fails for now.
    Temporary {
        outage: Outage,
        /// The least time after which to try again.
        after: Option<Duration>,
    },
    /// The URL leads too deep into a private network.
    Blocked,
}

/// How far a request came before it failed temporarily.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outage {
    /// The server has not received it.
    Unreached,
    /// The server responded that it cannot process the request now.
    Answered,
    /// The response was lost: the server may have processed the request.
    Lost,
}

/// A complete response.
pub(super) struct Response {
    pub(super) status: u16,
    /// The nonce for the next DPoP proof.
    pub(super) dpop_nonce: Option<Box<str>>,
    body: Option<Zeroizing<Vec<u8>>>,
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Response {
    /// Returns the body; it is empty if it was too long.
    pub(super) fn body(&self) -> &[u8] {
        self.body.as_ref().map(|body| &***body).unwrap_or_default()
    }

    /// Returns the body of a success.
    // everything else means that there is no such document.
    pub(super) fn document(&self) -> Option<&[u8]> {
        Some(self.body()).filter(|_| self.status == 200)
    }
}

impl Exchange {
    pub(super) fn new(id: FetchId, bytes_max: usize) -> Self {
        let (retry_after, dpop_nonce) = (None, None);
        Self { id, status: 0, retry_after, dpop_nonce, body: Some(Zeroizing::default()), bytes_max }
    }

    pub(super) fn on_head(&mut self, status: u16, fields: &dyn Headers) {
        self.status = status;
        let text = |name| core::str::from_utf8(fields.value(name, 0)?).ok().map(str::trim);
        let seconds = text("retry-after").and_then(|text| text.parse().ok());
        self.retry_after = seconds.map(|seconds| Duration::from_secs(seconds).min(RETRY_AFTER_MAX));
        let nonce = fields.value("dpop-nonce", 0).and_then(|it| visible(it, NONCE_BYTES_MAX));
        self.dpop_nonce = nonce.map(Box::from);
        if text("content-encoding").is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
            self.body = None;
        }
    }

    pub(super) fn on_body(&mut self, bytes: &[u8]) {
        let Some(body) = &mut self.body else { return };
        if body.len() + bytes.len() > self.bytes_max {
            self.body = None;
        } else {
            extend(body, bytes);
        }
    }

    pub(super) fn on_end(self) -> Fetched {
        // AUT-41: an outage says nothing about what there is.
        match self.status {
            408 | 425 | 429 | 500.. => {
                Fetched::Temporary { outage: Outage::Answered, after: self.retry_after }
            }
            0..200 => Fetched::Temporary { outage: Outage::Lost, after: None },
            status => {
                let (body, dpop_nonce) = (self.body, self.dpop_nonce);
                Fetched::Response(Response { status, dpop_nonce, body })
            }
        }
    }
}

/// Appends to a buffer so that no copy of its old content is left behind unwiped.
fn extend(body: &mut Zeroizing<Vec<u8>>, bytes: &[u8]) {
    let needed = body.len() + bytes.len();
    if needed > body.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * body.capacity())));
        larger.extend_from_slice(body);
        *body = larger;
    }
    body.extend_from_slice(bytes);
}
