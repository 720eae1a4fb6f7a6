//! Handling of the bodies of error statuses, which may be JSON-RPC errors.

use alloc::boxed::Box;
use alloc::format;

use bytes::Bytes;

use super::HttpClient;
use super::error_text::body_text;
use super::exchange::{CallInfo, CallKind, KeptRequest};
use super::response_head::safe_reason;
use crate::client::ExchangeEndpoint as _;
use crate::error::code;
use crate::http::byte_order_mark;
use crate::message_endpoint::MessageEndpoint;
use crate::rpc::{DecodedMessage, ErrorObject, IncomingMessage, Malformed, Message};
use crate::time::Instant;
use crate::vocabulary::CallError;

impl HttpClient {
    /// Returns the error for an error status. Without a `reason` of the driver, which is empty if
    /// the body has none, the explanation is read from the body, without the access token.
    pub(super) fn http_error(
        &self,
        status: u16,
        reason: Option<Box<str>>,
        body: &[u8],
    ) -> CallError {
        let reason = match reason {
            Some(reason) => safe_reason(Some(&reason)),
            None => body_text(body, |text| self.authorization.removed_from(text)).map(Into::into),
        };
        CallError::Http { status, reason }
    }

    /// Handles an error status whose body is too long or incomplete.
    pub(super) fn on_unread_error(
        &mut self,
        now: Instant,
        call: CallInfo,
        (status, why): (u16, CallError),
        kept: Option<Box<KeptRequest>>,
    ) {
        if !self.fall_back(call, (status, &why), None, kept) {
            self.client.handle_unanswered(now, call.wire, why);
        }
    }

    /// Handles the complete body of an error status, which may be a JSON-RPC error.
    // HTTP-61, LIF-30, T-73: a JSON-RPC error takes precedence over the status.
    pub(super) fn on_error_body(
        &mut self,
        now: Instant,
        call: CallInfo,
        (status, why): (u16, CallError),
        body: Bytes,
        kept: Option<Box<KeptRequest>>,
    ) {
        let body = byte_order_mark::skip(IncomingMessage::Owned(body));
        let decoded = DecodedMessage::parse(&body, self.client.limits());
        if shows_modern_server(call, status, &decoded.message) {
            self.client.handle_modern_status();
        } else if self.fall_back(call, (status, &why), Some(&decoded.message), kept) {
            return;
        }
        let refutes_era = refutes_era(call, status, &decoded.message);
        match &decoded.message {
            // The id does not matter: the error can only answer this request. Of an error that does
            // not name the request, the status says more.
            Ok(Message::Response { id, outcome: Err(error) }) if id.as_u64() != Some(call.wire) => {
                let message = format!("{} (HTTP status {status})", error.message);
                let error = ErrorObject { message: message.into(), ..error.clone() };
                if !self.on_rejected(now, call, &error) {
                    self.client.handle_unanswered(now, call.wire, CallError::Refused(error));
                }
            }
            Ok(Message::Response { outcome: Err(_), .. } | Message::OrphanError(_)) => {
                self.on_decoded(now, call, decoded, true);
            }
            _ => self.client.handle_unanswered(now, call.wire, why),
        }
        if refutes_era && call.is_legacy {
            self.on_session_refuted(now);
        } else if refutes_era {
            self.client.handle_era_refuted(now);
        }
    }
}

/// Returns whether the body of an error status shows that the server is not of the era of the call.
// LIF-30, LIF-31: the marks of a modern server, and of one that does not know modern requests.
fn refutes_era(call: CallInfo, status: u16, body: &Result<Message<'_>, Malformed>) -> bool {
    let is_probe_or_handshake = matches!(call.kind, CallKind::Discover | CallKind::Initialize);
    if is_probe_or_handshake || !matches!(status, 400 | 404 | 405) {
        return false;
    }
    let (error, names_call) = match body {
        Ok(Message::Response { id, outcome }) => {
            (outcome.as_ref().err(), id.as_u64() == Some(call.wire))
        }
        Ok(Message::OrphanError(error)) => (Some(error), false),
        _ => (None, false),
    };
    let code = error.map(|error| error.code);
    let is_modern =
        matches!(code, Some(code::HEADER_MISMATCH | code::UNSUPPORTED_PROTOCOL_VERSION));
    if call.is_legacy { is_modern } else { !is_modern && !names_call }
}

/// Returns whether the error response to a probe shows that the server is modern.
// LIF-30, T-37: a modern server answers an unknown method with 404 and repeats the id; a legacy one
// answers 404 for an unknown session or path.
fn shows_modern_server(call: CallInfo, status: u16, body: &Result<Message<'_>, Malformed>) -> bool {
    let Ok(Message::Response { id, outcome: Err(error) }) = body else { return false };
    call.kind == CallKind::Discover
        && status == 404
        && error.code == code::METHOD_NOT_FOUND
        && id.as_u64() == Some(call.wire)
}
