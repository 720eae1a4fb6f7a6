//! One checked machine whose peer is the test itself: lines in, lines and events out, with virtual
//! time.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Display;
use std::time::Duration;

use mcp_proto::client::{self, Client};
use mcp_proto::schema::Level;
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallId, CallOptions, Endpoint, ErrorObject, IncomingId, Instant, Misuse, NeededInput, Progress,
    Revision, RoleEndpoint as _,
};
use serde_json::{Value, json};

use crate::check::Checked;
use crate::parse;
use crate::role::Role;
use crate::witness::{Seen, Witness};

/// A client whose server is the test.
pub type ClientSolo = Solo<Stdio<Client>>;

/// A server whose client is the test.
pub type ServerSolo = Solo<Stdio<Server>>;

/// One machine, and a test that exchanges lines with it.
#[derive(Debug)]
pub struct Solo<R: Role> {
    /// The machine.
    pub machine: Checked<R>,
    /// The current time.
    pub now: Instant,
    /// Lines received and not yet checked.
    lines: VecDeque<String>,
    half: Vec<u8>,
    events: VecDeque<R::Event>,
    /// The requests delivered so far.
    requests: BTreeSet<IncomingId>,
    /// While set, output and events are left in the machine.
    pub is_deaf: bool,
}

impl<R: Role> Solo<R> {
    /// Wraps a fresh machine.
    pub fn new(machine: R) -> Self {
        let mut solo = Self {
            machine: Checked::new(machine),
            now: Instant::ZERO,
            lines: VecDeque::new(),
            half: Vec::new(),
            events: VecDeque::new(),
            requests: BTreeSet::new(),
            is_deaf: false,
        };
        solo.poll();
        solo
    }

    /// Sends one line to the machine.
    pub fn say(&mut self, line: impl AsRef<[u8]>) {
        let mut line = line.as_ref().to_vec();
        line.push(b'\n');
        self.say_bytes(&line);
    }

    /// Sends bytes to the machine.
    pub fn say_bytes(&mut self, bytes: &[u8]) {
        self.machine.handle_input(self.now, bytes);
        self.poll();
    }

    /// Ends the machine's input.
    pub fn say_eof(&mut self) {
        self.machine.handle_eof(self.now);
        self.poll();
    }

    /// Lets time pass; each timer fires when due.
    pub fn wait(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.machine.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.machine.handle_timeout(self.now);
            self.poll();
        }
        self.now = until;
        self.machine.handle_timeout(until);
        self.poll();
    }

    /// Takes the lines sent by the machine since the last call.
    pub fn take_lines(&mut self) -> Vec<String> {
        self.lines.drain(..).collect()
    }

    /// Takes the events since the last call.
    pub fn take_events(&mut self) -> Vec<R::Event> {
        self.events.drain(..).collect()
    }

    /// Takes the events since the last call, in the notation of golden transcripts.
    pub fn take_told(&mut self) -> Vec<String> {
        self.events.drain(..).map(|event| event.tell()).collect()
    }

    /// Takes and parses the machine's next line.
    pub fn hear(&mut self) -> Value {
        let Some(line) = self.lines.pop_front() else { self.fail("it said nothing") };
        parse::value(&line)
    }

    /// Asserts that the machine sent exactly these lines.
    pub fn expect_lines(&mut self, expected: &[&str]) {
        let heard = self.take_lines();
        if heard != expected {
            self.fail(format!("expected the lines\n{expected:#?}\nand got\n{heard:#?}"));
        }
    }

    /// Asserts that the machine raised exactly these events.
    pub fn expect_events(&mut self, expected: &[&str]) {
        let told = self.take_told();
        if told != expected {
            self.fail(format!("expected the events\n{expected:#?}\nand got\n{told:#?}"));
        }
    }

    /// Asserts that the machine sent no line and raised no event.
    pub fn expect_silence(&mut self) {
        self.expect_lines(&[]);
        self.expect_events(&[]);
    }

    /// Asserts that the next line is an error with this id, in JSON, and this code. An empty id
    /// means none.
    pub fn expect_error(&mut self, id: &str, code: i64) -> Value {
        let error = self.hear();
        let found = error.get("id").map_or_else(String::new, Value::to_string);
        if found != id || error["error"]["code"] != code {
            self.fail(format!("expected the error {code} for the id {id} and got {error}"));
        }
        error
    }

    /// Asserts that the next line is a result with this id, in JSON.
    pub fn expect_result(&mut self, id: &str) -> Value {
        let mut answer = self.hear();
        if answer["id"] != parse::value(id) || !answer["result"].is_object() {
            self.fail(format!("expected a result for the id {id} and got {answer}"));
        }
        answer["result"].take()
    }

    /// Asserts that a ping is answered and nothing else happens.
    pub fn expect_alive(&mut self) {
        self.say(r#"{"jsonrpc":"2.0","id":"alive?","method":"ping"}"#);
        self.expect_lines(&[r#"{"jsonrpc":"2.0","id":"alive?","result":{}}"#]);
        self.expect_events(&[]);
    }

    /// Returns the request with this number, which must have been delivered.
    pub fn request(&self, number: u64) -> IncomingId {
        let incoming = number.into();
        if !self.requests.contains(&incoming) {
            self.fail(format!("{incoming} never came"));
        }
        incoming
    }

    /// Calls a method; empty params mean none.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn call(&mut self, method: &str, params: &str) -> Result<CallId, Misuse> {
        self.call_with(method, params, CallOptions::default())
    }

    /// Calls a method with options; empty params mean none.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn call_with(
        &mut self,
        method: &str,
        params: &str,
        options: CallOptions,
    ) -> Result<CallId, Misuse> {
        let done = self.machine.call_raw(self.now, method, parse::params(params).as_ref(), options);
        self.poll();
        done
    }

    /// Cancels a call.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn cancel(&mut self, call: CallId, reason: &str) -> Result<(), Misuse> {
        let done = self.machine.cancel(self.now, call, reason);
        self.poll();
        done
    }

    /// Sends a notification; empty params mean none.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn notify(&mut self, method: &str, params: &str) -> Result<(), Misuse> {
        let done = self.machine.notify_raw(self.now, method, parse::params(params).as_ref());
        self.poll();
        done
    }

    /// Responds to the request with this number.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn respond(&mut self, request: u64, result: &str) -> Result<(), Misuse> {
        let incoming = self.request(request);
        let done = self.machine.respond(self.now, incoming, &parse::raw(result));
        self.poll();
        done
    }

    /// Responds with an error to the request with this number.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn respond_error(&mut self, request: u64, error: &ErrorObject) -> Result<(), Misuse> {
        let incoming = self.request(request);
        let done = self.machine.respond_error(self.now, incoming, error);
        self.poll();
        done
    }

    /// Reports progress of the request with this number.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn progress(&mut self, request: u64, progress: &Progress) -> Result<(), Misuse> {
        let incoming = self.request(request);
        let done = self.machine.progress(self.now, incoming, progress);
        self.poll();
        done
    }

    /// Closes the connection from this side.
    pub fn close(&mut self) {
        self.machine.close(self.now);
        self.poll();
    }

    /// Takes the machine's output and events.
    pub fn poll(&mut self) {
        if self.is_deaf {
            return;
        }
        let outbox = self.machine.outbox();
        let taken = outbox.len();
        self.half.extend_from_slice(outbox.chunk());
        outbox.advance(taken);
        let half = std::mem::take(&mut self.half);
        for line in half.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(line) => self.lines.push_back(String::from_utf8_lossy(line).into_owned()),
                None => self.half = line.to_vec(),
            }
        }
        while let Some(event) = self.machine.poll_event() {
            if let Seen::Request(incoming) = event.seen() {
                self.requests.insert(incoming);
            }
            self.events.push_back(event);
        }
    }

    /// Fails with the whole transcript.
    ///
    /// # Panics
    ///
    /// Always.
    pub fn fail(&self, what: impl Display) -> ! {
        self.machine.breach(what)
    }
}

