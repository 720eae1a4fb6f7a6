//! Templates as text: literals, and expressions with their operators; knows nothing of values.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::chars::{self, UriChar};
use super::error::TemplateError;

/// The most variables of a template.
pub(super) const VARIABLES_MAX: usize = 32;

/// A piece of a template.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Expression(Expression),
    Literal(Vec<UriChar>),
}

/// What stands in one pair of braces.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) operator: &'static Operator,
    pub(super) variables: Vec<VariableSpec>,
}

/// One variable of an expression.
#[derive(Clone, Debug)]
pub(super) struct VariableSpec {
    pub(super) name: Box<str>,
    /// It is a list, each of whose items stands for itself.
    pub(super) explode: bool,
}

/// What an operator does. (RFC 6570, appendix A)
#[derive(Debug)]
pub(super) struct Operator {
    /// What stands before the first value that is there; nothing for a value without a mark.
    pub(super) first: Option<char>,
    /// What stands between values.
    pub(super) separator: char,
    /// Values stand behind their names.
    pub(super) named: bool,
    /// The `=` behind a name stays where the value is empty.
    pub(super) always_equals: bool,
    /// Reserved characters are not encoded.
    pub(super) reserved: bool,
    /// Raw characters that no value has.
    pub(super) excluded: &'static str,
}

const SIMPLE: &Operator = &Operator {
    first: None,
    separator: ',',
    named: false,
    always_equals: false,
    reserved: false,
    excluded: "/?#",
};

const RESERVED: &Operator = &Operator { reserved: true, excluded: "", ..*SIMPLE };
const FRAGMENT: &Operator = &Operator { first: Some('#'), ..*RESERVED };
const LABEL: &Operator = &Operator { first: Some('.'), separator: '.', ..*SIMPLE };
const PATH: &Operator = &Operator { first: Some('/'), separator: '/', ..*SIMPLE };
const PARAMETER: &Operator =
    &Operator { first: Some(';'), separator: ';', named: true, excluded: "/?#;", ..*SIMPLE };
const QUERY: &Operator = &Operator {
    first: Some('?'),
    separator: '&',
    named: true,
    always_equals: true,
    excluded: "&#",
    ..*SIMPLE
};
const CONTINUATION: &Operator = &Operator { first: Some('&'), ..*QUERY };

const SIGNS: &[(char, &Operator)] = &[
    ('+', RESERVED),
    ('#', FRAGMENT),
    ('.', LABEL),
    ('/', PATH),
    (';', PARAMETER),
    ('?', QUERY),
    ('&', CONTINUATION),
];

/// Takes a template apart.
pub(super) fn parts(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        if let Some(inner) = rest.strip_prefix('{') {
            let Some((inner, after)) = inner.split_once('}') else {
                return Err(TemplateError { at, reason: "a brace is not closed" });
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
        match chars::take(&mut rest) {
            Some(unit) if unit.encoded || is_literal(unit.char) => units.push(unit),
            Some(_) => return Err(TemplateError { at, reason: "a character that no URI has" }),
            None => return Err(TemplateError { at, reason: "a `%` that encodes no character" }),
        }
    }
    Ok(units)
}

fn is_literal(char: char) -> bool {
    let beyond_ascii = !char.is_ascii() && !char.is_control();
    beyond_ascii || chars::is_unreserved(char) || chars::is_reserved(char)
}

fn expression(inner: &str, at: usize) -> Result<Expression, TemplateError> {
    let sign = inner.chars().next().unwrap_or_default();
    let operator = SIGNS.iter().find(|(known, _)| *known == sign).map(|(_, operator)| *operator);
    let list =
        if operator.is_some() { inner.strip_prefix(sign).unwrap_or_default() } else { inner };
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
            reason: "a prefix cannot be matched back",
        });
    }
    if !name.split('.').all(is_label) {
        return Err(TemplateError { at, reason: "not the name of a variable" });
    }
    Ok(VariableSpec { name: name.into(), explode: name.len() < text.len() })
}

/// One or more letters, digits, underscores and percent-encoded triples.
fn is_label(mut label: &str) -> bool {
    let is_empty = label.is_empty();
    while !label.is_empty() {
        match chars::take(&mut label) {
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
                return Err(TemplateError { at: 0, reason: "a variable occurs twice" });
            }
            names.push(&variable.name);
        }
    }
    if names.len() > VARIABLES_MAX {
        return Err(TemplateError { at: 0, reason: "the template has too many variables" });
    }
    Ok(())
}
