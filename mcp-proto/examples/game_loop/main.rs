//! A server inside a game: it is driven once a frame, does a bounded amount of work there, and
//! never waits.
//!
//! Run it with `cargo run --example game_loop -p mcp-proto`. Frames are virtual here, 16 ms each,
//! so that the output is the same every time; a real game passes its own clock. A client in the
//! same program is driven the same way, over two pipes of a few bytes a frame.

mod game;
mod pilot;

use std::collections::VecDeque;
use std::error::Error;
use std::io::{self, Write};
use std::time::Duration;

use bytes::Buf;
use game::{Game, World};
use mcp_proto::{Endpoint, Instant};
use pilot::Pilot;

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
            return Ok(writeln!(
                out,
                "frame {frame:>3}: the ship is at {}, {}",
                world.at, world.sky
            )?);
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
    // Too early is harmless.
    machine.handle_timeout(now);
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
