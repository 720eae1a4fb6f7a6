//! [`Relay`]: a server facing the client, a client facing the server, and the calls between them.
//!
//! Ids and progress tokens are separate on each side; the relay maps the handles of one side to
//! those of the other.

mod to_client;
mod to_server;

use std::collections::BTreeMap;

use mcp_proto::client::Client;
use mcp_proto::schema::Level;
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallError, CallId, CallOptions, Capability, ErrorObject, Filter, IncomingId, Instant, Misuse,
    Peer, Request, Revision,
};

use crate::trace::Trace;

/// The timeout of relayed calls. The original caller has its own timeout and cancels; this one only
/// prevents leaks.
const CALL_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(3600);

/// A call of the client that is open at the server.
struct RelayedCall {
    method: Box<str>,
    /// The revision of the client.
    revision: Revision,
    /// The request to respond to; `None` while the client answers questions before it retries.
    incoming: Option<IncomingId>,
    /// Questions of the server to be sent to the client together.
    unsent_questions: Vec<(IncomingId, Request)>,
    /// Questions sent to the client.
    sent_questions: Vec<IncomingId>,
}

pub(crate) struct Relay {
    pub(crate) client: Stdio<Server>,
    pub(crate) server: Stdio<Client>,
    calls: BTreeMap<CallId, RelayedCall>,
    /// Calls to the client, each with the request of the server it relays.
    questions: BTreeMap<CallId, IncomingId>,
    /// Subscriptions at the server by resource.
    watches: BTreeMap<Box<str>, CallId>,
    log_level: Option<Level>,
}

impl Relay {
    /// Creates a relay once the server is connected. The client sees the server's description.
    pub(crate) fn new(now: Instant, mut server: Stdio<Client>, peer: &Peer) -> Self {
        let mut config = server::Config::new("", "").info(peer.info.clone());
        if let Some(instructions) = &peer.instructions {
            config = config.instructions(instructions);
        }
        let client = Stdio::new(Server::new(now, config.capabilities(peer.capabilities.clone())));
        let lists = [
            Capability::ToolsListChanged,
            Capability::PromptsListChanged,
            Capability::ResourcesListChanged,
        ];
        if lists.into_iter().any(|list| peer.has(list)) {
            let filter = Filter::new().tools().prompts().resources();
            let _blocked = server.subscribe(now, &filter, CallOptions::default());
        }
        let (calls, questions, watches) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { client, server, calls, questions, watches, log_level: None }
    }

    /// Relays all pending events.
    pub(crate) fn settle(&mut self, now: Instant, trace: &mut Trace) {
        loop {
            let mut is_idle = true;
            while let Some(event) = self.client.poll_event() {
                is_idle = false;
                self.on_client_event(now, event, trace);
            }
            while let Some(event) = self.server.poll_event() {
                is_idle = false;
                self.on_server_event(now, event, trace);
            }
            self.send_questions(now, trace);
            // Changes of a legacy client's log level cause no event.
            self.set_log_level(now, self.client.log_level());
            if is_idle {
                return;
            }
        }
    }

    /// Returns the only open call, if there is exactly one. Legacy messages do not name the call
    /// they belong to.
    fn only_call(&self) -> Option<CallId> {
        let mut calls = self.calls.keys();
        let only = calls.next();
        only.filter(|_| calls.next().is_none()).copied()
    }

    fn call_of(&self, incoming: IncomingId) -> Option<CallId> {
        let found = self.calls.iter().find(|(_, relayed)| relayed.incoming == Some(incoming));
        found.map(|(call, _)| *call)
    }
}

fn relay_options(parent: Option<IncomingId>) -> CallOptions {
    CallOptions { timeout: Some(CALL_TIMEOUT), parent, ..CallOptions::default() }
}

/// Converts the error of a call for the original caller.
fn call_error(error: CallError) -> ErrorObject {
    match error {
        CallError::Refused(error) | CallError::InputRefused(error) => error,
        error => ErrorObject::internal(error.to_string()),
    }
}

/// Converts the error for a request that cannot be relayed.
fn misuse_error(misuse: Misuse) -> ErrorObject {
    ErrorObject::internal(format!("cannot be relayed: {misuse}"))
}

fn note_failure(direction: &str, relayed: Result<(), Misuse>, trace: &mut Trace) {
    if let Err(misuse) = relayed {
        trace.note(&format!("not relayed {direction}: {misuse}"));
    }
}
