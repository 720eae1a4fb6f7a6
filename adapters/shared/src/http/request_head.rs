//! The heads of HTTP requests, which are kept while their requests are handled.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use http::request::Parts;
use mcp_proto::Principal;

use super::budget::{AddressShare, ByteLease};
use crate::Cx;
use crate::server::handler::context::HandlerLink;

/// The head of an HTTP request: its method, URI, headers and extensions.
///
/// Dereferences to [`Parts`]. Cheap to clone; all clones share one head.
///
/// The extensions contain what the layers of a router have inserted, and the
/// [`PeerAddress`](super::PeerAddress). `Debug` shows only the method and the path, because headers
/// and queries can contain secrets.
#[derive(Clone)]
pub struct RequestHead(Arc<HeadParts>);

struct HeadParts {
    parts: Parts,
    /// What the head counts in the limits of the service.
    _lease: ByteLease,
    /// What the head counts in the limits of the client's address.
    _share: AddressShare,
}

impl RequestHead {
    pub(super) fn new(parts: Parts, lease: ByteLease, share: AddressShare) -> Self {
        Self(Arc::new(HeadParts { parts, _lease: lease, _share: share }))
    }

    /// Returns the principal that a layer of a router has inserted into the extensions.
    pub(super) fn inserted_principal(&self) -> Option<Principal> {
        self.extensions.get::<Principal>().cloned()
    }
}

/// Returns the memory of a head, in bytes.
pub(super) fn head_bytes(parts: &Parts) -> usize {
    let headers = parts.headers.iter();
    let text: usize = headers.map(|(name, value)| name.as_str().len() + value.len()).sum();
    let uri = parts.uri.path().len() + parts.uri.query().map_or(0, str::len);
    HEAD_BYTES + text + uri + parts.headers.len() * HEADER_BYTES
}

/// The memory of a head without headers.
const HEAD_BYTES: usize = 512;

/// The memory of a header beyond its text.
const HEADER_BYTES: usize = 128;

impl Deref for RequestHead {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0.parts
    }
}

impl fmt::Debug for RequestHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead")
            .field("method", &self.method)
            .field("path", &self.uri.path())
            .finish_non_exhaustive()
    }
}

impl Cx {
    /// Returns the head of the HTTP request that carried this request.
    ///
    /// Returns `None` if the client is not connected over HTTP.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::Server;
    /// use mcp_tokio::http::PeerAddress;
    ///
    /// let server = Server::new("echo", "1.0.0").tool("address", "Your address", |(), cx| {
    ///     let head = cx.head().ok_or("only over HTTP")?;
    ///     let address = head.extensions.get::<PeerAddress>().ok_or("unknown")?;
    ///     Ok(address.0.to_string())
    /// });
    /// # drop(server);
    /// ```
    #[must_use]
    pub fn head(&self) -> Option<&RequestHead> {
        self.context().caller.as_ref()?.data()
    }

    /// Returns the id of the client's HTTP session.
    ///
    /// Returns `None` if the client is not connected over HTTP, and in revision 2026-07-28, which
    /// has no sessions. The id is a credential: do not log it.
    #[must_use]
    pub fn session_id(&self) -> Option<String> {
        self.request.link.session_id()
    }
}
