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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::ReceiverForm;

    fn parsed(text: &str) -> ImplBlock {
        syn::parse_str(text).unwrap()
    }

    /// Returns the name, the types and the result of each method.
    fn methods(block: &ImplBlock) -> Vec<String> {
        let methods = block.items.iter().filter_map(|item| match item {
            BlockItem::Method(method) => Some(method),
            BlockItem::Other(_) => None,
        });
        let shown = methods.map(|method| {
            let types: Vec<String> = method.parameters.iter().map(ToString::to_string).collect();
            let text = format!("{}({}){}", method.name, types.join("; "), method.output);
            text.replace(' ', "")
        });
        shown.collect()
    }

    #[test]
    fn a_block_is_written_as_it_was() {
        let text = "
            #[allow(unused)]
            impl<T: Into<Vec<u8>>, const N: usize> A<T, { N + 1 }> where T: Fn(u8) -> Vec<u8> {
                #![allow(dead_code)]
                const LESS: bool = 1 < 2 && { true };
                pub const fn of<F>() -> B<{ 1 }> where F: Fn() -> Vec<u8> { B }
                make! { one }
                make!(two);
                /// Documented.
                pub(crate) async unsafe extern \"C\" fn last(&self) {}
            }";
        let block = parsed(text);
        let tokens: TokenStream = text.parse().unwrap();
        let shown = |tokens: &TokenStream| tokens.to_string().replace(' ', "");
        assert_eq!(shown(&block.to_token_stream()), shown(&tokens));
        assert_eq!(block.items.len(), 5);
        assert_eq!(shown(&block.self_type), "A<T,{N+1}>");
        assert!(block.of_trait.is_none() && block.generics.where_clause.is_some());
        assert_eq!(methods(&block), ["of()->B<{1}>", "last()"]);
    }

    #[test]
    fn parameters_are_types_after_the_receiver() {
        let block = parsed(
            "impl A {
                fn a(&self, B { c, d: e }: B, f: fn(u8, u8) -> Vec<u8>, g: H<I, J>,) -> K { k }
                async fn l(self: Arc<Self>, #[m] n::O(p): n::O, [q, r]: [u8; 2]) {}
                fn s(t: u8) {}
            }",
        );
        let expected =
            ["a(B;fn(u8,u8)->Vec<u8>;H<I,J>)->K", "l(n::O;[u8;2])", "s(u8)"].map(str::to_owned);
        assert_eq!(methods(&block), expected);
    }

    #[test]
    fn receivers_have_their_forms() {
        let form = |receiver: &str| {
            let block = parsed(&format!("impl A {{ fn a({receiver}) {{}} }}"));
            let Some(BlockItem::Method(method)) = block.items.into_iter().next() else { return "" };
            match method.receiver.map(|receiver| receiver.form) {
                None => "none",
                Some(ReceiverForm::Reference) => "&",
                Some(ReceiverForm::MutReference) => "&mut",
                Some(ReceiverForm::Typed(_)) => "typed",
                Some(ReceiverForm::Value) => "value",
            }
        };
        for (receiver, expected) in [
            ("", "none"),
            ("me: Self", "none"),
            ("&self", "&"),
            ("&'a self, b: u8", "&"),
            ("&'a mut self", "&mut"),
            ("self", "value"),
            ("mut self", "value"),
            ("self: &Self", "typed"),
            ("mut self: Box<Self>, b: u8", "typed"),
        ] {
            assert_eq!(form(receiver), expected, "{receiver}");
        }
    }

    #[test]
    fn a_trait_is_noticed() {
        let of_trait = |text| parsed(text).of_trait.map(|path| path.to_string());
        assert_eq!(of_trait("impl B for A {}").as_deref(), Some("B"));
        assert_eq!(of_trait("impl A<dyn for<'a> Fn(&'a u8)> {}"), None);
        assert!(syn::parse_str::<ImplBlock>("struct A {}").is_err());
    }
}
