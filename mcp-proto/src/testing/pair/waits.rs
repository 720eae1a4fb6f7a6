//! What a test waits for in a pair whose applications it is itself; knows nothing of links.

use alloc::format;

use super::Pair;
use crate::connection::{CallError, CallId, Context, IncomingId, Request};
use crate::endpoint::Endpoint;
use crate::json::Raw;
use crate::{client, server};

impl<C: Endpoint<Event = client::Event>, S: Endpoint> Pair<C, S> {
    /// Drives until the client's call ends; other events before its end are dropped.
    ///
    /// # Errors
    /// How the call failed.
    pub fn outcome(&mut self, call: CallId) -> Result<Raw, CallError> {
        self.drive();
        while let Some(event) = self.client_events.pop_front() {
            match event {
                client::Event::Completed { call: ended, outcome } if ended == call => {
                    return outcome;
                }
                _ => {}
            }
        }
        self.breach(format!("{call} did not end"))
    }

    /// Drives until the client gets a request; other events before it are dropped.
    pub fn next_client_request(&mut self) -> (IncomingId, Request) {
        self.drive();
        while let Some(event) = self.client_events.pop_front() {
            if let client::Event::Request { incoming, request, .. } = event {
                return (incoming, request);
            }
        }
        self.breach("no request came to the client")
    }
}

impl<C: Endpoint, S: Endpoint<Event = server::Event>> Pair<C, S> {
    /// Drives until the server gets a request; other events before it are dropped.
    pub fn next_request(&mut self) -> (IncomingId, Request, Context) {
        self.drive();
        while let Some(event) = self.server_events.pop_front() {
            if let server::Event::Request { incoming, request, context } = event {
                return (incoming, request, context);
            }
        }
        self.breach("no request came to the server")
    }
}
