//! What the rows of the adapters' suite are told with: each runtime under one trait, a server that
//! offers a bit of everything, peers that are played by hand; knows nothing of what is expected of
//! them.

#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a row fails by panicking"
)]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "a row fails by panicking"
)]

mod hand;
mod pairs;
mod process;
mod runtime;
mod shop;
mod story;

pub use hand::Hand;
pub use pairs::{Serving, call_by_hand, connect_by_hand, pair, serve, serve_by_hand};
pub use process::{Process, adapter_server, is_there, resident_kib};
pub use runtime::{Blocking, Runtime, Smol, Stream, Tokio, TokioThreads};
pub use shop::{client, form, raw, server, shop, tool};
pub use story::{at_once, eventually, failure, on, refusal, said, story, success, timer};

/// Every row on every runtime, on all of them at once: most of what a row does is wait.
#[macro_export]
macro_rules! rows {
    ($($(#[$attribute:meta])* $row:ident),* $(,)?) => {
        mod on_each_runtime {
            $(
                #[test]
                $(#[$attribute])*
                fn $row() {
                    $crate::rows!(@at_once $row; Blocking, Smol, Tokio, TokioThreads);
                }
            )*
        }
    };
    (@at_once $row:ident; $($runtime:ident),*) => {
        $crate::at_once(&[
            $((stringify!($runtime), &|| $crate::on::<$crate::$runtime, _>(super::$row::<$crate::$runtime>))),*
        ])
    };
}
