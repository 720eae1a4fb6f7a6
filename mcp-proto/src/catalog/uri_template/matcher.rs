//! Running a template's program over a URI: all readings at once, one character after the other,
//! never going back.
//!
//! Knows programs, and nothing of what they stand for. At each character a step of the program is
//! looked at once at most, whatever the URI; readings are kept in order of preference, and the
//! first that comes to the end is taken.

use alloc::vec::Vec;

use super::chars::{self, UriChar};
use super::compile::{Instruction, Program, Span};

/// A slot that notes no place.
const NOWHERE: usize = usize::MAX;

impl Program {
    /// The place of each variable, when all of `uri` matches. Adds what was looked at to `work`.
    ///
    /// What expansions write is looked for first, and only then what people write.
    pub(super) fn run(&self, uri: &str, work: &mut usize) -> Option<Vec<Span>> {
        self.run_as(uri, true, work).or_else(|| self.run_as(uri, false, work))
    }

    fn run_as(&self, uri: &str, strict: bool, work: &mut usize) -> Option<Vec<Span>> {
        let mut machine = Matcher::new(self, work);
        let mut now = Threads::new(self);
        let mut next = Threads::new(self);
        machine.follow(0, 0, &mut now);
        let mut rest = uri;
        while !rest.is_empty() {
            let unit = chars::take(&mut rest)?;
            let at = uri.len() - rest.len();
            next.clear();
            for (reading, place) in now.places.iter().enumerate() {
                if machine.takes(*place, unit, strict) {
                    machine.slots.clear();
                    machine.slots.extend_from_slice(now.slots(reading)?);
                    machine.follow(place + 1, at, &mut next);
                }
            }
            core::mem::swap(&mut now, &mut next);
            if now.places.is_empty() {
                return None;
            }
        }
        let end = now
            .places
            .iter()
            .position(|place| matches!(self.instructions.get(*place), Some(Instruction::End)))?;
        Some(spans(now.slots(end)?))
    }
}

fn spans(slots: &[usize]) -> Vec<Span> {
    let span = |pair: &[usize]| match *pair {
        [start, end] if start != NOWHERE && end != NOWHERE => Some(start..end),
        _ => None,
    };
    slots.chunks(2).map(span).collect()
}

/// Threads of the URI so far: the step that each has come to, best first, and what it noted on the
/// way.
struct Threads {
    places: Vec<usize>,
    noted: Vec<usize>,
    slots: usize,
    /// The round in which each step was last come to.
    seen: Vec<usize>,
    round: usize,
}

impl Threads {
    fn new(program: &Program) -> Self {
        let seen = alloc::vec![0; program.instructions.len()];
        Self { places: Vec::new(), noted: Vec::new(), slots: program.slots, seen, round: 1 }
    }

    fn clear(&mut self) {
        self.places.clear();
        self.noted.clear();
        self.round += 1;
    }

    fn slots(&self, reading: usize) -> Option<&[usize]> {
        self.noted.get(reading * self.slots..(reading + 1) * self.slots)
    }

    /// Whether this round comes to the step for the first time.
    fn is_new(&mut self, place: usize) -> bool {
        self.seen
            .get_mut(place)
            .is_some_and(|seen| core::mem::replace(seen, self.round) != self.round)
    }
}

/// What is left to do on the way to the steps that take a character.
enum Task {
    Visit(usize),
    Restore { slot: usize, noted: usize },
}

struct Matcher<'a> {
    program: &'a Program,
    /// What the reading noted that is being followed.
    slots: Vec<usize>,
    tasks: Vec<Task>,
    work: &'a mut usize,
}

impl<'a> Matcher<'a> {
    fn new(program: &'a Program, work: &'a mut usize) -> Self {
        Self { program, slots: alloc::vec![NOWHERE; program.slots], tasks: Vec::new(), work }
    }

    fn takes(&mut self, place: usize, unit: UriChar, strict: bool) -> bool {
        *self.work += 1;
        match self.program.instructions.get(place) {
            Some(Instruction::Literal(literal)) => literal.is(unit),
            Some(Instruction::Value(class)) => class.has(unit, strict),
            _ => false,
        }
    }

    /// Adds the steps that come next from `place`, when the URI was read up to `at`.
    fn follow(&mut self, place: usize, at: usize, readings: &mut Threads) {
        self.tasks.push(Task::Visit(place));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Restore { slot, noted } => {
                    self.note(slot, noted);
                }
                Task::Visit(place) if readings.is_new(place) => self.visit(place, at, readings),
                Task::Visit(_) => {}
            }
        }
    }

    fn visit(&mut self, place: usize, at: usize, readings: &mut Threads) {
        *self.work += 1;
        match self.program.instructions.get(place) {
            Some(Instruction::Jump(to)) => self.tasks.push(Task::Visit(*to)),
            Some(Instruction::Split(first, second)) => {
                self.tasks.push(Task::Visit(*second));
                self.tasks.push(Task::Visit(*first));
            }
            Some(Instruction::Save(slot)) => {
                let noted = self.note(*slot, at);
                self.tasks.push(Task::Restore { slot: *slot, noted });
                self.tasks.push(Task::Visit(place + 1));
            }
            Some(Instruction::Value(_) | Instruction::Literal(_) | Instruction::End) => {
                readings.places.push(place);
                readings.noted.extend_from_slice(&self.slots);
            }
            None => {}
        }
    }

    fn note(&mut self, slot: usize, at: usize) -> usize {
        self.slots.get_mut(slot).map_or(NOWHERE, |place| core::mem::replace(place, at))
    }
}
