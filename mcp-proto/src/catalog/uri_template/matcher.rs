//! Runs a compiled template over a URI, as a backtracking-free virtual machine.
//!
//! All possible matches advance in lockstep as threads, in order of preference; the first thread
//! that reaches the end wins. Each instruction is visited at most once per character.

use alloc::vec::Vec;

use super::chars::{self, UriChar};
use super::compile::{Instruction, Program, Span};

/// The value of an unset slot.
const UNSET: usize = usize::MAX;

/// How reserved characters are read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Reading {
    /// Literal ones only where expansions write them.
    Strict,
    /// Literal ones also where expansions write encoded ones.
    Lenient,
    /// Literal and encoded ones do not differ in literals.
    Decoded,
    /// Literal and encoded ones do not differ, and values may contain all of them.
    Anywhere,
}

impl Program {
    /// Matches all of `uri` and returns the span of each variable. Adds the number of visited
    /// instructions to `work`.
    ///
    /// First accepts reserved characters only where expansions write them, then anywhere.
    pub(super) fn run(&self, uri: &str, work: &mut usize) -> Option<Vec<Span>> {
        let strictly = self.run_as(uri, Reading::Strict, work);
        strictly.or_else(|| self.run_as(uri, Reading::Lenient, work))
    }

    /// Returns whether all of `uri` matches if encoded reserved characters do not differ from
    /// literal ones: those of a URI that encodes some may then be anywhere.
    pub(super) fn matches_decoded(&self, uri: &str) -> bool {
        let is_encoding = chars::encodes_reserved(uri);
        let reading = if is_encoding { Reading::Anywhere } else { Reading::Decoded };
        self.run_as(uri, reading, &mut 0).is_some()
    }

    fn run_as(&self, uri: &str, reading: Reading, work: &mut usize) -> Option<Vec<Span>> {
        let mut matcher = Matcher::new(self, work);
        let mut current = Threads::new(self);
        let mut next = Threads::new(self);
        matcher.add_thread(0, 0, &mut current);
        let mut rest = uri;
        while !rest.is_empty() {
            let unit = chars::pop_front(&mut rest)?;
            let at = uri.len() - rest.len();
            next.clear();
            for (thread, position) in current.positions.iter().enumerate() {
                if matcher.accepts(*position, unit, reading) {
                    matcher.slots.clear();
                    matcher.slots.extend_from_slice(current.slots(thread)?);
                    matcher.add_thread(position + 1, at, &mut next);
                }
            }
            core::mem::swap(&mut current, &mut next);
            if current.positions.is_empty() {
                return None;
            }
        }
        let end = current.positions.iter().position(|position| {
            matches!(self.instructions.get(*position), Some(Instruction::End))
        })?;
        Some(spans(current.slots(end)?))
    }
}

fn spans(slots: &[usize]) -> Vec<Span> {
    let span = |pair: &[usize]| match *pair {
        [start, end] if start != UNSET && end != UNSET => Some(start..end),
        _ => None,
    };
    slots.chunks(2).map(span).collect()
}

/// The threads after a prefix of the URI: the current instruction of each, best first, and its
/// slots.
struct Threads {
    positions: Vec<usize>,
    saved: Vec<usize>,
    slots: usize,
    /// The round in which each instruction was last added.
    seen: Vec<usize>,
    round: usize,
}

impl Threads {
    fn new(program: &Program) -> Self {
        let seen = alloc::vec![0; program.instructions.len()];
        Self { positions: Vec::new(), saved: Vec::new(), slots: program.slots, seen, round: 1 }
    }

    fn clear(&mut self) {
        self.positions.clear();
        self.saved.clear();
        self.round += 1;
    }

    fn slots(&self, thread: usize) -> Option<&[usize]> {
        self.saved.get(thread * self.slots..(thread + 1) * self.slots)
    }

    /// Marks the instruction as added; returns whether it is new in this round.
    fn visit_once(&mut self, position: usize) -> bool {
        self.seen
            .get_mut(position)
            .is_some_and(|seen| core::mem::replace(seen, self.round) != self.round)
    }
}

/// A pending step in the search for instructions that consume a character.
enum Pending {
    Visit(usize),
    Restore { slot: usize, saved: usize },
}

struct Matcher<'a> {
    program: &'a Program,
    /// The slots of the current thread.
    slots: Vec<usize>,
    pending: Vec<Pending>,
    work: &'a mut usize,
}

impl<'a> Matcher<'a> {
    fn new(program: &'a Program, work: &'a mut usize) -> Self {
        Self { program, slots: alloc::vec![UNSET; program.slots], pending: Vec::new(), work }
    }

    fn accepts(&mut self, position: usize, unit: UriChar, reading: Reading) -> bool {
        *self.work += 1;
        match self.program.instructions.get(position) {
            Some(Instruction::Literal(literal)) => match reading {
                Reading::Strict | Reading::Lenient => literal.matches(unit),
                Reading::Decoded | Reading::Anywhere => literal.char == unit.char,
            },
            Some(Instruction::Value(class)) => match reading {
                Reading::Strict => class.contains(unit, true),
                Reading::Lenient | Reading::Decoded => class.contains(unit, false),
                Reading::Anywhere => true,
            },
            _ => false,
        }
    }

    /// Adds the consuming instructions reachable from `position`, at byte `at` of the URI.
    fn add_thread(&mut self, position: usize, at: usize, threads: &mut Threads) {
        self.pending.push(Pending::Visit(position));
        while let Some(next) = self.pending.pop() {
            match next {
                Pending::Restore { slot, saved } => {
                    self.save(slot, saved);
                }
                Pending::Visit(position) if threads.visit_once(position) => {
                    self.visit(position, at, threads);
                }
                Pending::Visit(_) => {}
            }
        }
    }

    fn visit(&mut self, position: usize, at: usize, threads: &mut Threads) {
        *self.work += 1;
        match self.program.instructions.get(position) {
            Some(Instruction::Jump(to)) => self.pending.push(Pending::Visit(*to)),
            Some(Instruction::Split(first, second)) => {
                self.pending.push(Pending::Visit(*second));
                self.pending.push(Pending::Visit(*first));
            }
            Some(Instruction::Save(slot)) => {
                let saved = self.save(*slot, at);
                self.pending.push(Pending::Restore { slot: *slot, saved });
                self.pending.push(Pending::Visit(position + 1));
            }
            Some(Instruction::Value(_) | Instruction::Literal(_) | Instruction::End) => {
                threads.positions.push(position);
                threads.saved.extend_from_slice(&self.slots);
            }
            None => {}
        }
    }

    fn save(&mut self, slot: usize, at: usize) -> usize {
        self.slots.get_mut(slot).map_or(UNSET, |value| core::mem::replace(value, at))
    }
}
