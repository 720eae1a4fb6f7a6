//! The daemon: one server per connection, a shared catalog of tools, and timers.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mcp_proto::catalog::{Catalog, Resolved};
use mcp_proto::schema::{CallTool, CallToolResult, Tool};
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    Endpoint, ErrorObject, IncomingId, Instant, Limits, Misuse, Raw, Request, Revision,
};

use super::connection::Connection;

/// The handler of a tool, which answers immediately, later or never.
type Handler = fn(&CallTool) -> Answer;

enum Answer {
    After(Duration, String),
    Never,
    Now(String),
}

/// Delayed answers by time, connection and request. Neither connection numbers nor request ids are
/// reused.
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
        // Stop reading from a client with this many unread bytes.
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

    /// Returns the time of the next delayed answer.
    pub(crate) fn timer(&self) -> Option<Instant> {
        self.timers.keys().next().map(|(at, ..)| *at)
    }

    pub(crate) fn connections(&mut self) -> impl Iterator<Item = &mut Connection<dyn Endpoint>> {
        self.connections.values_mut().map(|connection| connection as _)
    }

    /// Sends due answers and handles all events.
    pub(crate) fn process(
        &mut self,
        now: Instant,
        out: &mut dyn Write,
    ) -> Result<(), Box<dyn Error>> {
        while let Some(timer) = self.timers.first_entry().filter(|timer| timer.key().0 <= now) {
            let ((_, number, incoming), text) = timer.remove_entry();
            if let Some(connection) = self.connections.get_mut(&number) {
                // Fails if the client has cancelled the request.
                let _ignored =
                    connection.machine.respond(now, incoming, &CallToolResult::text(text));
            }
        }
        for (number, connection) in &mut self.connections {
            let machine = &mut connection.machine;
            while let Some(event) = machine.poll_event() {
                match event {
                    Event::Request { incoming, request, context } => {
                        let revision = context.peer.revision;
                        match respond(&self.tools, machine, now, incoming, &request, revision) {
                            Ok(Some((wait, text))) => {
                                self.timers.insert((now + wait, *number, incoming), text);
                            }
                            // `Stale`: the client has cancelled the request.
                            Ok(None) | Err(Misuse::Stale) => {}
                            Err(misuse) => return Err(misuse.into()),
                        }
                    }
                    Event::RequestCancelled { incoming, reason } => {
                        let reason = reason.unwrap_or_default();
                        writeln!(
                            out,
                            "daemon: {incoming} of connection {number} was cancelled: {reason}"
                        )?;
                        self.timers
                            .retain(|(_, of, request), _| (*of, *request) != (*number, incoming));
                    }
                    Event::Closed(why) => {
                        let (queued, pauses) = (connection.queued_max, connection.pauses);
                        writeln!(
                            out,
                            "daemon: {why}; at most {queued} bytes queued, {pauses} pauses"
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

/// Answers a request, or returns the delay and the text of a delayed answer.
fn respond(
    tools: &Catalog<Handler>,
    machine: &mut Stdio<Server>,
    now: Instant,
    incoming: IncomingId,
    request: &Request,
    revision: Revision,
) -> Result<Option<(Duration, String)>, Misuse> {
    match tools.lookup(request, revision) {
        Ok(Resolved::Answer(answer)) => machine.respond(now, incoming, &answer)?,
        Ok(Resolved::Tool { handler, call, .. }) => match handler(&call) {
            Answer::After(wait, text) => return Ok(Some((wait, text))),
            Answer::Never => {}
            Answer::Now(text) => machine.respond(now, incoming, &CallToolResult::text(text))?,
        },
        Ok(_) => {
            machine.respond_error(
                now,
                incoming,
                &ErrorObject::method_not_found(&request.method),
            )?;
        }
        Err(error) => machine.respond_error(now, incoming, &error)?,
    }
    Ok(None)
}
