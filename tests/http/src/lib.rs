//! What the rows of the HTTP suite are told with: each runtime under one trait, a server that
//! serves until its row is over, clients that are bytes on a socket; knows nothing of what is
//! expected of them.

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

mod raw;
mod runtime;
mod served;
mod talk;

pub use mcp_adapter_tests::at_once;
pub use raw::{Event, PATIENCE, Pending, Reply, Request};
pub use runtime::{Blocking, Runtime, Smol, Tokio, TokioThreads};
pub use served::{Served, eventually, server, text, tool};
pub use talk::{Session, get, initialize, modern, post};

/// Every row on every runtime, on all of them at once: most of what a row does is wait.
#[macro_export]
macro_rules! rows {
    ($($row:ident),* $(,)?) => {
        mod on_each_runtime {
            $(
                #[test]
                fn $row() {
                    $crate::rows!(@at_once $row; Blocking, Smol, Tokio, TokioThreads);
                }
            )*
        }
    };
    (@at_once $row:ident; $($runtime:ident),*) => {
        $crate::at_once(&[$((stringify!($runtime), &|| super::$row::<$crate::$runtime>())),*])
    };
}
