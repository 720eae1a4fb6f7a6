//! The server's side: one machine for each connection, one catalogue for all of them, and timers of
//! the daemon's own.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mcp_proto::catalog::{Catalog, Found};
use mcp_proto::schema::{CallTool, CallToolResult, Tool};
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    Endpoint, ErrorObject, IncomingId, Instant, Limits, Misuse, Raw, Request, Revision,
};

use super::connection::{Connection, Link};

/// Handlers are functions here: a tool answers at once, at a later time, or never.
type Handler = fn(&CallTool) -> Answer;

enum Answer {
    After(Duration, String),
    Never,
    Now(String),
}

/// When to answer whom with what. The connection's number is not used again, and neither is the
/// request's.
type Timers = BTreeMap<(Instant, u64, IncomingId), String>;

pub(crate) struct Daemon {
    tools: Catalog<Handler>,
    connections: BTreeMap<u64, Connection<Stdio<Server>>>,
    timers: Timers,
    accepted: u64,
}

impl Daemon {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let any = Raw::from_text(r#"{"type":"object"}"#)?;
        let mut tools: Catalog<Handler> = Catalog::new();
        tools.add_tool(Tool::new("timer", any.clone()), |call| {
            let wait = call.arguments.as_ref().and_then(|arguments| arguments.member("ms"));
            let wait: u32 = wait.and_then(|wait| wait.parse().ok()).unwrap_or(0);
            Answer::After(Duration::from_millis(wait.into()), format!("{wait} ms have passed"))
        })?;
        tools.add_tool(Tool::new("bulk", any.clone()), |_| {
            Answer::Now("0123456789abcdef".repeat(1024))
        })?;
        tools.add_tool(Tool::new("never", any), |_| Answer::Never)?;
        Ok(Self { tools, connections: BTreeMap::new(), timers: Timers::new(), accepted: 0 })
    }

    pub(crate) fn accept(
        &mut self,
        now: Instant,
        socket: UnixStream,
    ) -> Result<(), Box<dyn Error>> {
        // Whoever has this much to read is not read from.
        let limits = Limits { replies_bytes_max: 64 << 10, ..Limits::default() };
        let config =
            Config::new("clock", "1.0.0").capabilities(self.tools.capabilities()).limits(limits);
        let connection = Connection::new(socket, Stdio::new(Server::new(now, config)))?;
        self.connections.insert(self.accepted, connection);
        self.accepted += 1;
        Ok(())
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.connections.is_empty()
    }

    /// When the daemon itself has something to do.
    pub(crate) fn timer(&self) -> Option<Instant> {
        self.timers.keys().next().map(|(at, ..)| *at)
    }

    pub(crate) fn links(&mut self) -> impl Iterator<Item = &mut dyn Link> {
        self.connections.values_mut().map(|connection| connection as &mut dyn Link)
    }

    /// Does all there is to do now.
    pub(crate) fn act(&mut self, now: Instant, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
        while let Some(timer) = self.timers.first_entry().filter(|timer| timer.key().0 <= now) {
            let ((_, number, incoming), text) = timer.remove_entry();
            if let Some(connection) = self.connections.get_mut(&number) {
                // Whoever cancelled, or is gone, wants no answer.
                let _stale = connection.machine.respond(now, incoming, &CallToolResult::text(text));
            }
        }
        for (number, connection) in &mut self.connections {
            let machine = &mut connection.machine;
            while let Some(event) = machine.poll_event() {
                match event {
                    Event::Request { incoming, request, context } => {
                        let revision = context.peer.revision;
                        match answer(&self.tools, machine, now, incoming, &request, revision) {
                            Ok(Some((wait, text))) => {
                                self.timers.insert((now + wait, *number, incoming), text);
                            }
                            // Whoever cancelled, or is gone, wants no answer.
                            Ok(None) | Err(Misuse::Stale) => {}
                            Err(misuse) => return Err(misuse.into()),
                        }
                    }
                    Event::RequestCancelled { incoming, reason } => {
                        let reason = reason.unwrap_or_default();
                        writeln!(
                            out,
                            "daemon: {incoming} of {number} is not wanted any more: {reason}"
                        )?;
                        self.timers
                            .retain(|(_, of, request), _| (*of, *request) != (*number, incoming));
                    }
                    Event::Closed(why) => {
                        let (waited, pauses) = (connection.waited_max, connection.pauses);
                        writeln!(
                            out,
                            "daemon: {why}; {waited} bytes waited at most, {pauses} pauses"
                        )?;
                    }
                    _ => {}
                }
            }
        }
        self.connections.retain(|_, connection| !connection.is_over());
        Ok(())
    }
}

/// Answers a request, unless that has to wait.
fn answer(
    tools: &Catalog<Handler>,
    machine: &mut Stdio<Server>,
    now: Instant,
    incoming: IncomingId,
    request: &Request,
    revision: Revision,
) -> Result<Option<(Duration, String)>, Misuse> {
    match tools.find(request, revision) {
        Ok(Found::Answer(answer)) => machine.respond(now, incoming, &answer)?,
        Ok(Found::Tool { handler, call, .. }) => match handler(&call) {
            Answer::After(wait, text) => return Ok(Some((wait, text))),
            Answer::Never => {}
            Answer::Now(text) => machine.respond(now, incoming, &CallToolResult::text(text))?,
        },
        Ok(_) => {
            machine.respond_error(now, incoming, &ErrorObject::method_not_found(&request.method))?
        }
        Err(error) => machine.respond_error(now, incoming, &error)?,
    }
    Ok(None)
}
