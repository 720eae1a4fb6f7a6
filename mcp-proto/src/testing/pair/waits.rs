//! Methods of a pair that wait for an event of one side.

use alloc::format;

use super::Pair;
use crate::endpoint::RoleEndpoint;
use crate::json::Raw;
use crate::vocabulary::{CallError, CallId, Context, IncomingId, Request};
use crate::{client, server};

impl<C: RoleEndpoint<Event = client::Event>, S: RoleEndpoint> Pair<C, S> {
    /// [Drives](Self::drive) the pair, and returns the outcome of one of the client's calls.
    ///
    /// Client events queued before the outcome are dropped.
    ///
    /// # Panics
    /// Panics if the call has not completed.
    ///
    /// # Errors
    /// Returns the call's error if the call failed.
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
        self.fail(format!("{call} did not complete"))
    }

    /// [Drives](Self::drive) the pair, and returns the next request that the client received.
    ///
    /// Client events queued before the request are dropped.
    ///
    /// # Panics
    /// Panics if no request is queued.
    pub fn next_client_request(&mut self) -> (IncomingId, Request) {
        self.drive();
        while let Some(event) = self.client_events.pop_front() {
            if let client::Event::Request { incoming, request, .. } = event {
                return (incoming, request);
            }
        }
        self.fail("the client received no request")
    }
}

impl<C: RoleEndpoint, S: RoleEndpoint<Event = server::Event>> Pair<C, S> {
    /// [Drives](Self::drive) the pair, and returns the next request that the server received.
    ///
    /// Server events queued before the request are dropped.
    ///
    /// # Panics
    /// Panics if no request is queued.
    pub fn next_request(&mut self) -> (IncomingId, Request, Context) {
        self.drive();
        while let Some(event) = self.server_events.pop_front() {
            if let server::Event::Request { incoming, request, context } = event {
                return (incoming, request, context);
            }
        }
        self.fail("the server received no request")
    }
}
