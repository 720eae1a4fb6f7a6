//! The game: a world, tools that change it, and a server. Some tools respond in a later frame.

use std::error::Error;

use mcp_proto::catalog::{Catalog, Resolved};
use mcp_proto::schema::{CallTool, CallToolResult, Tool};
use mcp_proto::server::{Config, Event, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{ErrorObject, IncomingId, Instant, Misuse, Progress, Raw, Request, Revision};

use crate::{EVENTS_PER_FRAME, Pipe, begin_frame, end_frame};

#[derive(Default)]
pub(crate) struct World {
    pub(crate) at: i64,
    course: i64,
    pub(crate) sky: String,
}

impl World {
    pub(crate) fn step(&mut self) {
        self.at += (self.course - self.at).signum();
    }
}

/// The handler of a tool.
type Handler = fn(&mut World, &CallTool) -> Reply;

enum Reply {
    Now(CallToolResult),
    /// Responds when the ship arrives.
    OnArrival,
}

/// A request that is answered in a later frame.
struct Flight {
    incoming: IncomingId,
    start: i64,
}

pub(crate) struct Game {
    pub(crate) machine: Stdio<Server>,
    commands: Catalog<Handler>,
    flights: Vec<Flight>,
}

impl Game {
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let schema = |text: &str| Raw::from_text(text);
        let mut commands: Catalog<Handler> = Catalog::new();
        let sky = schema(r#"{"type":"object","properties":{"color":{"type":"string"}}}"#)?;
        commands.add_tool(Tool::new("paint_sky", sky), paint_sky)?;
        let course = schema(r#"{"type":"object","properties":{"to":{"type":"integer"}}}"#)?;
        commands.add_tool(Tool::new("fly", course), fly)?;
        let config = Config::new("game", "1.0.0").capabilities(commands.capabilities());
        let machine = Stdio::new(Server::new(Instant::ZERO, config));
        Ok(Self { machine, commands, flights: Vec::new() })
    }

    pub(crate) fn frame(
        &mut self,
        now: Instant,
        from: &mut Pipe,
        to: &mut Pipe,
        world: &mut World,
    ) -> Result<(), Box<dyn Error>> {
        begin_frame(now, &mut self.machine, from);
        for _ in 0..EVENTS_PER_FRAME {
            match self.machine.poll_event() {
                Some(Event::Request { incoming, request, context }) => {
                    self.on_request(now, incoming, &request, context.peer.revision, world)?;
                }
                Some(Event::RequestCancelled { incoming, .. }) => {
                    world.course = world.at;
                    self.flights.retain(|flight| flight.incoming != incoming);
                }
                Some(_) => {}
                None => break,
            }
        }
        for flight in &self.flights {
            // Fails harmlessly if the client has cancelled and the event is due in the next frame.
            if world.at == world.course {
                let arrived = CallToolResult::text(format!("arrived at {}", world.at));
                let _ignored = self.machine.respond(now, flight.incoming, &arrived);
            } else {
                let flown = (world.at - flight.start).unsigned_abs() as f64;
                let whole = (world.course - flight.start).unsigned_abs() as f64;
                let progress = Progress::new(flown).with_total(whole);
                let _ignored = self.machine.progress(now, flight.incoming, &progress);
            }
        }
        self.flights.retain(|_| world.at != world.course);
        end_frame(&mut self.machine, to);
        Ok(())
    }

    fn on_request(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        request: &Request,
        revision: Revision,
        world: &mut World,
    ) -> Result<(), Box<dyn Error>> {
        let machine = &mut self.machine;
        let responded = match self.commands.lookup(request, revision) {
            Ok(Resolved::Answer(answer)) => machine.respond(now, incoming, &answer),
            Ok(Resolved::Tool { handler, call, .. }) => match handler(world, &call) {
                Reply::Now(result) => machine.respond(now, incoming, &result),
                Reply::OnArrival => {
                    self.flights.push(Flight { incoming, start: world.at });
                    Ok(())
                }
            },
            Ok(_) => machine.respond_error(
                now,
                incoming,
                &ErrorObject::method_not_found(&request.method),
            ),
            Err(error) => machine.respond_error(now, incoming, &error),
        };
        match responded {
            Ok(()) | Err(Misuse::Stale) => Ok(()),
            Err(misuse) => Err(misuse.into()),
        }
    }
}

fn argument(call: &CallTool, name: &str) -> Option<Raw> {
    call.arguments.as_ref()?.member(name)
}

fn paint_sky(world: &mut World, call: &CallTool) -> Reply {
    match argument(call, "color").and_then(|color| Some(color.to_text()?.into_owned())) {
        Some(color) => world.sky = format!("under a {color} sky"),
        None => return Reply::Now(CallToolResult::error("which color?")),
    }
    Reply::Now(CallToolResult::text(format!("you are {}", world.sky)))
}

fn fly(world: &mut World, call: &CallTool) -> Reply {
    match argument(call, "to").and_then(|to| to.parse().ok()) {
        Some(to) => world.course = to,
        None => return Reply::Now(CallToolResult::error("where to?")),
    }
    Reply::OnArrival
}
