//! Checks messages against the declared extensions.

use crate::error::Misuse;
use crate::extension::{Extension, Extensions};
use crate::method::MethodId;
use crate::revision::{Revision, Side};
use crate::vocabulary::Peer;

/// Checks a message that this side is about to send. Returns whether an extension defines its
/// method in `revision`.
///
/// # Errors
/// Fails with [`Misuse::Unsupported`] if this side does not send the message, and with
/// [`Misuse::Undeclared`] if the peer lacks the extension.
// LIF-34: the application falls back to the protocol without the extension.
#[inline]
pub(crate) fn outgoing_extension(
    extensions: &Extensions,
    side: Side,
    revision: Revision,
    method: &str,
    is_request: bool,
    peer: Option<&Peer>,
) -> Result<bool, Misuse> {
    if extensions.is_empty() {
        return Ok(false);
    }
    let Some((extension, method)) = extensions.method(method, revision) else {
        // An extension that defines the method in other revisions only.
        let is_other = extensions.defines(method) && MethodId::from_name(method).is_none();
        return if is_other { Err(Misuse::Unsupported) } else { Ok(false) };
    };
    if method.is_request() != is_request || !method.is_sent_by(side) {
        return Err(Misuse::Unsupported);
    }
    let is_shared = peer.is_some_and(|peer| extension.is_declared_in(&peer.capabilities));
    if is_shared { Ok(true) } else { Err(Misuse::Undeclared) }
}

/// Returns the extension that defines a message of the peer, or `None` if `side` does not receive
/// such a message.
pub(crate) fn incoming_extension<'a>(
    extensions: &'a Extensions,
    side: Side,
    revision: Revision,
    method: &str,
    is_request: bool,
) -> Option<&'a Extension> {
    let (extension, method) = extensions.method(method, revision)?;
    let is_it = method.is_request() == is_request && method.is_sent_by(side.other());
    is_it.then_some(extension)
}
