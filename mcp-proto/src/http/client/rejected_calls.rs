//! Repetition of tool calls whose headers the server rejected.
//!
//! A call carries no `Mcp-Param-*` headers if its tool was not listed on this connection, and
//! outdated ones if the tool has changed since. The server then refuses the call; the client lists
//! the tools and sends the call again, once. If the tools cannot be listed, the call fails with the
//! error of the server.
// HTTP-51: refresh and retry once.

use super::HttpClient;
use super::exchange::{CallInfo, CallKind};
use crate::client::ExchangeEndpoint as _;
use crate::error::code;
use crate::message_endpoint::MessageEndpoint;
use crate::rpc::ErrorObject;
use crate::time::Instant;
use crate::vocabulary::CallError;

/// The maximum number of pages of tools that are read for rejected calls.
const PAGES_MAX: u32 = 64;

impl HttpClient {
    /// Handles an error response. Returns whether the call is going to be sent again.
    pub(super) fn on_rejected(
        &mut self,
        now: Instant,
        call: CallInfo,
        error: &ErrorObject,
    ) -> bool {
        let wire = call.wire;
        let is_repeatable = call.kind == CallKind::CallTool
            && error.code == code::HEADER_MISMATCH
            && self.client.is_in_flight(wire)
            && !self.refresh.repeated.contains(&wire);
        if !is_repeatable {
            return false;
        }
        if self.refresh.list.is_none() {
            self.refresh.pages = 0;
            self.refresh.list = self.client.list_tools(now, None);
        }
        if self.refresh.list.is_none() {
            return false;
        }
        self.refresh.rejected.insert(wire, error.clone());
        if let Some(id) = self.exchanges.by_wire(wire) {
            self.exchanges.discard(id, now);
        }
        true
    }

    /// Handles a page of the list, whose tools are known by now: requests the page at `cursor`, or
    /// sends the waiting calls again.
    pub(super) fn on_page(&mut self, now: Instant, cursor: Option<&[u8]>) {
        self.refresh.pages += 1;
        let cursor = cursor.filter(|_| self.refresh.pages < PAGES_MAX);
        self.refresh.list = cursor.and_then(|cursor| self.client.list_tools(now, Some(cursor)));
        if self.refresh.list.is_some() {
            return;
        }
        for (wire, error) in core::mem::take(&mut self.refresh.rejected) {
            match self.client.send_again(now, wire) {
                Some(repeated) => {
                    self.refresh.repeated.insert(repeated);
                }
                None => self.client.handle_unanswered(now, wire, CallError::Refused(error)),
            }
        }
    }

    /// Handles the end of a request. If it was to list the tools, the waiting calls fail.
    pub(super) fn on_request_ended(&mut self, wire: u64) {
        self.refresh.repeated.remove(&wire);
        self.refresh.rejected.remove(&wire);
        if self.refresh.list != Some(wire) {
            return;
        }
        self.refresh.list = None;
        let now = self.client.now();
        for (wire, error) in core::mem::take(&mut self.refresh.rejected) {
            self.client.handle_unanswered(now, wire, CallError::Refused(error));
        }
    }
}
