//! The machine of the proxy: a server to the client and a client to the server, and what is under
//! way between them.
//!
//! No id and no progress token passes from one side to the other: each machine has its own, and the
//! relay knows which handle here belongs to which handle there. It knows neither pipes nor how
//! messages look.

mod to_client;
mod to_server;

use std::collections::BTreeMap;

use mcp_proto::client::Client;
use mcp_proto::schema::Level;
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallError, CallId, CallOptions, Capability, Endpoint, ErrorObject, Filter, IncomingId, Instant,
    Misuse, Peer, Request, Revision,
};

use crate::trace::Trace;

/// Who waits has patience of their own, and cancels; the proxy only sees to it that nothing is kept
/// for ever.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3600);

/// A call of the client's that is under way at the server.
struct Passing {
    method: Box<str>,
    /// The client's.
    revision: Revision,
    /// What to answer by; `None` while the client answers questions, after which it asks anew.
    incoming: Option<IncomingId>,
    /// Questions of the server that are to be put to the client as one.
    waiting: Vec<(IncomingId, Request)>,
    /// Those that were.
    asked: Vec<IncomingId>,
}

pub(crate) struct Relay {
    pub(crate) client: Stdio<Server>,
    pub(crate) server: Stdio<Client>,
    calls: BTreeMap<CallId, Passing>,
    /// Our calls to the client, and the requests of the server that they are made for.
    questions: BTreeMap<CallId, IncomingId>,
    watches: BTreeMap<Box<str>, CallId>,
    log_level: Option<Level>,
}

impl Relay {
    /// Begins once the server has said what it is: that is what the client is told.
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
            let _blocked = server.listen(now, &filter, CallOptions::default());
        }
        let (calls, questions, watches) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { client, server, calls, questions, watches, log_level: None }
    }

    /// Passes on all there is.
    pub(crate) fn settle(&mut self, now: Instant, trace: &mut Trace) {
        loop {
            let mut is_idle = true;
            while let Some(event) = self.client.poll_event() {
                is_idle = false;
                self.of_client(now, event, trace);
            }
            while let Some(event) = self.server.poll_event() {
                is_idle = false;
                self.of_server(now, event, trace);
            }
            self.ask(now, trace);
            // A session's level changes without an event.
            self.want_logs(now, self.client.log_level());
            if is_idle {
                return;
            }
        }
    }

    /// The call that a message of the server belongs to. In a session nothing says so: if there is
    /// one, it is that.
    fn only_call(&self) -> Option<CallId> {
        let mut calls = self.calls.keys();
        let only = calls.next();
        only.filter(|_| calls.next().is_none()).copied()
    }

    fn call_of(&self, incoming: IncomingId) -> Option<CallId> {
        let found = self.calls.iter().find(|(_, passing)| passing.incoming == Some(incoming));
        found.map(|(call, _)| *call)
    }
}

fn patient(parent: Option<IncomingId>) -> CallOptions {
    CallOptions { timeout: Some(PATIENCE), parent, ..CallOptions::default() }
}

/// How a call failed, for whoever made it.
fn told(error: CallError) -> ErrorObject {
    match error {
        CallError::Refused(error) | CallError::Unanswered(error) => error,
        error => ErrorObject::internal(error.to_string()),
    }
}

/// What the other side cannot be sent.
fn refused(misuse: Misuse) -> ErrorObject {
    ErrorObject::internal(format!("not passed on: {misuse}"))
}

fn lost(way: &str, done: Result<(), Misuse>, trace: &mut Trace) {
    if let Err(misuse) = done {
        trace.note(&format!("not passed on {way}: {misuse}"));
    }
}
