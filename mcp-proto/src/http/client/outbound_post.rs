//! An outgoing message with the headers that mirror it, and the gate that orders such messages.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use bytes::Bytes;

use super::action::{ExchangeId, HttpRequest};
use super::tool_cache::ToolCache;
use crate::extension::Extensions;
use crate::http::param_headers::standard_of;
use crate::json::{Frame, find, unescape};
use crate::method::{Method, MethodId};
use crate::revision::{Revision, named_by};
use crate::vocabulary::{CallId, Outgoing, OutgoingKind};

/// The headers of a request.
pub(super) type Headers = Vec<(Cow<'static, str>, String)>;

/// A message to be sent with POST.
#[derive(Debug)]
pub(super) struct OutboundPost {
    pub(super) kind: OutgoingKind,
    pub(super) revision: Revision,
    /// The headers that mirror the body.
    pub(super) mirrored: Headers,
    pub(super) body: Bytes,
}

/// The condition that must hold before the next message is sent.
#[derive(Debug, Default)]
pub(super) enum SendGate {
    /// No condition.
    #[default]
    Open,
    /// The held message is the next one. If it is a one-way message, it waits until fewer of them
    /// are in flight.
    Held(OutboundPost),
    /// The response to `notifications/initialized`, sent in this exchange, has arrived.
    // LIF-19: no request overtakes `notifications/initialized`.
    Initialized(ExchangeId),
}

impl OutboundPost {
    pub(super) fn of(
        outgoing: Outgoing<'_>,
        tools: &ToolCache,
        extensions: &Extensions,
        is_legacy: bool,
    ) -> Self {
        let mirrored = match &outgoing.kind {
            OutgoingKind::Request { method, .. } | OutgoingKind::Notification(method) => {
                mirror_headers(tools, extensions, method, &outgoing, is_legacy)
            }
            OutgoingKind::Cancel { .. } => {
                mirror_headers(tools, extensions, &MethodId::Cancelled.into(), &outgoing, is_legacy)
            }
            _ => Headers::new(),
        };
        let Outgoing { kind, revision, body, .. } = outgoing;
        Self { kind, revision, mirrored, body: Bytes::copy_from_slice(body) }
    }

    /// Restores the request `initialize` with the wire id `wire` from what was sent.
    pub(super) fn initialize(wire: u64, revision: Revision, sent: HttpRequest) -> Self {
        let mirrored = sent.headers.into_iter().filter(|(name, _)| name.starts_with("Mcp-"));
        let kind = OutgoingKind::Request {
            id: wire,
            call: CallId(wire),
            method: MethodId::Initialize.into(),
        };
        Self { kind, revision, mirrored: mirrored.collect(), body: sent.body }
    }

    /// Returns whether the message is `notifications/initialized`.
    pub(super) fn is_initialized(&self) -> bool {
        let OutgoingKind::Notification(method) = &self.kind else { return false };
        method.id() == Some(MethodId::Initialized)
    }
}

/// Returns the headers that mirror a message, for intermediaries that do not parse bodies. Legacy
/// servers ignore them.
// HTTP-44: standard headers. HTTP-47: headers of annotated arguments.
fn mirror_headers(
    tools: &ToolCache,
    extensions: &Extensions,
    method: &Method,
    outgoing: &Outgoing<'_>,
    is_legacy: bool,
) -> Headers {
    let params = outgoing.params();
    let mut fields = Headers::new();
    // HTTP-44: extensions name the member for their own methods.
    let named_by = named_by(method).or_else(|| extensions.named_by(method));
    let (method_value, name) = standard_of(method, params, named_by);
    fields.push(("Mcp-Method".into(), method_value.into_owned()));
    fields.extend(name.map(|name| ("Mcp-Name".into(), name)));
    if method.id() == Some(MethodId::CallTool) && !is_legacy {
        let params = params.unwrap_or_default();
        let tool = find(params, "name").and_then(unescape);
        if let Some(mirror) = tool.and_then(|tool| tools.mirror(&tool)) {
            let arguments = find(params, "arguments").map(|it| Frame::Borrowed(it).keep(it, false));
            let repeated = mirror.headers(arguments.as_ref());
            fields.extend(repeated.into_iter().map(|(name, value)| (Cow::Owned(name), value)));
        }
    }
    fields
}
