//! Expands templates to URIs, and decodes matched values (RFC 6570, section 3).

use alloc::string::String;

use super::parse::{Operator, Part, VariableSpec};
use super::variables::{Variable, Variables};
use super::{chars, normalize};

pub(super) fn expand(parts: &[Part], variables: &Variables) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Literal(units) => units.iter().for_each(|unit| unit.write(&mut out)),
            Part::Expression(expression) => {
                let mut prefix = expression.operator.prefix;
                for variable in &expression.variables {
                    let Some(value) = variables.get(&variable.name) else { continue };
                    if matches!(value, Variable::List(list) if list.is_empty()) {
                        continue;
                    }
                    out.extend(prefix);
                    prefix = Some(expression.operator.separator);
                    variable.write(expression.operator, value, &mut out);
                }
            }
        }
    }
    out
}

impl VariableSpec {
    fn write(&self, operator: &Operator, value: &Variable, out: &mut String) {
        match value {
            Variable::Text(text) => self.write_named(operator, text, out),
            Variable::List(list) if self.explode => {
                for (at, item) in list.iter().enumerate() {
                    out.extend((at > 0).then_some(operator.separator));
                    self.write_named(operator, item, out);
                }
            }
            Variable::List(list) => {
                if operator.named {
                    out.push_str(&self.name);
                    out.push('=');
                }
                for (at, item) in list.iter().enumerate() {
                    out.extend((at > 0).then_some(','));
                    chars::encode(item, operator.reserved, out);
                }
            }
        }
    }

    fn write_named(&self, operator: &Operator, text: &str, out: &mut String) {
        if operator.named {
            out.push_str(&self.name);
            if operator.always_equals || !text.is_empty() {
                out.push('=');
            }
        }
        chars::encode(text, operator.reserved, out);
    }

    /// Decodes the variable's value from the part of a [normalized](normalize) URI that it
    /// matched.
    pub(super) fn decode(&self, operator: &Operator, span: &str) -> Option<Variable> {
        if !self.explode {
            return chars::decode(span).map(Variable::Text);
        }
        let name = normalize(&self.name);
        let items = span.split(operator.separator).map(|item| {
            let item = if operator.named { item.strip_prefix(&*name)? } else { item };
            let item = if operator.named { item.strip_prefix('=').unwrap_or(item) } else { item };
            chars::decode(item)
        });
        items.collect::<Option<_>>().map(Variable::List)
    }
}
