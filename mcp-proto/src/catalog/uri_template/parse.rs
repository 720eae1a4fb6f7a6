//! Parses templates into literals and expressions.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::chars::{self, UriChar};
use super::error::TemplateError;

/// Maximum number of variables in a template.
pub(super) const VARIABLES_MAX: usize = 32;

/// A part of a template.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Expression(Expression),
    Literal(Vec<UriChar>),
}

/// An expression: operator and variables.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) operator: &'static Operator,
    pub(super) variables: Vec<VariableSpec>,
}

/// One variable of an expression.
#[derive(Clone, Debug)]
pub(super) struct VariableSpec {
    pub(super) name: Box<str>,
    /// Whether the value is a list whose items are expanded separately.
    pub(super) explode: bool,
}

/// The behaviour of an operator (RFC 6570, appendix A).
#[derive(Debug)]
pub(super) struct Operator {
    /// Prefix of the first value present, if any.
    pub(super) prefix: Option<char>,
    /// Separator between values.
    pub(super) separator: char,
    /// Whether names precede values.
    pub(super) named: bool,
    /// Whether a name is followed by `=` even if the value is empty.
    pub(super) always_equals: bool,
    /// Whether reserved characters are copied rather than encoded.
    pub(super) reserved: bool,
    /// Literal characters that a value cannot contain.
    pub(super) excluded: &'static str,
}

const SIMPLE: &Operator = &Operator {
    prefix: None,
    separator: ',',
    named: false,
    always_equals: false,
    reserved: false,
    excluded: "/?#",
};

const RESERVED: &Operator = &Operator { reserved: true, excluded: "", ..*SIMPLE };
const FRAGMENT: &Operator = &Operator { prefix: Some('#'), ..*RESERVED };
const LABEL: &Operator = &Operator { prefix: Some('.'), separator: '.', ..*SIMPLE };
const PATH: &Operator = &Operator { prefix: Some('/'), separator: '/', ..*SIMPLE };
const PARAMETER: &Operator =
    &Operator { prefix: Some(';'), separator: ';', named: true, excluded: "/?#;", ..*SIMPLE };
const QUERY: &Operator = &Operator {
    prefix: Some('?'),
    separator: '&',
    named: true,
    always_equals: true,
    excluded: "&#",
    ..*SIMPLE
};
const CONTINUATION: &Operator = &Operator { prefix: Some('&'), ..*QUERY };

const OPERATORS: &[(char, &Operator)] = &[
    ('+', RESERVED),
    ('#', FRAGMENT),
    ('.', LABEL),
    ('/', PATH),
    (';', PARAMETER),
    ('?', QUERY),
    ('&', CONTINUATION),
];

/// Parses a template into its parts.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        if let Some(inner) = rest.strip_prefix('{') {
            let Some((inner, after)) = inner.split_once('}') else {
                return Err(TemplateError { at, reason: "unclosed brace" });
            };
            parts.push(Part::Expression(expression(inner, at + 1)?));
            rest = after;
        } else {
            let (literal, _) = rest.split_once('{').unwrap_or((rest, ""));
            parts.push(Part::Literal(units(literal, at)?));
            rest = rest.strip_prefix(literal).unwrap_or_default();
        }
    }
    check_names(&parts)?;
    Ok(parts)
}

fn units(literal: &str, at: usize) -> Result<Vec<UriChar>, TemplateError> {
    let mut units = Vec::new();
    let mut rest = literal;
    while !rest.is_empty() {
        let at = at + literal.len() - rest.len();
        match chars::pop_front(&mut rest) {
            Some(unit) if unit.encoded || is_literal(unit.char) => units.push(unit),
            Some(_) => return Err(TemplateError { at, reason: "character not allowed in a URI" }),
            None => return Err(TemplateError { at, reason: "invalid percent-encoding" }),
        }
    }
    Ok(units)
}

fn is_literal(char: char) -> bool {
    let beyond_ascii = !char.is_ascii() && !char.is_control();
    beyond_ascii || chars::is_unreserved(char) || chars::is_reserved(char)
}

fn expression(inner: &str, at: usize) -> Result<Expression, TemplateError> {
    let symbol = inner.chars().next().unwrap_or_default();
    let operator =
        OPERATORS.iter().find(|(known, _)| *known == symbol).map(|(_, operator)| *operator);
    let list =
        if operator.is_some() { inner.strip_prefix(symbol).unwrap_or_default() } else { inner };
    let mut at = at + inner.len() - list.len();
    let mut variables = Vec::new();
    for variable in list.split(',') {
        variables.push(spec(variable, at)?);
        at += variable.len() + 1;
    }
    Ok(Expression { operator: operator.unwrap_or(SIMPLE), variables })
}

fn spec(text: &str, at: usize) -> Result<VariableSpec, TemplateError> {
    let name = text.strip_suffix('*').unwrap_or(text);
    if let Some((name, _)) = name.split_once(':') {
        return Err(TemplateError {
            at: at + name.len(),
            reason: "prefix modifiers are not supported",
        });
    }
    if !name.split('.').all(is_label) {
        return Err(TemplateError { at, reason: "invalid variable name" });
    }
    Ok(VariableSpec { name: name.into(), explode: name.len() < text.len() })
}

/// Returns whether `label` is one or more letters, digits, underscores and percent-encoded triples.
fn is_label(mut label: &str) -> bool {
    let is_empty = label.is_empty();
    while !label.is_empty() {
        match chars::pop_front(&mut label) {
            Some(unit) if unit.encoded || unit.char.is_ascii_alphanumeric() || unit.char == '_' => {
            }
            _ => return false,
        }
    }
    !is_empty
}

fn check_names(parts: &[Part]) -> Result<(), TemplateError> {
    let mut names: Vec<&str> = Vec::new();
    for part in parts {
        let Part::Expression(expression) = part else { continue };
        for variable in &expression.variables {
            if names.contains(&&*variable.name) {
                return Err(TemplateError { at: 0, reason: "repeated variable" });
            }
            names.push(&variable.name);
        }
    }
    if names.len() > VARIABLES_MAX {
        return Err(TemplateError { at: 0, reason: "template has more than 32 variables" });
    }
    Ok(())
}
