//! A driver that respects a machine's back-pressure, with an application as slow as allowed.

use std::fmt;

use bytes::Buf;
use mcp_memory_tests::{counted, peak, restart};
use mcp_proto::{Instant, Limits, RoleEndpoint};

/// Whether the peer reads what it is sent.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Peer {
    Deaf,
    Reads,
}

/// A flood: its name, the bytes accepted, and the most bytes held.
type Row = (String, u64, usize);

/// The outcome of each flood.
pub struct Report {
    pub limits: Limits,
    /// The number of lines in a flood of short lines.
    pub lines: u64,
    /// The number of bytes in a flood of long lines.
    bytes: u64,
    rows: Vec<Row>,
}

impl Report {
    pub fn new(limits: &Limits, lines: u64, bytes: u64) -> Self {
        Self { limits: limits.clone(), lines, bytes, rows: Vec::new() }
    }

    /// Returns the number of lines of about `bytes` bytes in a flood.
    pub fn of(&self, bytes: usize) -> u64 {
        (self.bytes / bytes.max(1) as u64).clamp(2, 4096)
    }

    /// Floods a machine with lines, in pieces of `Limits::input_bytes_max`, for as long as it
    /// accepts input. Calls `on_event` with the events that are polled to make room.
    pub fn flood<M: RoleEndpoint>(
        &mut self,
        name: &str,
        peer: Peer,
        make: impl FnOnce(Limits) -> M,
        count: u64,
        mut line: impl FnMut(u64, &mut Vec<u8>),
        mut on_event: impl FnMut(&mut M, M::Event),
    ) {
        restart();
        let limits = self.limits.clone();
        let mut machine = counted(|| make(limits));
        let (mut piece, mut taken) = (Vec::new(), 0);
        'flood: for index in 0..count {
            line(index, &mut piece);
            piece.push(b'\n');
            if piece.len() < self.limits.input_bytes_max && index + 1 < count {
                continue;
            }
            for part in piece.chunks(self.limits.input_bytes_max) {
                if !counted(|| machine.wants_input()) {
                    make_room(&mut machine, peer, &mut on_event);
                }
                if !counted(|| machine.wants_input()) {
                    break 'flood;
                }
                counted(|| machine.handle_input(Instant::ZERO, part));
                taken += part.len();
            }
            piece.clear();
        }
        counted(|| machine.handle_eof(Instant::ZERO));
        while let Some(event) = counted(|| machine.poll_event()) {
            counted(|| drop(event));
        }
        self.rows.push((name.to_owned(), taken as u64, peak()));
        counted(|| drop(machine));
    }

    /// # Panics
    /// If a flood was empty or passed `bytes_max`.
    pub fn assert_below(&self, bytes_max: usize) {
        let wrong: Vec<&Row> =
            self.rows.iter().filter(|row| row.1 == 0 || row.2 == 0 || row.2 > bytes_max).collect();
        assert!(
            wrong.is_empty(),
            "nothing came in, or more than {bytes_max} bytes were held: {wrong:#?}"
        );
    }
}

fn make_room<M: RoleEndpoint>(
    machine: &mut M,
    peer: Peer,
    on_event: &mut impl FnMut(&mut M, M::Event),
) {
    while let Some(event) = counted(|| machine.poll_event()) {
        on_event(machine, event);
    }
    if peer == Peer::Reads {
        counted(|| {
            let outbox = machine.outbox();
            outbox.advance(outbox.remaining());
        });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ceiling = self.limits.memory_max();
        writeln!(f, "{:44} {:>12} {:>12} {:>8}", "flood", "bytes in", "peak", "of max")?;
        for (name, taken, peak) in &self.rows {
            let percent = *peak as f64 * 100.0 / ceiling as f64;
            writeln!(f, "{name:44} {taken:>12} {peak:>12} {percent:>7.2}%")?;
        }
        write!(f, "{:44} {:>12} {ceiling:>12}", "ceiling", "")
    }
}
