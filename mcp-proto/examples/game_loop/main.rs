//! A server inside a game: driven once per frame, with a bounded amount of work and no blocking.
//!
//! Run it with `cargo run --example game_loop -p mcp-proto`. Frames are virtual, 16 ms each, so the
//! output is reproducible; a real game passes its own clock. The client is driven once per frame,
//! too, over two pipes that transfer a few bytes per frame.

mod game;
mod pilot;

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use game::{Game, World};
use mcp_proto::{Endpoint, Instant};
use pilot::Pilot;

const FRAME: Duration = Duration::from_millis(16);
/// The limits of the protocol work per frame, so that drawing is never late.
const BYTES_PER_FRAME: usize = 256;
const EVENTS_PER_FRAME: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    run(&mut io::stdout().lock())
}

/// The game loop. A real one would draw and wait for the next frame.
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
            return Ok(writeln!(
                out,
                "frame {frame:>3}: the ship is at {}, {}",
                world.at, world.sky
            )?);
        }
    }
    Ok(())
}

// ---- The driver: runs once per frame, for either role. ----

/// A pipe that behaves like a nonblocking socket.
#[derive(Default)]
struct Pipe {
    bytes: VecDeque<u8>,
    is_shut: bool,
}

/// Handles input and timeouts. Excess bytes wait for the next frame.
fn begin_frame(now: Instant, machine: &mut impl Endpoint, from: &mut Pipe) {
    if machine.wants_input() {
        let count = from.bytes.len().min(BYTES_PER_FRAME);
        let bytes: Vec<u8> = from.bytes.drain(..count).collect();
        machine.handle_input(now, &bytes);
    }
    if from.is_shut && from.bytes.is_empty() && !machine.is_closed() {
        machine.handle_eof(now);
    }
    // An early call is harmless.
    machine.handle_timeout(now);
}

/// Sends as many bytes as fit into the pipe.
fn end_frame(machine: &mut impl Endpoint, to: &mut Pipe) {
    let room = BYTES_PER_FRAME.saturating_sub(to.bytes.len());
    let outbox = machine.outbox();
    let count = outbox.chunk().len().min(room);
    to.bytes.extend(&outbox.chunk()[..count]);
    outbox.advance(count);
    to.is_shut = outbox.is_empty() && machine.is_closed();
}

#[test]
fn the_ship_flies_and_stops_when_cancelled() {
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
    // The cancellation stopped the ship on its way back.
    let last = text.lines().last().unwrap();
    let at: i64 = last.split(['t', ',']).find_map(|part| part.trim().parse().ok()).unwrap();
    assert!((1..=15).contains(&at), "{last}");
    let mut second = Vec::new();
    run(&mut second).unwrap();
    assert_eq!(text.as_bytes(), second);
}
