//! The peer of a connection, as it described itself.

use alloc::boxed::Box;

use crate::json::{Raw, find};
use crate::limits::{IDENTITY_BYTES_FREE, IDENTITY_FACTOR};
use crate::revision::{Capability, Revision};
use crate::schema::{Capabilities, Implementation, key};

/// The other side of a connection, as it described itself.
///
/// Nothing here is verified: use it for logs and feature checks, not for access control.
///
/// ```
/// # use mcp_proto::{Instant, MessageEndpoint, StreamId};
/// # use mcp_proto::client::{Client, Config, Event};
/// use mcp_proto::Capability;
/// # let mut client = Client::new(Instant::ZERO, Config::new("demo", "1.0.0"));
/// # let discovered = br#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",
/// #     "supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#;
/// # client.handle_message(Instant::ZERO, StreamId::ONLY, &discovered[..]);
///
/// let Some(Event::Ready(server)) = client.poll_event() else { panic!() };
/// assert!(server.has(Capability::Tools) && !server.has(Capability::Prompts));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Peer {
    /// The negotiated revision.
    pub revision: Revision,
    /// The peer's name and version; empty if a modern peer omits them.
    pub info: Implementation,
    /// The declared capabilities.
    pub capabilities: Capabilities,
    /// The server's instructions for models that use it; always `None` if the peer is a client.
    pub instructions: Option<Box<str>>,
}

impl Peer {
    /// Returns whether the peer declared `capability`.
    #[must_use]
    pub const fn has(&self, capability: Capability) -> bool {
        self.capabilities.has(capability)
    }

    /// Returns the settings of an [extension](crate::Extension) that the peer declared, or `None`
    /// if the peer did not declare the extension.
    ///
    /// Reads the declaration at each call.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<Raw> {
        self.capabilities.extension(id)
    }
}

/// Length up to which a `_meta` cannot contain a longer `clientInfo` than is free: its required
/// members take 142 bytes.
const META_BYTES_FREE: usize = IDENTITY_BYTES_FREE + 142;

/// Returns the estimated bytes that the decoded `clientInfo` of a `_meta` takes beyond its text.
///
/// Decoded, a long list of small values takes many times the size of its text. One of more than
/// `bytes_max` bytes is not decoded.
pub(crate) fn identity_cost(meta: &[u8], bytes_max: usize) -> usize {
    if meta.len() <= META_BYTES_FREE {
        return 0;
    }
    let info = find(meta, key::CLIENT_INFO).map_or(0, <[u8]>::len);
    if info > IDENTITY_BYTES_FREE && info <= bytes_max { info * IDENTITY_FACTOR } else { 0 }
}

#[cfg(test)]
mod tests;
