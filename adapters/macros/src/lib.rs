//! The attribute `server` of the adapters, which registers methods as handlers.
//!
//! Each adapter re-exports its own attribute as `server`, with its feature `schemars`. The
//! expansion contains only calls of the adapter's public API: the builder stays the primary way,
//! and everything that an attribute does can be written by hand.

mod attribute;
mod block;
mod expand;
mod handler;
mod kind;
mod method;
mod tokens;

use proc_macro::TokenStream;
use quote::quote;

/// The attribute `server` of `mcp-blocking`.
#[proc_macro_attribute]
pub fn blocking_server(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::server(options.into(), item.into(), quote!(::mcp_blocking)).into()
}

/// The attribute `server` of `mcp-smol`.
#[proc_macro_attribute]
pub fn smol_server(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::server(options.into(), item.into(), quote!(::mcp_smol)).into()
}

/// The attribute `server` of `mcp-tokio`.
#[proc_macro_attribute]
pub fn tokio_server(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::server(options.into(), item.into(), quote!(::mcp_tokio)).into()
}
