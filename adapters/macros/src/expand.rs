//! The expansion of the attribute: the block as written, and an implementation of `Handlers`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{Error, Path, Result};

use crate::block::{BlockItem, ImplBlock};
use crate::handler::Handler;
use crate::kind::Kind;

/// Expands the attribute on `item` for the adapter with this path.
///
/// If the block is invalid, it is kept and followed by the errors, so that other code which uses
/// its methods causes no further ones.
pub(crate) fn server(options: TokenStream, item: TokenStream, adapter: TokenStream) -> TokenStream {
    let adapter = match adapter_path(options, adapter) {
        Ok(adapter) => adapter,
        Err(error) => return error.into_compile_error(),
    };
    let mut block = match impl_block(item) {
        Ok(block) => block,
        Err(error) => return error.into_compile_error(),
    };
    let (registered, errors) = register(&mut block, &adapter);
    let errors = errors.map(Error::into_compile_error);
    quote!(#block #registered #errors)
}

/// Reads the options of the attribute: `crate = path` for an adapter that has been renamed.
fn adapter_path(options: TokenStream, default: TokenStream) -> Result<TokenStream> {
    let mut adapter = default;
    let read = syn::meta::parser(|option| {
        if option.path.is_ident("crate") {
            adapter = option.value()?.parse::<Path>()?.into_token_stream();
            return Ok(());
        }
        Err(option.error("unknown option: `server` takes `crate = path` only"))
    });
    read.parse2(options)?;
    Ok(adapter)
}

fn impl_block(item: TokenStream) -> Result<ImplBlock> {
    const FORM: &str = "`server` belongs on an `impl` block with methods that are marked \
                        `#[tool]`, `#[resource(\"uri\")]` or `#[prompt]`";
    let start = item.clone();
    let Ok(block) = syn::parse2::<ImplBlock>(item) else {
        return Err(Error::new_spanned(start, format!("{FORM}: write it as `impl Type {{ .. }}`")));
    };
    if let Some(path) = &block.of_trait {
        let why = format!("{FORM}: remove the trait, or move the methods to `impl Type {{ .. }}`");
        return Err(Error::new_spanned(path, why));
    }
    Ok(block)
}

/// Takes the attributes off the methods, and implements the trait that registers them, even if
/// there are errors: an implementation that is missing would cause further ones.
fn register(block: &mut ImplBlock, adapter: &TokenStream) -> (TokenStream, Option<Error>) {
    let mut marked = Vec::new();
    let mut errors: Option<Error> = None;
    let mut fail = |error| match &mut errors {
        Some(errors) => errors.combine(error),
        None => errors = Some(error),
    };
    for item in &mut block.items {
        let BlockItem::Method(method) = item else { continue };
        Handler::take(method).map_or_else(&mut fail, |handler| marked.extend(handler));
    }
    let (completions, mut handlers) =
        marked.into_iter().partition::<Vec<Handler>, _>(Handler::is_completion);
    for completion in completions {
        if let Err(error) = completion.attach(&mut handlers) {
            fail(error);
        }
    }
    let registrations: Vec<TokenStream> =
        handlers.iter().map(|handler| handler.registration(adapter)).collect();
    if registrations.is_empty() && errors.is_none() {
        let names: Vec<String> =
            Kind::ALL.iter().map(|kind| format!("`#[{}]`", kind.name())).collect();
        let why = format!("no method is marked {}: mark at least one", names.join(", "));
        errors = Some(Error::new_spanned(&block.self_type, why));
    }
    let (generics, _, bounds) = block.generics.split_for_impl();
    let this = &block.self_type;
    let registered = quote! {
        impl #generics #adapter::Handlers for #this #bounds {
            fn register(
                edit: &mut #adapter::CatalogEdit<'_>,
            ) -> ::core::result::Result<(), #adapter::EditError> {
                #(#registrations)*
                ::core::result::Result::Ok(())
            }
        }
    };
    (registered, errors)
}
