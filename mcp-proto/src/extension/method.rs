//! [`ExtensionMethod`]: a request or a notification of an extension.

use alloc::boxed::Box;

use crate::revision::Side;

/// A request or a notification that an [`Extension`](super::Extension) adds.
///
/// ```
/// use mcp_proto::{ExtensionMethod, Side};
///
/// let draw = ExtensionMethod::request(Side::Client, "com.example/draw").named_by("board");
/// let drawn = ExtensionMethod::notification(Side::Server, "notifications/com.example/drawn");
/// ```
#[derive(Clone, Debug)]
pub struct ExtensionMethod {
    pub(crate) name: Box<str>,
    pub(crate) is_request: bool,
    /// The only side that sends the message; `None` if both do.
    pub(crate) sender: Option<Side>,
    pub(crate) named_by: Option<Box<str>>,
}

impl ExtensionMethod {
    /// Creates a request with this method name, sent by `sender`.
    ///
    /// Servers send requests only in legacy sessions.
    #[must_use]
    pub fn request(sender: Side, name: &str) -> Self {
        Self { name: name.into(), is_request: true, sender: Some(sender), named_by: None }
    }

    /// Creates a notification with this method name, sent by `sender`.
    #[must_use]
    pub fn notification(sender: Side, name: &str) -> Self {
        Self { is_request: false, ..Self::request(sender, name) }
    }

    /// Makes the message one that both sides send.
    #[must_use]
    pub fn of_both_sides(mut self) -> Self {
        self.sender = None;
        self
    }

    /// Sets the member of the params that the HTTP header `Mcp-Name` repeats. Default: none, and
    /// requests have no such header.
    ///
    /// See [standard headers](
    /// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers).
    #[must_use]
    pub fn named_by(mut self, member: &str) -> Self {
        self.named_by = Some(member.into());
        self
    }

    /// Returns whether this is a request rather than a notification.
    pub(crate) const fn is_request(&self) -> bool {
        self.is_request
    }

    /// Returns whether `side` sends the message.
    pub(crate) fn is_sent_by(&self, side: Side) -> bool {
        self.sender.is_none_or(|sender| sender == side)
    }
}
