//! Tokens up to a place, without parsing them.

use proc_macro2::{TokenStream, TokenTree};
use syn::Result;
use syn::parse::{Parse, ParseStream};

/// Counts the angle brackets that are open.
#[derive(Default)]
struct Angles {
    open: usize,
    /// The last token was the start of an arrow.
    is_arrow: bool,
}

impl Angles {
    fn pass(&mut self, token: &TokenTree) {
        let character = match token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match character {
            '<' => self.open += 1,
            '>' if !self.is_arrow => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.is_arrow = character == '-';
    }
}

/// Takes the tokens before the place where `is_end` holds, outside of angle brackets.
pub(crate) fn take_until(
    input: ParseStream<'_>,
    is_end: impl Fn(ParseStream<'_>) -> bool,
) -> Result<TokenStream> {
    let mut angles = Angles::default();
    let mut taken = TokenStream::new();
    while !input.is_empty() && (angles.open > 0 || !is_end(input)) {
        let token = TokenTree::parse(input)?;
        angles.pass(&token);
        taken.extend([token]);
    }
    Ok(taken)
}

/// Splits the parameters of a function at their commas.
pub(crate) fn split_parameters(parameters: TokenStream) -> Vec<TokenStream> {
    let mut angles = Angles::default();
    let mut all = Vec::new();
    let mut parameter = TokenStream::new();
    for token in parameters {
        angles.pass(&token);
        if angles.open == 0 && matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',') {
            all.push(std::mem::take(&mut parameter));
        } else {
            parameter.extend([token]);
        }
    }
    if !parameter.is_empty() {
        all.push(parameter);
    }
    all
}
