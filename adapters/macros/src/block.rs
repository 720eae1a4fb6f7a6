//! The parts of an `impl` block that the attribute reads.
//!
//! The compiler has parsed the block before. Types and bodies are therefore tokens here: to parse
//! them, `syn` would need its feature `full`, which derives do not need.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, Error, Generics, Result, Token, Visibility, token};

use crate::method::Method;
use crate::tokens::take_until;

/// An `impl` block.
pub(crate) struct ImplBlock {
    /// All before the braces, as written.
    head: TokenStream,
    /// With the `where` clause.
    pub(crate) generics: Generics,
    /// The trait that is implemented, if any.
    pub(crate) of_trait: Option<TokenStream>,
    pub(crate) self_type: TokenStream,
    braces: Group,
    /// The attributes of the block that are within the braces.
    inner_attributes: Vec<Attribute>,
    pub(crate) items: Vec<BlockItem>,
}

/// An item of an `impl` block.
pub(crate) enum BlockItem {
    Method(Method),
    /// A constant, a type or the call of a macro.
    Other(TokenStream),
}

impl Parse for ImplBlock {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let written: TokenStream = input.fork().parse()?;
        let mut head: Vec<TokenTree> = written.into_iter().collect();
        head.pop();
        input.call(Attribute::parse_outer)?;
        input.parse::<Option<Token![unsafe]>>()?;
        input.parse::<Token![impl]>()?;
        let mut generics: Generics = input.parse()?;
        let mut self_type = take_until(input, |input| {
            let is_for = input.peek(Token![for]) && !input.peek2(Token![<]);
            is_for || input.peek(Token![where]) || input.peek(token::Brace)
        })?;
        let mut of_trait = None;
        if input.parse::<Option<Token![for]>>()?.is_some() {
            let is_end =
                |input: ParseStream<'_>| input.peek(Token![where]) || input.peek(token::Brace);
            of_trait = Some(std::mem::replace(&mut self_type, take_until(input, is_end)?));
        }
        generics.where_clause = input.parse()?;
        let braces: Group = input.parse()?;
        let items = |input: ParseStream<'_>| {
            let inner_attributes = input.call(Attribute::parse_inner)?;
            let mut items = Vec::new();
            while !input.is_empty() {
                items.push(input.parse()?);
            }
            Ok((inner_attributes, items))
        };
        let (inner_attributes, items) = items.parse2(braces.stream())?;
        let head = head.into_iter().collect();
        Ok(Self { head, generics, of_trait, self_type, braces, inner_attributes, items })
    }
}

impl ToTokens for ImplBlock {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { head, inner_attributes, items, .. } = self;
        let mut braces =
            Group::new(self.braces.delimiter(), quote!(#(#inner_attributes)* #(#items)*));
        braces.set_span(self.braces.span());
        tokens.extend(quote!(#head #braces));
    }
}

impl Parse for BlockItem {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let ahead = input.fork();
        ahead.call(Attribute::parse_outer)?;
        ahead.parse::<Visibility>()?;
        if Method::is_next(&ahead)? {
            return input.parse().map(Self::Method);
        }
        // Only the call of a macro ends with braces.
        let is_value = ahead.peek(Token![const]) || ahead.peek(Token![type]);
        let mut written = TokenStream::new();
        loop {
            let is_end = input.peek(Token![;]) || (!is_value && input.peek(token::Brace));
            if input.is_empty() {
                return Err(Error::new_spanned(written, "an item ends with `;` or braces"));
            }
            written.extend([input.parse::<TokenTree>()?]);
            if is_end {
                return Ok(Self::Other(written));
            }
        }
    }
}

impl ToTokens for BlockItem {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Method(method) => method.to_tokens(tokens),
            Self::Other(written) => written.to_tokens(tokens),
        }
    }
}
