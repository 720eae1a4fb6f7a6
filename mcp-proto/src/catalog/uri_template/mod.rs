//! URI templates (RFC 6570): patterns that URIs are made from and taken apart by; knows nothing of
//! resources.

mod chars;
mod compile;
mod error;
mod expand;
mod matcher;
mod parse;
mod variables;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;

use compile::Program;
pub use error::TemplateError;
use parse::{Expression, Part};
pub use variables::{Variable, Variables};

/// The longest template, in bytes.
const TEMPLATE_BYTES_MAX: usize = 1024;

/// The longest URI that is taken apart, in bytes.
const URI_BYTES_MAX: usize = 64 << 10;

/// A URI template, parsed and ready to be matched.
///
/// Supported are levels 1 to 3 of RFC 6570, with all eight operators (`{x}`, `{+x}`, `{#x}`,
/// `{.x}`, `{/x}`, `{;x}`, `{?x}`, `{&x}`) and several variables in one expression, and of level 4
/// the `*` for lists. Refused are what cannot be matched back: a prefix (`{x:3}`) and a variable
/// that occurs twice. A template has at most 1,024 bytes and 32 variables.
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
    /// Reads a template.
    ///
    /// # Errors
    /// When the text is no template, or one that is not supported; says where and why.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(TemplateError {
                at: TEMPLATE_BYTES_MAX,
                reason: "the template is too long",
            });
        }
        let parts = parse::parts(text)?;
        let program = Program::of(&parts);
        Ok(Self { text: text.into(), parts, program })
    }

    /// The template as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.expressions()
            .flat_map(|expression| expression.variables.iter().map(|variable| &*variable.name))
    }

    /// Takes `uri` apart: the values that expand to it, percent-decoded; `None` when there are
    /// none.
    ///
    /// - The whole URI must match, and it may have no more than 64 KiB.
    /// - A variable of `{x}` and `{+x}` has at least one character, unless another stands before it
    ///   in its braces. All others may be absent, in the order of the template; those with names,
    ///   each for itself.
    /// - Where several readings are possible, earlier variables get as much as they can. A raw `/`,
    ///   `?` or `#` never is part of a value but in `{+x}`, `{#x}`, `{?x}` and `{&x}` (there `/`
    ///   and `?`), and a raw separator of the expression only in its last variable.
    /// - Characters that an expansion would have encoded, such as a raw space, are taken only if
    ///   the URI does not match without.
    /// - A `%` without two digits, or one that does not decode to UTF-8, matches nothing.
    ///
    /// **The values are the peer's.** Decoded, `..%2F..` is `../..`: check a value before it
    /// becomes part of a path. (SEC-02)
    ///
    /// Linear in the length of the URI: each character costs at most the size of the template times
    /// its variables, whatever stands there. (SEC-18)
    #[must_use]
    pub fn match_uri(&self, uri: &str) -> Option<Variables> {
        if uri.len() > URI_BYTES_MAX {
            return None;
        }
        let spans = self.program.run(uri, &mut 0)?;
        let specs = self.expressions().flat_map(|expression| {
            expression.variables.iter().map(move |variable| (expression.operator, variable))
        });
        let mut variables = Variables::new();
        for ((operator, variable), span) in specs.zip(spans) {
            if let Some(range) = span {
                let value = variable.read(operator, uri.get(range)?)?;
                variables.push(&variable.name, value);
            }
        }
        Some(variables)
    }

    /// Makes a URI: each variable is encoded as its expression says, and absent ones are left out.
    ///
    /// `{+x}` and `{#x}` take percent-encoded triples in a value as they are, as RFC 6570 says.
    #[must_use]
    pub fn expand(&self, variables: &Variables) -> String {
        expand::expand(&self.parts, variables)
    }

    /// Orders templates by how specific they are: less is more specific.
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

/// How specific a template is: most literal characters first, then fewest `{+x}` and `{#x}`, then
/// fewest variables.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Rank {
    literals: Reverse<usize>,
    open: usize,
    variables: usize,
}

#[cfg(test)]
mod tests;
