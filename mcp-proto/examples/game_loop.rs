//! A server inside a game: it is driven once a frame, does a bounded amount of work there, and never waits.
//!
//! Run it with `cargo run --example game_loop -p mcp-proto`. Frames are virtual here, 16 ms each, so that the output is
//! the same every time; a real game passes its own clock. A client in the same program is driven the same way, over two
//! pipes of a few bytes a frame.

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use bytes::Buf;
use mcp_proto::catalog::{Catalog, Found};
use mcp_proto::client::{self, Client};
use mcp_proto::schema::{CallTool, CallToolResult, Decode, Tool};
use mcp_proto::server::{self, Server};
use mcp_proto::stdio::Stdio;
use mcp_proto::{
    CallId, CallOptions, Endpoint, ErrorObject, IncomingId, Instant, Misuse, Progress, Raw, Request,
};
use serde_json::json;

const FRAME: Duration = Duration::from_millis(16);
/// What a frame spends on the protocol at most, so that drawing is never late.
const BYTES_PER_FRAME: usize = 256;
const EVENTS_PER_FRAME: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

/// The game's loop. Where a real one draws and waits for the next frame, this one only counts.
fn run(out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let mut world = World::default();
    let mut game = Game::new()?;
    let mut pilot = Pilot::new();
    let (mut up, mut down) = (Pipe::default(), Pipe::default());
    for frame in 0_u32.. {
        let now = Instant::ZERO + FRAME * frame;
        world.step();
        game.frame(now, &mut up, &mut down, &mut world)?;
        pilot.frame(now, &mut down, &mut up, |line| writeln!(out, "frame {frame:>3}: {line}"))?;
        if game.machine.is_closed() && pilot.machine.is_closed() {
            return Ok(writeln!(out, "frame {frame:>3}: the ship is at {}, {}", world.at, world.sky)?);
        }
    }
    Ok(())
}

// ---- the driver: one call a frame, for either role ----

/// A pipe that takes and gives what there is, like a socket that does not block.
#[derive(Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    is_shut: bool,
}

/// Takes in what came and what time it is. The rest of the bytes waits for the next frame.
fn begin_frame(now: Instant, machine: &mut impl Endpoint, from: &mut Pipe) {
    if machine.wants_input() {
        let count = from.bytes.len().min(BYTES_PER_FRAME);
        let bytes: Vec<u8> = from.bytes.drain(..count).collect();
        machine.handle_input(now, &bytes);
    }
    if from.is_shut && from.bytes.is_empty() && !machine.is_closed() {
        machine.handle_eof(now);
    }
    if machine.poll_timeout().is_some_and(|deadline| deadline <= now) {
        machine.handle_timeout(now);
    }
}

/// Sends what fits into the pipe.
fn end_frame(machine: &mut impl Endpoint, to: &mut Pipe) {
    let room = BYTES_PER_FRAME.saturating_sub(to.bytes.len());
    let outbox = machine.outbox();
    let count = outbox.chunk().len().min(room);
    to.bytes.extend(&outbox.chunk()[..count]);
    outbox.advance(count);
    to.is_shut = outbox.is_empty() && machine.is_closed();
}

// ---- the game ----

#[derive(Default)]
struct World {
    at: i64,
    course: i64,
    sky: String,
}

impl World {
    fn step(&mut self) {
        self.at += (self.course - self.at).signum();
    }
}

/// What a tool does to the world.
type Command = fn(&mut World, &CallTool) -> Reply;

enum Reply {
    Now(CallToolResult),
    /// Once the ship is there.
    OnArrival,
}

/// Requests that are answered in a later frame.
struct Flight {
    incoming: IncomingId,
    start: i64,
}

struct Game {
    machine: Stdio<Server>,
    commands: Catalog<Command>,
    flights: Vec<Flight>,
}

