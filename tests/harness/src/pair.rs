//! A checked client and a checked server in one process, on two links, in virtual time.

use std::ops::{Deref, DerefMut};

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::testing::{self, Chunking, Seed};
use mcp_proto::{CallId, CallOptions, Era, IncomingId, Instant, Misuse};

use crate::check::Checked;
use crate::parse;
use crate::role::Role;
use crate::witness::Witness;

/// A [`testing::Pair`] of checked machines, with params and results as text.
///
/// ```
/// use mcp_harness::Pair;
/// use mcp_proto::{Capability, Raw, client, server};
///
/// let config = server::Config::new("weather", "1.0.0").capability(Capability::Tools);
/// let mut pair = Pair::ready(client::Config::new("demo", "1.0.0"), config);
/// let call = pair.call("tools/list", "{}").unwrap();
/// let (incoming, request, _) = pair.next_request();
/// assert_eq!(request.method, "tools/list");
/// pair.respond(incoming, r#"{"tools":[]}"#).unwrap();
/// let tools = pair.outcome(call).unwrap().member("tools").unwrap();
/// assert_eq!(tools, Raw::from_text("[]").unwrap());
/// ```
#[derive(Debug)]
pub struct Pair(testing::Pair<Checked<Stdio<Client>>, Checked<Stdio<Server>>>);

impl Pair {
    /// Creates two machines that have just been connected.
    #[must_use]
    pub fn new(client: client::Config, server: server::Config) -> Self {
        let now = Instant::ZERO;
        let mut pair = testing::Pair::from_endpoints(
            Checked::new(Stdio::new(Client::new(now, client))),
            Checked::new(Stdio::new(Server::new(now, server))),
        );
        pair.describe_events(Witness::tell, Witness::tell);
        Self(pair)
    }

    /// Creates two machines whose client is ready to make calls: it knows its server's revision.
    ///
    /// In a legacy revision the server is ready, too; in the modern one a server has no such state.
    #[must_use]
    pub fn ready(client: client::Config, server: server::Config) -> Self {
        let mut pair = Self::new(client, server);
        pair.drive();
        let Some(client::Event::Ready(peer)) = pair.client_events.pop_front() else {
            pair.fail("the client is not ready");
        };
        let has_session = peer.revision.era() == Era::Legacy;
        match pair.server_events.pop_front() {
            Some(server::Event::Ready(_)) if has_session => {}
            None if !has_session => {}
            other => pair.fail(format!("in {} the server told {other:?}", peer.revision)),
        }
        pair
    }

    /// Splits the bytes of both links at random, and adds the seed to failures.
    pub fn shuffle(&mut self, seed: u64, bytes_max: usize) {
        let label = format!("seed {seed}");
        self.client.label(&label);
        self.server.label(&label);
        self.label(label);
        self.to_client.chunking = Chunking::Seeded(Seed(seed), bytes_max);
        self.to_server.chunking = Chunking::Seeded(Seed(!seed), bytes_max);
    }

    /// Calls a method of the server, with params as text.
    ///
    /// # Errors
    ///
    /// The client's [`Misuse`].
    pub fn call(&mut self, method: &str, params: &str) -> Result<CallId, Misuse> {
        self.call_with(method, params, CallOptions::default())
    }

    /// Calls a method of the server with options.
    ///
    /// # Errors
    ///
    /// The client's [`Misuse`].
    pub fn call_with(
        &mut self,
        method: &str,
        params: &str,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        let now = self.now;
        self.client.call_raw(now, method, Some(&parse::raw(params)), options)
    }

    /// Responds to a request.
    ///
    /// # Errors
    ///
    /// The server's [`Misuse`].
    pub fn respond(&mut self, incoming: IncomingId, result: &str) -> Result<(), Misuse> {
        let now = self.now;
        self.server.respond(now, incoming, &parse::raw(result))
    }

    /// Takes the client's events so far, in the notation of golden transcripts.
    pub fn client_told(&mut self) -> Vec<String> {
        self.client_events.drain(..).map(|event| event.tell()).collect()
    }

    /// Takes the server's events so far, in the notation of golden transcripts.
    pub fn server_told(&mut self) -> Vec<String> {
        self.server_events.drain(..).map(|event| event.tell()).collect()
    }
}

impl Deref for Pair {
    type Target = testing::Pair<Checked<Stdio<Client>>, Checked<Stdio<Server>>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Pair {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
