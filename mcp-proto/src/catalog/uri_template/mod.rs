//! URI templates (RFC 6570): parsing, expansion and matching.

mod chars;
mod compile;
mod error;
mod expand;
mod matcher;
mod order;
mod parse;
mod variables;

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

pub(super) use chars::{encodes_reserved, with_reserved_decoded};
use compile::Program;
pub use error::TemplateError;
use parse::{Expression, Part};
pub use variables::{Variable, Variables};

pub(super) use crate::vocabulary::uri::normalize;

/// Longest template, in bytes.
const TEMPLATE_BYTES_MAX: usize = 1024;

/// Longest URI that is matched, in bytes.
const URI_BYTES_MAX: usize = 64 << 10;

/// A parsed URI template, for expansion and matching.
///
/// Supports levels 1 to 3 of RFC 6570, with all eight expression types (`{x}`, `{+x}`, `{#x}`,
/// `{.x}`, `{/x}`, `{;x}`, `{?x}`, `{&x}`) and several variables per expression. Of level 4, only
/// the `*` modifier for lists is supported. Prefix modifiers (`{x:3}`) and repeated variables are
/// rejected, because they cannot be matched. A template has at most 1,024 bytes and 32 variables.
///
/// ```
/// use mcp_proto::catalog::{UriTemplate, Variables};
///
/// let template = UriTemplate::parse("repo://{owner}/{name}/files{/path*}{?ref}").unwrap();
/// let found = template.match_uri("repo://ada/engine/files/src/my%20notes.md?ref=main").unwrap();
/// assert_eq!(found.text("owner"), Some("ada"));
/// assert_eq!(found.list("path"), Some(&["src".to_owned(), "my notes.md".to_owned()][..]));
///
/// let variables = Variables::new().with("owner", "ada").with("name", "engine").with("ref", "a/b");
/// assert_eq!(template.expand(&variables), "repo://ada/engine/files?ref=a%2Fb");
/// ```
#[derive(Clone, Debug)]
pub struct UriTemplate {
    text: Box<str>,
    parts: Vec<Part>,
    program: Program,
}