impl ClientSolo {
    /// Creates a client that has just connected, and takes its `initialize`.
    #[must_use]
    pub fn client(config: client::Config) -> Self {
        Self::new(Stdio::new(Client::new(Instant::ZERO, config)))
    }

    /// Answers `initialize`, takes `initialized` and the event.
    pub fn greet(&mut self, revision: Revision, capabilities: &str) {
        let initialize = self.hear();
        let welcome = json!({"jsonrpc": "2.0", "id": initialize["id"], "result": {
            "protocolVersion": revision.name(),
            "capabilities": parse::value(capabilities),
            "serverInfo": {"name": "s", "version": "1"},
        }});
        self.say(welcome.to_string());
        self.expect_lines(&[r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#]);
        self.expect_events(&[&format!("ready {revision} s 1")]);
    }

    /// Creates a client in a session of this revision with a server of these capabilities. Its next
    /// id is 2.
    #[must_use]
    pub fn ready(config: client::Config, revision: Revision, capabilities: &str) -> Self {
        let mut client = Self::client(config);
        client.greet(revision, capabilities);
        client
    }
}

impl ServerSolo {
    /// Creates a server that waits for a client.
    #[must_use]
    pub fn server(config: server::Config) -> Self {
        Self::new(Stdio::new(Server::new(Instant::ZERO, config)))
    }

    /// Sends `initialize` and `initialized`, takes the response and the event.
    pub fn greet(&mut self, revision: Revision, capabilities: &str) {
        self.say(initialize("0", revision.name(), capabilities));
        let welcome = self.expect_result("0");
        if welcome["protocolVersion"] != revision.name() {
            self.fail(format!("expected {revision} and got {welcome}"));
        }
        self.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.expect_events(&[&format!("ready {revision} c 1")]);
    }

    /// Creates a server in a session of this revision with a client of these capabilities.
    #[must_use]
    pub fn ready(config: server::Config, revision: Revision, capabilities: &str) -> Self {
        let mut server = Self::server(config);
        server.greet(revision, capabilities);
        server
    }

    /// Logs outside of any request.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn log(&mut self, level: Level, data: &str) -> Result<(), Misuse> {
        let done = self.machine.log(self.now, None, level, None, &parse::raw(data));
        self.poll();
        done
    }

    /// Requests input for the request with this number.
    ///
    /// # Errors
    ///
    /// The machine's [`Misuse`].
    pub fn ask(
        &mut self,
        request: u64,
        questions: &[(&str, NeededInput)],
        state: Option<&str>,
    ) -> Result<(), Misuse> {
        let incoming = self.request(request);
        let done = self.machine.request_input(self.now, incoming, questions, state);
        self.poll();
        done
    }
}

/// Returns an `initialize` request with an id and capabilities in JSON.
#[must_use]
pub fn initialize(id: &str, version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}
