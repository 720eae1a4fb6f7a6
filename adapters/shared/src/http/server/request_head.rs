//! The heads of HTTP requests, which are kept while their requests are handled.

use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::BytesMut;
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Uri};
use mcp_proto::Principal;

use super::authorization::Authorization;
use super::budget::{AddressShare, ByteLease, PeerAddress};
#[cfg(feature = "auth")]
use crate::http::dial::Dial;
use crate::server::handler::context::Cx;
use crate::server::handler::from_request::{FromRequest, OfRequest, Parts as RequestParts};
use crate::server::handler::handler_error::HandlerError;
use crate::server::handler::kind::RequestKind;

/// The head of an HTTP request: its method, URI, headers and extensions.
///
/// Dereferences to [`Parts`]. Cheap to clone; all clones share one head.
///
/// The extensions contain what the layers of a router have inserted, and the
/// [`PeerAddress`](super::PeerAddress). `Debug` shows only the method and the path, because headers
/// and queries can contain secrets. `Debug` of the headers hides credentials and session ids.
///
/// When a client answers a question of a handler, its request is handled again with the head of the
/// first request. Extensions stay until the request has been handled; their memory does not count
/// toward the limits of the service.
#[derive(Clone)]
pub struct RequestHead(Arc<HeadParts>);

struct HeadParts {
    /// The head with the texts in the read buffer of its connection; `None` once it was copied.
    read: Mutex<Option<Parts>>,
    /// The head with copies of its texts. Most requests are answered immediately and need none.
    copied: OnceLock<Parts>,
    /// The address of the client, if it is known. Added to the extensions of the copied head.
    address: Option<PeerAddress>,
    authorization: Authorization,
    /// The share of the limits of the service that the head uses.
    _lease: ByteLease,
    /// The share of the limits of the client's address that the head uses.
    _share: AddressShare,
}

impl RequestHead {
    pub(super) fn new(
        parts: Parts,
        address: Option<PeerAddress>,
        lease: ByteLease,
        share: AddressShare,
    ) -> Self {
        Self(Arc::new(HeadParts {
            read: Mutex::new(Some(parts)),
            copied: OnceLock::new(),
            address,
            authorization: Authorization::default(),
            _lease: lease,
            _share: share,
        }))
    }

    /// Returns the authorization data of the request.
    pub(super) fn authorization(&self) -> &Authorization {
        &self.0.authorization
    }

    /// Returns the runtime that verifiers of tokens may use.
    #[cfg(feature = "auth")]
    pub(crate) fn runtime(&self) -> Option<&Arc<dyn Dial>> {
        self.0.authorization.runtime()
    }

    /// Reads the head without copying its texts. `read` must not read the head in another way.
    pub(super) fn peek<T>(&self, read: impl FnOnce(&Parts) -> T) -> T {
        if self.0.copied.get().is_none() {
            let parts = self.0.read.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(parts) = &*parts {
                return read(parts);
            }
        }
        read(self)
    }

    /// Gives up the read buffer of the connection if the application may keep this head.
    pub(super) fn detach_if_kept(&self) {
        if Arc::strong_count(&self.0) > 1 {
            self.0.copied();
        }
    }

    /// Returns the address of the client, if it is known.
    pub(crate) fn peer_address(&self) -> Option<PeerAddress> {
        self.0.address
    }

    /// Returns the network of the client, which counts as one client, if it is known.
    #[cfg(feature = "auth")]
    pub(crate) fn network(&self) -> Option<std::net::IpAddr> {
        self.0.address.map(PeerAddress::network)
    }

    /// Returns the principal that a layer of a router has inserted into the extensions.
    pub(super) fn inserted_principal(&self) -> Option<Principal> {
        self.peek(|parts| parts.extensions.get::<Principal>().cloned())
    }
}

impl HeadParts {
    fn copied(&self) -> &Parts {
        self.copied.get_or_init(|| {
            let read = self.read.lock().unwrap_or_else(PoisonError::into_inner).take();
            let mut parts = read.unwrap_or_else(|| Request::new(()).into_parts().0);
            detach(&mut parts);
            if let Some(address) = self.address {
                parts.extensions.insert(address);
            }
            parts
        })
    }
}

