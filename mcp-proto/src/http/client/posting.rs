//! A message on its way into an exchange, with the header fields that repeat it, and what the next
//! one waits for.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use super::action::ExchangeId;
use super::tools::Tools;
use crate::connection::{Outgoing, OutgoingKind};
use crate::http::param_headers::standard_of;
use crate::json::{Frame, find, unescape};
use crate::method::{Method, MethodId};
use crate::revision::Revision;

/// Header fields in the making.
pub(super) type Head = Vec<(Cow<'static, str>, String)>;

/// A message that was taken from the connection.
#[derive(Debug)]
pub(super) struct Posting {
    pub(super) kind: OutgoingKind,
    pub(super) revision: Revision,
    /// The fields that repeat the body.
    pub(super) names: Head,
    pub(super) body: Bytes,
}

/// What the next message waits for.
#[derive(Debug, Default)]
pub(super) enum Turn {
    /// Nothing.
    #[default]
    Free,
    /// For a message without an answer to arrive: too many are in flight.
    Full(Posting),
    /// For this exchange, which tells the server that the session is open. (LIF-19)
    Behind(ExchangeId),
}

impl Posting {
    pub(super) fn of(outgoing: Outgoing<'_>, tools: &Tools, is_legacy: bool) -> Self {
        let names = match &outgoing.kind {
            OutgoingKind::Request { method, .. } | OutgoingKind::Notification(method) => {
                names(tools, method, &outgoing, is_legacy)
            }
            OutgoingKind::Cancel { .. } => {
                names(tools, &MethodId::Cancelled.into(), &outgoing, is_legacy)
            }
            _ => Head::new(),
        };
        let Outgoing { kind, revision, body, .. } = outgoing;
        Self { kind, revision, names, body: Bytes::copy_from_slice(body) }
    }

    /// Returns whether the message tells the server that the session is open.
    pub(super) fn is_initialized(&self) -> bool {
        matches!(&self.kind, OutgoingKind::Notification(method) if method.id() == Some(MethodId::Initialized))
    }
}

/// Returns the fields that repeat a message, for intermediaries that read no bodies. In a session
/// they are not needed, and do no harm. (HTTP-44, HTTP-47)
fn names(tools: &Tools, method: &Method, outgoing: &Outgoing<'_>, is_legacy: bool) -> Head {
    let params = outgoing.params();
    let mut fields = Head::new();
    let (method_value, name) = standard_of(method, params);
    fields.push(("Mcp-Method".into(), method_value.into_owned()));
    fields.extend(name.map(|name| ("Mcp-Name".into(), name)));
    if method.id() == Some(MethodId::CallTool) && !is_legacy {
        let params = params.unwrap_or_default();
        let tool = find(params, "name").and_then(unescape);
        if let Some(mirror) = tool.and_then(|tool| tools.mirror(&tool)) {
            let arguments = find(params, "arguments").map(|it| Frame::Borrowed(it).keep(it, false));
            let repeated = mirror.fields(arguments.as_ref());
            fields.extend(repeated.into_iter().map(|(name, value)| (Cow::Owned(name), value)));
        }
    }
    fields
}
