//! Golden transcripts: scenarios with their expected output, as text files.
//!
//! A file starts with the configuration of the machine, followed by the steps:
//!
//! ```text
//! # A comment.
//! role: server                       or client
//! name: weather 1.0.0
//! capabilities: Tools Logging
//! revisions: 2025-03-26 2025-06-18   all legacy ones, if left out
//! limits: message_bytes_max=64 ping_every=5s
//! policy: Close                      or Ignore, or Reply
//! serve: x/method
//! expect: Legacy                     or Modern: the era that the client expects of its server
//!
//! > {"jsonrpc":"2.0", …}             a line comes in
//! >> half a line\xFF                 bytes come in, with \n \r \t \\ and \xNN
//! < {"jsonrpc":"2.0", …}             a line must go out
//! ! ready 2025-06-18 demo 1.0.0      an event must be polled
//! @ call tools/list +progress {}     the application acts
//! = call#2                           the outcome: a call, or a misuse; omitted for success
//! + 60s                              time passes; with 0s, later steps may answer earlier output
//! eof                                the peer closes the connection
//! ```
//!
//! Expected output follows the step that causes it. Comments and empty lines may precede a step.

use std::fs;
use std::path::{Path, PathBuf};

use mcp_proto::client::{self, Client};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{Era, Instant, Limits, Revision, Side, ViolationPolicy};

use crate::check::Checked;
use crate::diff::diff;
use crate::parse;
use crate::player::Player;
use crate::recorded::assert_replays;
use crate::role::Role;
use crate::script::{
    Cut, Play, Polls, Script, Step, assert_chunk_free, assert_deterministic, assert_order_free,
};

/// One golden transcript.
#[derive(Clone, Debug)]
pub struct Golden {
    /// The path of the file.
    pub path: PathBuf,
    /// The role of the machine.
    pub side: Side,
    /// The steps.
    pub script: Script,
    config: Config,
    /// Each step as it is written, and its expected output.
    steps: Vec<(String, Shown)>,
    /// The lines before the first step.
    head: Vec<String>,
    /// Comments before the next step.
    words: String,
}

#[derive(Clone, Debug)]
struct Config {
    name: (String, String),
    capabilities: Vec<mcp_proto::Capability>,
    revisions: Vec<Revision>,
    limits: Limits,
    policy: Option<ViolationPolicy>,
    serve: Vec<String>,
    expect: Option<Era>,
}

/// The output of one step.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Shown {
    done: Option<String>,
    lines: Vec<String>,
    events: Vec<String>,
}

impl Golden {
    /// Reads a transcript.
    ///
    /// # Panics
    ///
    /// If the file cannot be read or is malformed.
    #[must_use]
    pub fn load(path: &Path) -> Self {
        let text =
            fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(path, &text)
    }

