//! Compiles URI templates to programs for the matcher.
//!
//! Every loop of a program consumes a character, so each instruction runs at most once per
//! character.

use alloc::vec::Vec;
use core::ops::Range;

use super::chars::{self, UriChar};
use super::parse::{Expression, Operator, Part, VariableSpec};

/// One instruction of a program.
#[derive(Clone, Debug)]
pub(super) enum Instruction {
    /// Consumes one character of a value.
    Value(CharClass),
    /// Consumes this character.
    Literal(UriChar),
    /// Continues at both targets, preferring the first.
    Split(usize, usize),
    /// Continues at the target.
    Jump(usize),
    /// Saves the current position in a slot.
    Save(usize),
    /// The end of the template.
    End,
}

/// The characters allowed in a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct CharClass {
    operator: &'static Operator,
    /// Whether the expression's separator ends the value.
    separated: bool,
}

impl CharClass {
    /// Returns whether `unit` belongs to the class; if `strict`, not as a literal character that
    /// differs from the encoded one that an expansion writes.
    pub(super) fn contains(self, unit: UriChar, strict: bool) -> bool {
        if unit.encoded {
            return true;
        }
        let char = unit.char;
        let ends = self.operator.excluded.contains(char)
            || self.separated && char == self.operator.separator;
        let canonical = self.operator.reserved || !chars::is_reserved(char);
        !ends && (canonical || !strict)
    }
}

/// The range of a URI that a variable matched; `None` if the variable is absent.
pub(super) type Span = Option<Range<usize>>;

/// A compiled template.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// Number of slots: two per variable.
    pub(super) slots: usize,
}

impl Program {
    pub(super) fn compile(parts: &[Part]) -> Self {
        let mut program = Self::default();
        for part in parts {
            match part {
                Part::Literal(units) => {
                    program.instructions.extend(units.iter().copied().map(Instruction::Literal));
                }
                Part::Expression(expression) if expression.operator.named => {
                    program.named(expression);
                }
                Part::Expression(expression) => program.positional(expression),
            }
        }
        program.instructions.push(Instruction::End);
        program
    }

    /// Compiles positional values: each is optional and requires the previous one.
    fn positional(&mut self, expression: &Expression) {
        let operator = expression.operator;
        let mut prefix = operator.prefix;
        let mut optional = Vec::new();
        for (at, variable) in expression.variables.iter().enumerate() {
            if let Some(prefix) = prefix {
                optional.push(self.begin_optional());
                self.literal(prefix);
            }
            let separated = variable.explode || at + 1 < expression.variables.len();
            let class = CharClass { operator, separated };
            let slot = self.slots;
            self.slots += 2;
            self.instructions.push(Instruction::Save(slot));
            if prefix.is_none() {
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
            prefix = Some(operator.separator);
        }
        for split in optional {
            self.end_optional(split);
        }
    }

    /// Compiles named values, each optional.
    fn named(&mut self, expression: &Expression) {
        let Expression { operator, variables } = expression;
        let slots = (self.slots..).step_by(2);
        self.slots += 2 * variables.len();
        // The first value present has a different prefix: one track before it, one after it.
        let mut jumps = Vec::new();
        if operator.prefix != Some(operator.separator) {
            for (variable, slot) in variables.iter().zip(slots.clone()) {
                let split = self.begin_optional();
                self.prefixed(operator, operator.prefix, variable, slot);
                jumps.push(self.instructions.len());
                self.instructions.push(Instruction::End);
                self.end_optional(split);
            }
            jumps.push(self.instructions.len());
            self.instructions.push(Instruction::End);
        }
        let mut jumps = jumps.into_iter();
        for (at, (variable, slot)) in variables.iter().zip(slots).enumerate() {
            if at > 0 {
                self.patch_jump(jumps.next());
            }
            let split = self.begin_optional();
            self.prefixed(operator, Some(operator.separator), variable, slot);
            self.end_optional(split);
        }
        jumps.for_each(|jump| self.patch_jump(Some(jump)));
    }

    /// Patches an instruction to jump here.
    fn patch_jump(&mut self, jump: Option<usize>) {
        if let Some(jump) = jump {
            self.set(jump, Instruction::Jump(self.instructions.len()));
        }
    }

    /// Compiles a prefix, a name, and its value or values.
    fn prefixed(
        &mut self,
        operator: &'static Operator,
        prefix: Option<char>,
        variable: &VariableSpec,
        slot: usize,
    ) {
        if let Some(prefix) = prefix {
            self.literal(prefix);
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

    /// Compiles `name=value`, or a bare `name` for an empty value if the operator allows it; `slot`
    /// saves the value.
    fn item(
        &mut self,
        operator: &Operator,
        class: CharClass,
        variable: &VariableSpec,
        slot: Option<usize>,
    ) {
        let mut name = &*variable.name;
        while let Some(unit) = chars::pop_front(&mut name) {
            self.instructions.push(Instruction::Literal(unit));
        }
        // The empty value of a bare name starts and ends after the name.
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

    /// Matches zero or more characters of the class.
    fn values(&mut self, class: CharClass) {
        let split = self.begin_optional();
        self.instructions.push(Instruction::Value(class));
        self.end_loop(split);
    }

    /// Starts an optional part; ended by `end_optional` or `end_loop`.
    fn begin_optional(&mut self) -> usize {
        let split = self.instructions.len();
        self.instructions.push(Instruction::Split(split + 1, split + 1));
        split
    }

    fn end_optional(&mut self, split: usize) {
        let end = self.instructions.len();
        self.set(split, Instruction::Split(split + 1, end));
    }

    /// Ends a part that may repeat.
    fn end_loop(&mut self, split: usize) {
        self.instructions.push(Instruction::Jump(split));
        self.end_optional(split);
    }

    fn set(&mut self, at: usize, instruction: Instruction) {
        if let Some(place) = self.instructions.get_mut(at) {
            *place = instruction;
        }
    }
}
