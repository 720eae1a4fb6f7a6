//! The ledger of one machine: every call ends once, every request is open until it is answered or
//! cancelled, and nothing follows the end.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::{CallId, IncomingId};

use crate::witness::Seen;

/// The open calls and requests, as the application knows them.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// Whether each call is still open.
    calls: BTreeMap<CallId, bool>,
    /// Whether each incoming request is still open.
    requests: BTreeMap<IncomingId, bool>,
    /// The requests whose questions were sent, and that were not cancelled afterwards.
    asked: BTreeSet<IncomingId>,
    is_closed: bool,
}

impl Ledger {
    /// Records a call that the machine accepted.
    ///
    /// # Errors
    ///
    /// If its handle was used before, or the connection is closed.
    pub fn called(&mut self, call: CallId) -> Result<(), String> {
        if self.calls.insert(call, true).is_some() {
            return Err(format!("{call} was accepted twice"));
        }
        Ok(())
    }

    /// Records a cancellation that the machine accepted.
    ///
    /// # Errors
    ///
    /// If the call had ended, as far as the application knew.
    pub fn cancelled(&self, call: CallId) -> Result<(), String> {
        match self.calls.get(&call) {
            Some(true) => Ok(()),
            _ => Err(format!("{call} was cancelled and is not open")),
        }
    }

    /// Records input requests that the machine accepted.
    ///
    /// # Errors
    ///
    /// If the request was not open.
    pub fn asked(&mut self, incoming: IncomingId) -> Result<(), String> {
        self.asked.insert(incoming);
        self.answered(incoming)
    }

    /// Records a response that the machine accepted.
    ///
    /// # Errors
    ///
    /// If the request was not open.
    pub fn answered(&mut self, incoming: IncomingId) -> Result<(), String> {
        match self.requests.insert(incoming, false) {
            Some(true) => Ok(()),
            _ => Err(format!("{incoming} was answered and is not open")),
        }
    }

    /// Records an event.
    ///
    /// # Errors
    ///
    /// If the event must not occur now.
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
                Err(format!("{call} has progress and is not open"))
            }
            Seen::Request(incoming) => match self.requests.insert(incoming, true) {
                None => Ok(()),
                Some(_) => Err(format!("{incoming} came twice")),
            },
            Seen::RequestCancelled(incoming) => match self.requests.insert(incoming, false) {
                Some(true) => Ok(()),
                _ if self.asked.remove(&incoming) => Ok(()),
                _ => Err(format!("{incoming} was cancelled and is not open")),
            },
            Seen::Closed(_) => self.close(),
            Seen::Other | Seen::Progress(_) | Seen::Ready(_) => Ok(()),
        }
    }

    /// Returns whether `Closed` was polled.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the open calls.
    pub fn open_calls(&self) -> impl Iterator<Item = CallId> + '_ {
        self.calls.iter().filter(|(_, open)| **open).map(|(call, _)| *call)
    }

    /// Returns the open requests.
    pub fn open_requests(&self) -> impl Iterator<Item = IncomingId> + '_ {
        self.requests.iter().filter(|(_, open)| **open).map(|(incoming, _)| *incoming)
    }

    fn close(&mut self) -> Result<(), String> {
        self.is_closed = true;
        if let Some(call) = self.open_calls().next() {
            return Err(format!("the connection closed and {call} never completed"));
        }
        if let Some(incoming) = self.open_requests().next() {
            return Err(format!("the connection closed and {incoming} was never cancelled"));
        }
        Ok(())
    }
}