impl UriTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// Fails if `text` is not a valid template, exceeds a limit, or uses an unsupported feature.
    /// The error contains the position and the reason.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(TemplateError {
                at: TEMPLATE_BYTES_MAX,
                reason: "template exceeds 1024 bytes",
            });
        }
        let parts = parse::parts(text)?;
        let program = Program::compile(&parts);
        Ok(Self { text: text.into(), parts, program })
    }

    /// Returns the template's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Iterates over the names of the template's variables, in order of appearance.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.expressions()
            .flat_map(|expression| expression.variables.iter().map(|variable| &*variable.name))
    }

    /// Matches `uri` against the template and returns the percent-decoded values of the variables.
    ///
    /// Returns `None` if the URI does not match. The rules are:
    ///
    /// - The template must match the whole URI. A URI of more than 64 KiB does not match.
    /// - The first variable of a `{x}` or `{+x}` expression matches at least one character. All
    ///   other variables are optional.
    /// - Each named variable (in `{;x}`, `{?x}` or `{&x}`) can be absent while the others are
    ///   present. Those that are present can be in any order.
    /// - Any other variable can be present only if the previous variable of its expression is
    ///   present.
    /// - If several matches are possible, earlier variables match as much as they can.
    /// - Values of `{+x}` and `{#x}` can contain a literal `/`, `?` or `#`. Values of `{?x}` and
    ///   `{&x}` can contain a literal `/` or `?`. All other values contain none of the three.
    /// - The expression's separator, such as `,` in `{x,y}`, ends a value. Exception: the last
    ///   variable of a `{x}`, `{+x}`, `{#x}` or `{.x}` expression can contain the separator. With
    ///   `*`, the separator divides the value into the items of a list.
    /// - An expansion of `{x}` encodes reserved characters, such as `:`. A value can contain such a
    ///   character in literal form only if the URI does not match otherwise.
    /// - A percent-encoded character is equal to a literal one unless it is reserved (RFC 3986,
    ///   section 6.2.2.2): `%61` is `a`, but `%2F` is not the `/` of a template.
    /// - A URI does not match if it contains a `%` sequence that is invalid or does not decode to
    ///   UTF-8.
    ///
    /// **The values come from the peer.** For example, `..%2F..` is decoded to `../..`: validate a
    /// value before using it in a path.
    ///
    /// The running time is at most proportional to the product of three numbers: the length of the
    /// URI, the length of the template, and the number of its variables.
    // SEC-02: values are untrusted. SEC-18: no template or URI causes backtracking.
    #[must_use]
    pub fn match_uri(&self, uri: &str) -> Option<Variables> {
        if uri.len() > URI_BYTES_MAX {
            return None;
        }
        let mut uri = normalize(uri);
        let spans = match self.program.run(&uri, &mut 0) {
            Some(spans) => spans,
            None => {
                uri = Cow::Owned(self.in_order(&uri)?);
                self.program.run(&uri, &mut 0)?
            }
        };
        let declared = self.expressions().flat_map(|expression| {
            expression.variables.iter().map(move |variable| (expression.operator, variable))
        });
        let mut variables = Variables::new();
        for ((operator, variable), span) in declared.zip(spans) {
            if let Some(range) = span {
                let value = variable.decode(operator, uri.get(range)?)?;
                variables.push(&variable.name, value);
            }
        }
        Some(variables)
    }

    /// Returns whether the template matches a URI if it makes no difference which reserved
    /// characters are encoded.
    pub(super) fn matches_decoded(&self, uri: &str) -> bool {
        uri.len() <= URI_BYTES_MAX
            && (self.program.matches_decoded(uri)
                || self.in_order(uri).is_some_and(|uri| self.program.matches_decoded(&uri)))
    }

    /// Returns a URI with its parameters in the order of the template; `None` if they already are.
    fn in_order(&self, uri: &str) -> Option<String> {
        let ordered = order::reorder(uri, '?', '&', "#", &self.named('&'));
        let ordered = ordered.as_deref().unwrap_or(uri);
        let ordered = order::reorder(ordered, ';', ';', "/?#", &self.named(';'))
            .unwrap_or_else(|| ordered.to_owned());
        (ordered != uri).then_some(ordered)
    }

    /// Returns the names that precede values with this separator, in order.
    fn named(&self, separator: char) -> Vec<Cow<'_, str>> {
        let expressions = self.expressions().filter(|expression| {
            expression.operator.named && expression.operator.separator == separator
        });
        let names = expressions.flat_map(|expression| &expression.variables);
        names.map(|variable| normalize(&variable.name)).collect()
    }

    /// Expands the template with the values in `variables`.
    ///
    /// Each value is encoded as its expression requires; absent variables are omitted.
    ///
    /// In `{+x}` and `{#x}`, percent-encoded triplets in a value, such as `%20`, are copied
    /// unchanged, as RFC 6570 requires.
    #[must_use]
    pub fn expand(&self, variables: &Variables) -> String {
        expand::expand(&self.parts, variables)
    }

    /// Returns the key that sorts templates by specificity, most specific first.
    pub(super) fn rank(&self) -> Rank {
        let literals = self.parts.iter().map(|part| match part {
            Part::Literal(units) => units.len(),
            Part::Expression(_) => 0,
        });
        let open = self.expressions().filter(|expression| expression.operator.reserved);
        Rank {
            literals: Reverse(literals.sum()),
            open: open.count(),
            variables: self.names().count(),
        }
    }

    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            Part::Expression(expression) => Some(expression),
            Part::Literal(_) => None,
        })
    }
}

impl PartialEq for UriTemplate {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for UriTemplate {}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The specificity of a template: most literal characters first, then fewest `{+x}` and `{#x}`,
/// then fewest variables.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Rank {
    literals: Reverse<usize>,
    open: usize,
    variables: usize,
}

#[cfg(test)]
mod tests;
