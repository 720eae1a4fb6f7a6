//! One machine whose peer is the test, line by line.

use std::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CloseReason, Instant, RoleEndpoint};
use serde_json::Value;

/// A machine, the time, and its output so far.
pub(crate) struct Played<M: RoleEndpoint> {
    pub(crate) machine: M,
    pub(crate) now: Instant,
    /// Every line it sent.
    pub(crate) said: Vec<Value>,
    heard: usize,
    pub(crate) events: Vec<M::Event>,
}

pub(crate) type PlayedClient = Played<Stdio<Client>>;
pub(crate) type PlayedServer = Played<Stdio<Server>>;

pub(crate) fn client(config: client::Config) -> PlayedClient {
    Played::new(Stdio::new(Client::new(Instant::ZERO, config)))
}

pub(crate) fn server(config: server::Config) -> PlayedServer {
    Played::new(Stdio::new(Server::new(Instant::ZERO, config)))
}

impl<M: RoleEndpoint> Played<M> {
    fn new(machine: M) -> Self {
        let mut played =
            Self { machine, now: Instant::ZERO, said: Vec::new(), heard: 0, events: Vec::new() };
        played.poll();
        played
    }

    /// Takes the machine's output and events.
    pub(crate) fn poll(&mut self) {
        while let Some(line) = self.machine.outbox().poll_message() {
            self.said.push(serde_json::from_slice(&line).unwrap());
        }
        while let Some(event) = self.machine.poll_event() {
            self.events.push(event);
        }
    }

    pub(crate) fn say(&mut self, line: impl AsRef<str>) {
        self.machine.handle_input(self.now, line.as_ref().as_bytes());
        self.machine.handle_input(self.now, b"\n");
        self.poll();
    }

    pub(crate) fn hang_up(&mut self) {
        self.machine.handle_eof(self.now);
        self.poll();
    }

    /// Lets time pass; each timer fires when due.
    pub(crate) fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.machine.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.machine.handle_timeout(self.now);
            self.poll();
        }
        self.now = until;
    }

    /// Takes the lines not checked yet.
    pub(crate) fn hear_all(&mut self) -> Vec<Value> {
        let lines = self.said[self.heard..].to_vec();
        self.heard = self.said.len();
        lines
    }

    /// Takes the only line not checked yet.
    pub(crate) fn hear(&mut self) -> Value {
        let mut lines = self.hear_all();
        assert_eq!(lines.len(), 1, "{lines:#?}");
        lines.remove(0)
    }

    pub(crate) fn expect_silence(&mut self) {
        assert_eq!(self.hear_all(), [] as [Value; 0]);
    }

    /// Takes the events since the last call.
    pub(crate) fn take_events(&mut self) -> Vec<M::Event> {
        std::mem::take(&mut self.events)
    }
}

/// A client's reaction to its peer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    /// It closed with this fault.
    Fault(String),
    /// It sent `initialize` for this revision.
    Initialize(String),
    /// It sent nothing and waits.
    Nothing,
    /// It sent `server/discover` for this revision.
    Probe(String),
    /// It is ready, in this revision.
    Ready(String),
}

impl PlayedClient {
    /// Returns the reaction since the last call, which must be a single one.
    pub(crate) fn next(&mut self) -> Next {
        let lines = self.hear_all();
        let requests: Vec<&Value> = lines.iter().filter(|line| line.get("id").is_some()).collect();
        for line in &lines {
            assert_ne!(line["method"], "notifications/cancelled", "{lines:#?}");
        }
        if let Some(CloseReason::Fault(fault)) = self.machine.close_reason() {
            assert_eq!(lines.len(), 0, "{lines:#?}");
            let shown = format!("{fault:?}");
            return Next::Fault(shown.split(['(', ' ']).next().unwrap().to_owned());
        }
        if let Some(peer) = self.machine.peer() {
            assert_eq!(requests.len(), 0, "{lines:#?}");
            return Next::Ready(peer.revision.to_string());
        }
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        match requests.as_slice() {
            [] => Next::Nothing,
            [request] if request["method"] == "initialize" => {
                Next::Initialize(text(&request["params"]["protocolVersion"]))
            }
            [request] if request["method"] == "server/discover" => Next::Probe(text(
                &request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
            )),
            other => panic!("{other:#?}"),
        }
    }

    /// Returns how many requests it sent in all.
    pub(crate) fn requests(&self) -> usize {
        self.said
            .iter()
            .filter(|line| line.get("id").is_some() && line.get("method").is_some())
            .count()
    }

    /// Returns the id of its latest request, in JSON.
    pub(crate) fn latest_id(&self) -> String {
        self.said.iter().rev().find_map(|line| line.get("id")).unwrap().to_string()
    }

    /// Responds to its latest request with an error; `data` is JSON, or empty.
    pub(crate) fn refuse(&mut self, code: i64, data: &str) {
        self.say(error(&self.latest_id(), code, data));
    }

    /// Responds to its latest request with a result.
    pub(crate) fn answer(&mut self, result: &str) {
        self.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.latest_id()));
    }
}

/// Returns an error response.
pub(crate) fn error(id: &str, code: i64, data: &str) -> String {
    let data = if data.is_empty() { String::new() } else { format!(r#","data":{data}"#) };
    let id = if id.is_empty() { String::new() } else { format!(r#""id":{id},"#) };
    format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{code},"message":"no"{data}}}}}"#)
}

/// Returns the discover result of a modern server with these revisions.
pub(crate) fn discovered(versions: &str) -> String {
    format!(
        r#"{{"resultType":"complete","supportedVersions":{versions},"capabilities":{{"tools":{{}}}},"ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

/// Returns a legacy server's result of `initialize`.
pub(crate) fn welcome(version: &str) -> String {
    format!(
        r#"{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}"#
    )
}

pub(crate) const R4: &str = "2025-11-25";
pub(crate) const R5: &str = "2026-07-28";

pub(crate) fn initialize(version: &str) -> Next {
    Next::Initialize(version.to_owned())
}

pub(crate) fn probe(version: &str) -> Next {
    Next::Probe(version.to_owned())
}

pub(crate) fn ready(version: &str) -> Next {
    Next::Ready(version.to_owned())
}

pub(crate) fn fault(name: &str) -> Next {
    Next::Fault(name.to_owned())
}
