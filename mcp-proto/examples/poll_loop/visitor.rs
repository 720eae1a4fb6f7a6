//! The clients: each connects, makes all calls of its plan together, prints the results and
//! disconnects.

use std::error::Error;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mcp_proto::client::{Client, Config, Event};
use mcp_proto::schema::{CallTool, CallToolResult, Decode};
use mcp_proto::stdio::Stdio;
use mcp_proto::{CallError, CallOptions, Instant, Raw};

use super::connection::Connection;

pub(crate) struct Plan {
    name: &'static str,
    tool: &'static str,
    arguments: &'static str,
    calls: usize,
    timeout: Option<Duration>,
}

pub(crate) const PLANS: &[Plan] = &[
    Plan { name: "Ada", tool: "timer", arguments: r#"{"ms":30}"#, calls: 1, timeout: None },
    Plan { name: "Bob", tool: "bulk", arguments: "{}", calls: 200, timeout: None },
    Plan {
        name: "Eve",
        tool: "never",
        arguments: "{}",
        calls: 1,
        timeout: Some(Duration::from_millis(50)),
    },
];

pub(crate) struct Visitor {
    pub(crate) connection: Connection<Stdio<Client>>,
    plan: &'static Plan,
    answers: usize,
    bytes: usize,
}

impl Visitor {
    pub(crate) fn new(now: Instant, socket: UnixStream, plan: &'static Plan) -> io::Result<Self> {
        let client = Client::new(now, Config::new(plan.name, "1.0.0"));
        Ok(Self {
            connection: Connection::new(socket, Stdio::new(client))?,
            plan,
            answers: 0,
            bytes: 0,
        })
    }

    /// Handles all events.
    pub(crate) fn process(
        &mut self,
        now: Instant,
        out: &mut dyn Write,
    ) -> Result<(), Box<dyn Error>> {
        let name = self.plan.name;
        while let Some(event) = self.connection.machine.poll_event() {
            match event {
                Event::Ready(peer) => {
                    writeln!(
                        out,
                        "{name}: the daemon is {} {}",
                        peer.info.name, peer.info.version
                    )?;
                    let call = CallTool::new(self.plan.tool)
                        .arguments(Raw::from_text(self.plan.arguments)?);
                    let options =
                        CallOptions { timeout: self.plan.timeout, ..CallOptions::default() };
                    for _ in 0..self.plan.calls {
                        self.connection.machine.call(now, &call, options.clone())?;
                    }
                }
                Event::Completed { outcome, .. } => {
                    self.answers += 1;
                    self.on_outcome(outcome, out)?;
                    if self.answers == self.plan.calls {
                        writeln!(out, "{name}: {} calls, {} bytes", self.answers, self.bytes)?;
                        self.connection.machine.close(now);
                    }
                }
                Event::Closed(why) => writeln!(out, "{name}: {why}")?,
                _ => {}
            }
        }
        Ok(())
    }

    fn on_outcome(
        &mut self,
        outcome: Result<Raw, CallError>,
        out: &mut dyn Write,
    ) -> Result<(), Box<dyn Error>> {
        let name = self.plan.name;
        let result = match outcome {
            Ok(result) => CallToolResult::decode(&result)?,
            Err(error) => return Ok(writeln!(out, "{name}: {error}")?),
        };
        let text = result.content.first().and_then(|content| content.as_text()).unwrap_or_default();
        self.bytes += text.len();
        if self.plan.calls == 1 {
            writeln!(out, "{name}: {text:?}")?;
        }
        Ok(())
    }
}
