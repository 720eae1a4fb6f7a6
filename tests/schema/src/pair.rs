//! A client and a server of the core in one process, with a record of every line between them.

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::{Capability, Instant, MessageEndpoint, Revision, Side, StreamId};
use serde_json::Value;

use crate::compare;

/// Returns the server's capabilities.
const OFFERED: &[Capability] = &[
    Capability::Completions,
    Capability::Logging,
    Capability::PromptsListChanged,
    Capability::ResourcesListChanged,
    Capability::ResourcesSubscribe,
    Capability::TasksCancel,
    Capability::TasksList,
    Capability::TasksToolsCall,
    Capability::ToolsListChanged,
];

/// Returns the client's capabilities.
const ABLE: &[Capability] = &[
    Capability::ElicitationForm,
    Capability::ElicitationUrl,
    Capability::RootsListChanged,
    Capability::SamplingContext,
    Capability::SamplingTools,
    Capability::TasksCancel,
    Capability::TasksElicitation,
    Capability::TasksList,
    Capability::TasksSampling,
];

/// A connection.
#[derive(Debug)]
pub struct Pair {
    /// The current time of both.
    pub now: Instant,
    /// The client.
    pub client: Client,
    /// The server.
    pub server: Server,
    /// Every line in order, with its sender.
    pub lines: Vec<(Side, Value)>,
}

impl Pair {
    /// Creates a pair after the handshake, with every capability that `revision` has.
    ///
    /// # Panics
    ///
    /// If the handshake fails.
    #[must_use]
    pub fn new(revision: Revision) -> Self {
        let now = Instant::ZERO;
        let mut ours = client::Config::new("client", "1").revisions(&[revision]);
        for capability in ABLE {
            ours = ours.capability(*capability);
        }
        let mut theirs =
            server::Config::new("server", "2").revisions(&[revision]).instructions("Ask.");
        for capability in OFFERED {
            theirs = theirs.capability(*capability);
        }
        let (client, server) = (Client::new(now, ours), Server::new(now, theirs));
        let mut pair = Self { now, client, server, lines: Vec::new() };
        pair.carry();
        let ready = pair.client.poll_event();
        assert!(matches!(ready, Some(client::Event::Ready(_))), "{revision}: {ready:?}");
        let ready = pair.server.poll_event();
        assert!(matches!(ready, Some(server::Event::Ready(_))), "{revision}: {ready:?}");
        pair
    }

    /// Transfers lines to the other side until there are none.
    pub fn carry(&mut self) {
        loop {
            let mut is_quiet = true;
            while let Some(line) =
                self.client.poll_outgoing().map(|outgoing| outgoing.body.to_vec())
            {
                self.note(Side::Client, &line);
                self.server.handle_message(self.now, StreamId::ONLY, &line[..]);
                is_quiet = false;
            }
            while let Some(line) =
                self.server.poll_outgoing().map(|outgoing| outgoing.body.to_vec())
            {
                self.note(Side::Server, &line);
                self.client.handle_message(self.now, StreamId::ONLY, &line[..]);
                is_quiet = false;
            }
            if is_quiet {
                return;
            }
        }
    }

    fn note(&mut self, side: Side, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let value =
            compare::parse(line).unwrap_or_else(|error| panic!("{side:?} sent {text}: {error}"));
        self.lines.push((side, value));
    }

    /// Passes the server a line that our client would not send.
    pub fn tell_server(&mut self, line: &Value) {
        self.lines.push((Side::Client, line.clone()));
        self.server.handle_message(self.now, StreamId::ONLY, line.to_string().as_bytes());
    }

    /// Passes the client a line that our server would not send.
    pub fn tell_client(&mut self, line: &Value) {
        self.lines.push((Side::Server, line.clone()));
        self.client.handle_message(self.now, StreamId::ONLY, line.to_string().as_bytes());
    }

    /// Takes the server's next line instead of transferring it.
    pub fn server_line(&mut self) -> Option<Value> {
        let outgoing = self.server.poll_outgoing()?;
        Some(compare::parse(outgoing.body).expect("JSON on one line"))
    }
}