    /// Reads all transcripts of a directory, in the order of their names.
    ///
    /// # Panics
    ///
    /// If one cannot be read.
    #[must_use]
    pub fn load_all(directory: &Path) -> Vec<Self> {
        let entries = fs::read_dir(directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
            .collect();
        paths.sort();
        paths.iter().map(|path| Self::load(path)).collect()
    }

    /// Parses a transcript.
    ///
    /// # Panics
    ///
    /// If the text is malformed.
    #[must_use]
    pub fn parse(path: &Path, text: &str) -> Self {
        let mut golden = Self {
            path: path.to_owned(),
            side: Side::Server,
            script: Script::default(),
            config: Config {
                name: ("s".into(), "1".into()),
                capabilities: Vec::new(),
                revisions: Revision::LEGACY.to_vec(),
                limits: Limits::default(),
                policy: None,
                serve: Vec::new(),
                expect: None,
            },
            // The output before the first step belongs to an empty step.
            steps: vec![(String::new(), Shown::default())],
            head: Vec::new(),
            words: String::new(),
        };
        let mut in_head = true;
        for line in text.lines() {
            let is_setting =
                line.split_once(": ").is_some_and(|(key, _)| key.chars().all(char::is_alphabetic));
            in_head &= line.is_empty() || line.starts_with('#') || is_setting;
            if in_head {
                golden.head.push(line.to_owned());
                golden.setting(line);
            } else {
                golden.line(line);
            }
        }
        golden
    }

    /// Replays the transcript unchanged; then with every split point of its input, byte by byte and
    /// at random; then in other poll orders. With `MCP_HARNESS_BLESS` set, rewrites the file with
    /// the actual output instead.
    ///
    /// # Panics
    ///
    /// If the output differs from the file, or two ways of replaying differ.
    pub fn assert(&self) {
        match self.side {
            Side::Client => {
                self.assert_as(|| Stdio::new(Client::new(Instant::ZERO, self.client())));
            }
            Side::Server => {
                self.assert_as(|| Stdio::new(Server::new(Instant::ZERO, self.server())));
            }
        }
    }

    /// Plays the transcript on a recorded machine, and replays the recording.
    ///
    /// # Panics
    ///
    /// If the replay differs.
    pub fn assert_replays(&self) {
        match self.side {
            Side::Client => {
                assert_replays(
                    || Stdio::new(Client::new(Instant::ZERO, self.client())),
                    &self.script,
                );
            }
            Side::Server => {
                assert_replays(
                    || Stdio::new(Server::new(Instant::ZERO, self.server())),
                    &self.script,
                );
            }
        }
    }

    /// Replays the transcript unchanged, and returns the difference between actual and expected
    /// output, if any.
    #[must_use]
    pub fn mismatch(&self) -> Option<String> {
        let shown = match self.side {
            Side::Client => self.replay(Stdio::new(Client::new(Instant::ZERO, self.client()))),
            Side::Server => self.replay(Stdio::new(Server::new(Instant::ZERO, self.server()))),
        };
        let expected = self.render(self.steps.iter().map(|(_, shown)| shown));
        let actual = self.render(shown.iter());
        (expected != actual).then(|| diff(&expected, &actual))
    }

    fn assert_as<R: Role>(&self, machine: impl Fn() -> R) {
        if std::env::var_os("MCP_HARNESS_BLESS").is_some() {
            let shown = self.replay(machine());
            let text: Vec<String> =
                self.head.iter().cloned().chain(self.render(shown.iter())).collect();
            let written = fs::write(&self.path, text.join("\n") + "\n");
            written.unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
            return;
        }
        if let Some(mismatch) = self.mismatch() {
            panic!("{} (- expected, + shown):\n{mismatch}", self.path.display());
        }
        assert_chunk_free(&machine, &self.script);
        assert_order_free(&machine, &self.script);
        assert_deterministic(&machine, &self.script);
    }

    fn replay<R: Role>(&self, machine: R) -> Vec<Shown> {
        let way = Play { cut: Cut::Steps, polls: Polls::OutboxFirst };
        let mut player = Player::new(Checked::new(machine), way);
        player.machine.label(self.path.display());
        let mut shown = Vec::new();
        player.poll();
        shown.push(take_shown(&mut player));
        for step in &self.script.steps {
            player.step(step);
            shown.push(take_shown(&mut player));
        }
        shown
    }

    fn render<'a>(&'a self, shown: impl Iterator<Item = &'a Shown>) -> Vec<String> {
        let mut out = Vec::new();
        for ((step, _), shown) in self.steps.iter().zip(shown) {
            if !step.is_empty() {
                out.push(step.clone());
            }
            out.extend(shown.done.iter().map(|done| format!("= {done}")));
            out.extend(shown.lines.iter().map(|line| format!("< {line}")));
            out.extend(shown.events.iter().map(|event| format!("! {event}")));
        }
        out
    }