/// Copies the texts of a head out of the read buffer of its connection, which a request that is
/// still handled would otherwise keep alive, and marks secrets.
fn detach(parts: &mut Parts) {
    let (uri, headers) = (&parts.uri, &parts.headers);
    // A server rarely sees more than a path and a query.
    let target = uri.path_and_query().filter(|_| uri.authority().is_none());
    let text = headers.values().map(HeaderValue::len).sum::<usize>();
    let mut copies =
        BytesMut::with_capacity(text + target.map_or(0, |target| target.as_str().len()));
    headers.values().for_each(|value| copies.extend_from_slice(value.as_bytes()));
    copies.extend_from_slice(target.map_or("", PathAndQuery::as_str).as_bytes());
    let mut copies = copies.freeze();
    for (name, value) in &mut parts.headers {
        let is_sensitive = value.is_sensitive() || SECRETS.contains(&name.as_str());
        // The bytes are those of a valid value.
        let Ok(mut copy) = HeaderValue::from_maybe_shared(copies.split_to(value.len())) else {
            continue;
        };
        copy.set_sensitive(is_sensitive);
        *value = copy;
    }
    let copy = match parts.uri.authority() {
        None => PathAndQuery::from_maybe_shared(copies).ok().map(Uri::from),
        Some(_) => parts.uri.to_string().parse().ok(),
    };
    parts.uri = copy.unwrap_or_default();
}

/// The headers whose values `Debug` does not show.
const SECRETS: [&str; 4] = ["authorization", "cookie", "mcp-session-id", "proxy-authorization"];

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
        self.0.copied()
    }
}

opaque_debug!(RequestHead, it => method: it.method, path: it.uri.path());

impl Cx {
    /// Returns the head of the HTTP request that carried this request (feature `http`).
    ///
    /// Returns `None` if the client is not connected over HTTP.
    ///
    /// ```
    /// # use mcp_adapter as mcp_tokio;
    /// use mcp_tokio::http::PeerAddress;
    /// use mcp_tokio::{Cx, Server};
    ///
    /// let server = Server::new("echo", "1.0.0").tool("address", "Your address", |cx: Cx| {
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

    /// Returns the id of the client's HTTP session (feature `http`).
    ///
    /// Returns `None` if the client is not connected over HTTP, and in revision 2026-07-28, which
    /// has no sessions. The id is a credential: do not log it.
    #[must_use]
    pub fn session_id(&self) -> Option<String> {
        self.request.link.lock().connection.session_id()
    }
}

impl<K: RequestKind> FromRequest<K, OfRequest> for Option<RequestHead> {
    fn from_request(request: &mut RequestParts<'_, K>) -> Result<Self, HandlerError> {
        Ok(request.cx.head().cloned())
    }
}

impl<K: RequestKind> FromRequest<K, OfRequest> for RequestHead {
    fn from_request(request: &mut RequestParts<'_, K>) -> Result<Self, HandlerError> {
        let head = request.cx.head().cloned();
        head.ok_or_else(|| HandlerError::internal("the request did not arrive over HTTP"))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::http::server::budget::Counters;

    fn head(parts: Parts) -> RequestHead {
        let counters = Counters::default();
        let lease = ByteLease::new(&counters.requests_bytes);
        RequestHead::new(parts, None, lease, counters.requests_bytes_by_address.share(None))
    }

    fn buffer_has(buffer: &Bytes, value: &HeaderValue) -> bool {
        buffer.as_ptr_range().contains(&value.as_bytes().as_ptr())
    }

    #[test]
    fn a_kept_head_shares_no_memory_with_the_read_buffer() {
        let buffer = Bytes::from(b"/mcp?a=1Bearer tokentext/plain".repeat(1_000));
        let mut kept = Vec::new();
        for uri in ["/mcp?a=1", "http://example.com/mcp?a=1"] {
            let target = PathAndQuery::from_maybe_shared(buffer.slice(..8)).unwrap();
            let uri = if uri.starts_with('/') { Uri::from(target) } else { uri.parse().unwrap() };
            let value = |range| HeaderValue::from_maybe_shared(buffer.slice(range)).unwrap();
            let request = Request::builder()
                .uri(uri.clone())
                .header("authorization", value(8..20))
                .header("accept", value(20..30))
                .header("accept", value(20..22));
            let parts = request.body(()).unwrap().into_parts().0;
            let headers = parts.headers.clone();
            let head = head(parts);
            // While nothing else has the head, its texts are not copied.
            head.detach_if_kept();
            assert!(head.peek(|parts| buffer_has(&buffer, &parts.headers["accept"])));
            kept.push(head.clone());
            head.detach_if_kept();
            assert_eq!((&head.uri, &head.headers), (&uri, &headers));
            let shown = format!("{:?}", head.headers);
            assert!(shown.contains("text/plain") && !shown.contains("token"), "{shown}");
        }
        assert!(buffer.is_unique(), "{buffer:?}");
    }
}
