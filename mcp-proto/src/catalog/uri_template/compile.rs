//! Templates as small programs over the characters of a URI; knows nothing of how they are run.
//!
//! A program has no loop that takes no character, so each step is done at most once for each
//! character.

use alloc::vec::Vec;
use core::ops::Range;

use super::chars::{self, UriChar};
use super::parse::{Expression, Operator, Part, VariableSpec};

/// One step of a program.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Takes one character of a value.
    Value(CharClass),
    /// Takes this character.
    Literal(UriChar),
    /// Goes on at both places, and would rather have the first lead on.
    Split(usize, usize),
    /// Goes on elsewhere.
    Jump(usize),
    /// Notes where in the URI it is.
    Save(usize),
    /// The template ends.
    End,
}

/// Which characters a value may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharClass {
    operator: &'static Operator,
    /// The separator of the expression ends the value.
    separated: bool,
}

impl CharClass {
    /// Whether `unit` is one of them; `strict`, whether an expansion writes it so.
    pub(super) fn has(self, unit: UriChar, strict: bool) -> bool {
        if unit.encoded {
            return true;
        }
        let char = unit.char;
        let ends = self.operator.excluded.contains(char)
            || self.separated && char == self.operator.separator;
        let canonical =
            chars::is_unreserved(char) || self.operator.reserved && chars::is_reserved(char);
        !ends && (canonical || !strict)
    }
}

/// The place in a URI that a variable matched, if it is there.
pub(super) type Span = Option<Range<usize>>;

/// A template, ready to be run.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// Two for each variable.
    pub(super) slots: usize,
}

impl Program {
    pub(super) fn of(parts: &[Part]) -> Self {
        let mut program = Self::default();
        for part in parts {
            match part {
                Part::Literal(units) => {
                    program.instructions.extend(units.iter().copied().map(Instruction::Literal))
                }
                Part::Expression(expression) if expression.operator.named => {
                    program.named(expression)
                }
                Part::Expression(expression) => program.plain(expression),
            }
        }
        program.instructions.push(Instruction::End);
        program
    }

    /// Values one behind the other: each is there only if the one before it is.
    fn plain(&mut self, expression: &Expression) {
        let operator = expression.operator;
        let mut before = operator.first;
        let mut optional = Vec::new();
        for (at, variable) in expression.variables.iter().enumerate() {
            if let Some(mark) = before {
                optional.push(self.begin_optional());
                self.literal(mark);
            }
            let separated = variable.explode || at + 1 < expression.variables.len();
            let class = CharClass { operator, separated };
            let slot = self.slots;
            self.slots += 2;
            self.instructions.push(Instruction::Save(slot));
            if before.is_none() {
                self.instructions.push(Instruction::Value(class));
            }
            self.values(class);
            if variable.explode {
                let items = self.begin_optional();
                self.literal(operator.separator);
                self.values(class);
                self.end_loop(items);
            }
            self.instructions.push(Instruction::Save(slot + 1));
            before = Some(operator.separator);
        }
        for split in optional {
            self.end_optional(split);
        }
    }

    /// Values behind their names: each may be absent for itself.
    fn named(&mut self, expression: &Expression) {
        let Expression { operator, variables } = expression;
        let slots = (self.slots..).step_by(2);
        self.slots += 2 * variables.len();
        // Before the first that is there stands another mark: one track up to it, and one from it
        // on.
        let mut crossings = Vec::new();
        if operator.first != Some(operator.separator) {
            for (variable, slot) in variables.iter().zip(slots.clone()) {
                let split = self.begin_optional();
                self.marked(operator, operator.first, variable, slot);
                crossings.push(self.instructions.len());
                self.instructions.push(Instruction::End);
                self.end_optional(split);
            }
            crossings.push(self.instructions.len());
            self.instructions.push(Instruction::End);
        }
        let mut crossings = crossings.into_iter();
        for (at, (variable, slot)) in variables.iter().zip(slots).enumerate() {
            if at > 0 {
                self.cross(crossings.next());
            }
            let split = self.begin_optional();
            self.marked(operator, Some(operator.separator), variable, slot);
            self.end_optional(split);
        }
        crossings.for_each(|crossing| self.cross(Some(crossing)));
    }

    /// Has a step go on here.
    fn cross(&mut self, step: Option<usize>) {
        if let Some(step) = step {
            self.set(step, Instruction::Jump(self.instructions.len()));
        }
    }

    /// A mark, a name, and the value or values behind it.
    fn marked(
        &mut self,
        operator: &'static Operator,
        mark: Option<char>,
        variable: &VariableSpec,
        slot: usize,
    ) {
        if let Some(mark) = mark {
            self.literal(mark);
        }
        let class = CharClass { operator, separated: true };
        if !variable.explode {
            self.item(operator, class, variable, Some(slot));
            return;
        }
        self.instructions.push(Instruction::Save(slot));
        self.item(operator, class, variable, None);
        let items = self.begin_optional();
        self.literal(operator.separator);
        self.item(operator, class, variable, None);
        self.end_loop(items);
        self.instructions.push(Instruction::Save(slot + 1));
    }

    /// `name=value`, or `name` alone where the operator has that for an empty value; `slot` is for
    /// the value.
    fn item(
        &mut self,
        operator: &Operator,
        class: CharClass,
        variable: &VariableSpec,
        slot: Option<usize>,
    ) {
        let mut name = &*variable.name;
        while let Some(unit) = chars::take(&mut name) {
            self.instructions.push(Instruction::Literal(unit));
        }
        // An empty value behind a bare name begins and ends where the name does.
        let bare = (!operator.always_equals).then(|| {
            self.instructions.extend(slot.map(Instruction::Save));
            self.begin_optional()
        });
        self.literal('=');
        self.instructions.extend(slot.map(Instruction::Save));
        self.values(class);
        if let Some(split) = bare {
            self.end_optional(split);
        }
        self.instructions.extend(slot.map(|slot| Instruction::Save(slot + 1)));
    }

    fn literal(&mut self, char: char) {
        self.instructions.push(Instruction::Literal(UriChar { char, encoded: false }));
    }

    /// As many characters of the class as there are, or none.
    fn values(&mut self, class: CharClass) {
        let split = self.begin_optional();
        self.instructions.push(Instruction::Value(class));
        self.end_loop(split);
    }

    /// What follows, up to the end, may be left out.
    fn begin_optional(&mut self) -> usize {
        let split = self.instructions.len();
        self.instructions.push(Instruction::Split(split + 1, split + 1));
        split
    }

    fn end_optional(&mut self, split: usize) {
        let end = self.instructions.len();
        self.set(split, Instruction::Split(split + 1, end));
    }

    /// What was begun may come again.
    fn end_loop(&mut self, split: usize) {
        self.instructions.push(Instruction::Jump(split));
        self.end_optional(split);
    }

    fn set(&mut self, at: usize, step: Instruction) {
        if let Some(place) = self.instructions.get_mut(at) {
            *place = step;
        }
    }
}