    fn client(&self) -> client::Config {
        let Config {
            name: (name, version),
            capabilities,
            revisions,
            limits,
            policy,
            serve,
            expect,
        } = &self.config;
        let mut config =
            client::Config::new(name, version).revisions(revisions).limits(limits.clone());
        config =
            capabilities.iter().fold(config, |config, capability| config.capability(*capability));
        config = serve.iter().fold(config, |config, method| config.serve_method(method));
        config = expect.iter().fold(config, |config, era| config.expect_era(*era));
        policy.map_or_else(|| config.clone(), |policy| config.clone().on_violation(policy))
    }

    fn server(&self) -> server::Config {
        let Config {
            name: (name, version), capabilities, revisions, limits, policy, serve, ..
        } = &self.config;
        let mut config =
            server::Config::new(name, version).revisions(revisions).limits(limits.clone());
        config =
            capabilities.iter().fold(config, |config, capability| config.capability(*capability));
        config = serve.iter().fold(config, |config, method| config.serve_method(method));
        policy.map_or_else(|| config.clone(), |policy| config.clone().on_violation(policy))
    }

    fn setting(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(": ").filter(|_| !line.starts_with('#')) else {
            return;
        };
        let value = value.trim();
        match key {
            "role" if value == "client" => self.side = Side::Client,
            "role" if value == "server" => self.side = Side::Server,
            "name" => {
                let (name, version) = parse::word(value);
                self.config.name = (name.into(), version.into());
            }
            "capabilities" => {
                self.config.capabilities =
                    value.split_whitespace().map(parse::capability).collect();
            }
            "revisions" => self.config.revisions = parse::revisions(value),
            "limits" => {
                value
                    .split_whitespace()
                    .for_each(|setting| parse::limit(&mut self.config.limits, setting));
            }
            "policy" => {
                self.config.policy = Some(match value {
                    "Close" => ViolationPolicy::Close,
                    "Ignore" => ViolationPolicy::Ignore,
                    "Reply" => ViolationPolicy::Reply,
                    _ => panic!("{}: no such policy: {value}", self.path.display()),
                });
            }
            "expect" => {
                self.config.expect = Some(match value {
                    "Legacy" => Era::Legacy,
                    "Modern" => Era::Modern,
                    _ => panic!("{}: no such era: {value}", self.path.display()),
                });
            }
            "serve" => self.config.serve = value.split_whitespace().map(Into::into).collect(),
            _ => panic!("{}: no such setting: {line}", self.path.display()),
        }
    }

    fn line(&mut self, line: &str) {
        let step = match line.split_once(' ').unwrap_or((line, "")) {
            (">", text) => Step::Input(format!("{text}\n").into_bytes()),
            (">>", text) => Step::Input(parse::bytes(text)),
            ("@", text) => Step::Apply(parse::command(text)),
            ("+", text) => Step::Wait(parse::duration(text)),
            ("eof", "") => Step::Eof,
            (mark @ ("<" | "!" | "="), text) => {
                if let Some((_, shown)) = self.steps.last_mut() {
                    match mark {
                        "<" => shown.lines.push(text.into()),
                        "!" => shown.events.push(text.into()),
                        _ => shown.done = Some(text.into()),
                    }
                }
                return;
            }
            ("" | "#", _) => {
                self.words.push_str(line);
                self.words.push('\n');
                return;
            }
            _ => panic!("{}: not in the format: {line}", self.path.display()),
        };
        self.script.steps.push(step);
        let words = std::mem::take(&mut self.words);
        self.steps.push((words + line, Shown::default()));
    }
}

/// Takes the output since the last call.
fn take_shown<R: Role>(player: &mut Player<R>) -> Shown {
    let done = player.trace.done.pop();
    Shown {
        done: done.and_then(|done| match done {
            Ok(applied) => applied.call().map(|call| call.to_string()),
            Err(misuse) => Some(format!("{misuse:?}")),
        }),
        lines: std::mem::take(&mut player.trace.lines),
        events: std::mem::take(&mut player.told),
    }
}
