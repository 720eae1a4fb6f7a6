//! The books of one machine: every call ends once, every request is open until it is answered or
//! withdrawn, nothing follows the end; knows events and handles, and nothing of bytes or of time.

use std::collections::BTreeMap;

use mcp_proto::{CallId, IncomingId};

use crate::witness::Seen;

/// What is open, as the application could know it.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Whether each call is still open.
    calls: BTreeMap<CallId, bool>,
    /// Whether each incoming request is still open.
    requests: BTreeMap<IncomingId, bool>,
    is_closed: bool,
}

impl Ledger {
    /// The machine accepted a call.
    ///
    /// # Errors
    /// When its handle was used before, or the connection is over.
    pub fn called(&mut self, call: CallId) -> Result<(), String> {
        if self.calls.insert(call, true).is_some() {
            return Err(format!("{call} was accepted twice"));
        }
        Ok(())
    }

    /// The machine accepted that the call is cancelled.
    ///
    /// # Errors
    /// When the call was over, as far as the application knew.
    pub fn cancelled(&self, call: CallId) -> Result<(), String> {
        match self.calls.get(&call) {
            Some(true) => Ok(()),
            _ => Err(format!("{call} was cancelled and is not open")),
        }
    }

    /// The machine accepted an answer, or questions, to an incoming request.
    ///
    /// # Errors
    /// When the request was not open.
    pub fn answered(&mut self, incoming: IncomingId) -> Result<(), String> {
        match self.requests.insert(incoming, false) {
            Some(true) => Ok(()),
            _ => Err(format!("{incoming} was answered and is not open")),
        }
    }

    /// The machine gave an event.
    ///
    /// # Errors
    /// When it must not come now.
    pub fn event(&mut self, seen: Seen<'_>) -> Result<(), String> {
        if self.is_closed {
            return Err("an event came after `Closed`".into());
        }
        match seen {
            Seen::Completed(call) => match self.calls.insert(call, false) {
                Some(true) => Ok(()),
                Some(false) => Err(format!("{call} completed twice")),
                None => Err(format!("{call} completed and was never made")),
            },
            Seen::Progress(call) if self.calls.get(&call) != Some(&true) => {
                Err(format!("{call} progressed and is not open"))
            }
            Seen::Request(incoming) => match self.requests.insert(incoming, true) {
                None => Ok(()),
                Some(_) => Err(format!("{incoming} came twice")),
            },
            Seen::RequestCancelled(incoming) => match self.requests.insert(incoming, false) {
                Some(true) => Ok(()),
                _ => Err(format!("{incoming} was cancelled and is not open")),
            },
            Seen::Closed(_) => self.close(),
            Seen::Other | Seen::Progress(_) | Seen::Ready(_) => Ok(()),
        }
    }

    /// Whether `Closed` has come.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The calls that are open.
    pub fn open_calls(&self) -> impl Iterator<Item = CallId> + '_ {
        self.calls.iter().filter(|(_, open)| **open).map(|(call, _)| *call)
    }

    /// The requests that are open.
    pub fn open_requests(&self) -> impl Iterator<Item = IncomingId> + '_ {
        self.requests.iter().filter(|(_, open)| **open).map(|(incoming, _)| *incoming)
    }

    fn close(&mut self) -> Result<(), String> {
        self.is_closed = true;
        if let Some(call) = self.open_calls().next() {
            return Err(format!("the connection closed and {call} never completed"));
        }
        if let Some(incoming) = self.open_requests().next() {
            return Err(format!("the connection closed and {incoming} was never withdrawn"));
        }
        Ok(())
    }
}