impl Game {
    fn new() -> Result<Self, Box<dyn Error>> {
        let schema = |text: &str| Raw::from_text(text);
        let mut commands: Catalog<Command> = Catalog::new();
        let sky = schema(r#"{"type":"object","properties":{"color":{"type":"string"}}}"#)?;
        commands.add_tool(Tool::new("paint_sky", sky), paint_sky)?;
        let course = schema(r#"{"type":"object","properties":{"to":{"type":"integer"}}}"#)?;
        commands.add_tool(Tool::new("fly", course), fly)?;
        let config = server::Config::new("game", "1.0.0").capabilities(commands.capabilities());
        let machine = Stdio::new(Server::new(Instant::ZERO, config));
        Ok(Self { machine, commands, flights: Vec::new() })
    }

    fn frame(
        &mut self,
        now: Instant,
        from: &mut Pipe,
        to: &mut Pipe,
        world: &mut World,
    ) -> Result<(), Box<dyn Error>> {
        begin_frame(now, &mut self.machine, from);
        for _ in 0..EVENTS_PER_FRAME {
            match self.machine.poll_event() {
                Some(server::Event::Request { incoming, request, context }) => {
                    self.command(now, incoming, &request, context.peer.revision, world)?;
                }
                Some(server::Event::RequestCancelled { incoming, .. }) => {
                    world.course = world.at;
                    self.flights.retain(|flight| flight.incoming != incoming);
                }
                Some(_) => {}
                None => break,
            }
        }
        for flight in &self.flights {
            // Whoever asked may have cancelled, and the event of it waits for the next frame: then both fail, and
            // nothing is lost.
            if world.at == world.course {
                let arrived = CallToolResult::text(format!("arrived at {}", world.at));
                let _stale = self.machine.respond(now, flight.incoming, &arrived);
            } else {
                let flown = (world.at - flight.start).unsigned_abs() as f64;
                let whole = (world.course - flight.start).unsigned_abs() as f64;
                let progress = Progress::new(flown).of(whole);
                let _stale = self.machine.progress(now, flight.incoming, &progress);
            }
        }
        self.flights.retain(|_| world.at != world.course);
        end_frame(&mut self.machine, to);
        Ok(())
    }

    fn command(
        &mut self,
        now: Instant,
        incoming: IncomingId,
        request: &Request,
        revision: mcp_proto::Revision,
        world: &mut World,
    ) -> Result<(), Box<dyn Error>> {
        let machine = &mut self.machine;
        let answered = match self.commands.find(request, revision) {
            Ok(Found::Answer(answer)) => machine.respond(now, incoming, &answer),
            Ok(Found::Tool { handler, call, .. }) => match handler(world, &call) {
                Reply::Now(result) => machine.respond(now, incoming, &result),
                Reply::OnArrival => {
                    self.flights.push(Flight { incoming, start: world.at });
                    Ok(())
                }
            },
            Ok(_) => machine.respond_error(now, incoming, &ErrorObject::method_not_found(&request.method)),
            Err(error) => machine.respond_error(now, incoming, &error),
        };
        match answered {
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

// ---- the client, driven by the same frames ----

struct Pilot {
    machine: Stdio<Client>,
    /// The last call, and what is left to do after it.
    flight: Option<CallId>,
    legs: u32,
}

impl Pilot {
    fn new() -> Self {
        let config = client::Config::new("pilot", "1.0.0");
        Self { machine: Stdio::new(Client::new(Instant::ZERO, config)), flight: None, legs: 0 }
    }

    fn frame(
        &mut self,
        now: Instant,
        from: &mut Pipe,
        to: &mut Pipe,
        mut say: impl FnMut(String) -> io::Result<()>,
    ) -> Result<(), Box<dyn Error>> {
        begin_frame(now, &mut self.machine, from);
        for _ in 0..EVENTS_PER_FRAME {
            match self.machine.poll_event() {
                Some(client::Event::Ready(peer)) => {
                    say(format!("aboard {} {}", peer.info.name, peer.info.version))?;
                    self.call(now, "paint_sky", &json!({"color": "green"}))?;
                    self.flight = Some(self.call(now, "fly", &json!({"to": 20}))?);
                }
                Some(client::Event::Progress { call, progress }) => {
                    say(format!("flown {} of {}", progress.progress, progress.total.unwrap_or_default()))?;
                    // The second flight is cancelled on the way.
                    if self.legs == 1 && progress.progress >= 5.0 {
                        self.machine.cancel(now, call, "that is far enough")?;
                    }
                }
                Some(client::Event::Completed { call, outcome }) => {
                    match outcome {
                        Ok(result) => {
                            let result = CallToolResult::decode(&result)?;
                            say(result
                                .content
                                .first()
                                .and_then(|text| text.as_text())
                                .unwrap_or("?")
                                .into())?;
                        }
                        Err(error) => say(error.to_string())?,
                    }
                    if self.flight == Some(call) {
                        self.next_leg(now)?;
                    }
                }
                Some(_) => {}
                None => break,
            }
        }
        end_frame(&mut self.machine, to);
        Ok(())
    }

    fn next_leg(&mut self, now: Instant) -> Result<(), Box<dyn Error>> {
        self.legs += 1;
        if self.legs == 1 {
            self.flight = Some(self.call(now, "fly", &json!({"to": 0}))?);
        } else {
            self.machine.close(now);
        }
        Ok(())
    }

    fn call(
        &mut self,
        now: Instant,
        tool: &str,
        arguments: &serde_json::Value,
    ) -> Result<CallId, Box<dyn Error>> {
        let call = CallTool::new(tool).arguments(Raw::new(arguments)?);
        Ok(self.machine.call(now, &call, CallOptions { progress: true, ..CallOptions::default() })?)
    }
}

#[test]
fn the_ship_flies_and_stops_where_it_is_told() {
    let mut out = Vec::new();
    run(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for line in [
        "aboard game 1.0.0",
        "you are under a green sky",
        "flown 10 of 20",
        "arrived at 20",
        "flown 5 of 20",
        "the call was cancelled",
    ] {
        assert!(text.contains(line), "{line:?} is missing in\n{text}");
    }
    // It went back, and the cancellation stopped it on the way.
    let last = text.lines().last().unwrap();
    let at: i64 = last.split(['t', ',']).find_map(|part| part.trim().parse().ok()).unwrap();
    assert!((1..=15).contains(&at), "{last}");
    let mut again = Vec::new();
    run(&mut again).unwrap();
    assert_eq!(text.as_bytes(), again);
}
