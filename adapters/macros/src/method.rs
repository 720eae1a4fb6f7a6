//! The parts of a method that the attribute reads.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::{Attribute, Generics, Ident, Lifetime, LitStr, Result, Token, Visibility, token};

use crate::tokens::{split_parameters, take_until};

/// A function of an `impl` block.
pub(crate) struct Method {
    pub(crate) attributes: Vec<Attribute>,
    /// All after the attributes, as written.
    written: TokenStream,
    pub(crate) is_async: bool,
    pub(crate) name: Ident,
    pub(crate) receiver: Option<Receiver>,
    /// The types of the parameters after the receiver.
    pub(crate) parameters: Vec<TokenStream>,
    /// The arrow and the type; empty if there is none.
    pub(crate) output: TokenStream,
}

/// The parameter `self`.
pub(crate) struct Receiver {
    pub(crate) span: Span,
    pub(crate) form: ReceiverForm,
}

pub(crate) enum ReceiverForm {
    /// `&self`
    Reference,
    /// `&mut self`
    MutReference,
    /// `self: Type`
    Typed(TokenStream),
    /// `self`
    Value,
}

/// Takes what precedes `fn`; returns whether that includes `async`.
fn take_qualifiers(input: ParseStream<'_>) -> Result<bool> {
    let mut is_async = false;
    while !input.is_empty() && !input.peek(Token![fn]) {
        is_async |= input.peek(Token![async]);
        input.parse::<TokenTree>()?;
    }
    Ok(is_async)
}

impl Method {
    /// Returns whether the item after a visibility is a function.
    pub(crate) fn is_next(input: ParseStream<'_>) -> Result<bool> {
        let ahead = input.fork();
        while ahead.peek(Token![const])
            || ahead.peek(Token![async])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern])
            || ahead.peek(LitStr)
        {
            ahead.parse::<TokenTree>()?;
        }
        Ok(ahead.peek(Token![fn]))
    }
}

impl Parse for Method {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let ahead = input.fork();
        ahead.parse::<Visibility>()?;
        let is_async = take_qualifiers(&ahead)?;
        ahead.parse::<Token![fn]>()?;
        let name = ahead.parse()?;
        ahead.parse::<Generics>()?;
        let inputs: Group = ahead.parse()?;
        let output =
            take_until(&ahead, |input| input.peek(Token![where]) || input.peek(token::Brace))?;
        let mut inputs = split_parameters(inputs.stream()).into_iter().peekable();
        let first = inputs.peek().cloned().unwrap_or_default();
        let receiver = Receiver::read.parse2(first).ok();
        if receiver.is_some() {
            inputs.next();
        }
        let parameters = inputs.map(type_of).collect();
        let mut written = take_until(input, |input| input.peek(token::Brace))?;
        written.extend([input.parse::<TokenTree>()?]);
        Ok(Self { attributes, written, is_async, name, receiver, parameters, output })
    }
}

impl ToTokens for Method {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.attributes.iter().for_each(|attribute| attribute.to_tokens(tokens));
        self.written.to_tokens(tokens);
    }
}

impl Receiver {
    fn read(input: ParseStream<'_>) -> Result<Self> {
        input.call(Attribute::parse_outer)?;
        let is_reference = input.parse::<Option<Token![&]>>()?.is_some();
        input.parse::<Option<Lifetime>>()?;
        let is_mut = input.parse::<Option<Token![mut]>>()?.is_some();
        let span = input.parse::<Token![self]>()?.span;
        let is_typed = input.parse::<Option<Token![:]>>()?.is_some();
        let of: TokenStream = input.parse()?;
        let form = match (is_typed, is_reference, is_mut) {
            (true, ..) => ReceiverForm::Typed(of),
            (_, true, true) => ReceiverForm::MutReference,
            (_, true, false) => ReceiverForm::Reference,
            (_, false, _) => ReceiverForm::Value,
        };
        Ok(Self { span, form })
    }
}

/// Returns the type of a parameter: what follows the first colon that is not part of a path.
fn type_of(parameter: TokenStream) -> TokenStream {
    let mut tokens = parameter.into_iter().peekable();
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ':');
    while let Some(token) = tokens.next() {
        if is_colon(&token) && tokens.next_if(|next| is_colon(next)).is_none() {
            break;
        }
    }
    tokens.collect()
}
