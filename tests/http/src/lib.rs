//! What the rows of the HTTP suite are told with: each runtime under one trait, a server that serves until its row is
//! over, clients that are bytes on a socket; knows nothing of what is expected of them.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a row fails by panicking")]
#![allow(clippy::missing_errors_doc, clippy::missing_panics_doc, reason = "a row fails by panicking")]

mod raw;
mod runtime;
mod served;
mod talk;

pub use raw::{Event, PATIENCE, Pending, Reply, Request};
pub use runtime::{Blocking, Runtime, Smol, Tokio, TokioThreads};
pub use served::{Served, eventually, server, text, tool};
pub use talk::{Session, get, initialize, modern, post};

/// Every row on every runtime.
#[macro_export]
macro_rules! rows {
    ($($row:ident),* $(,)?) => {
        $crate::rows!(@on on_blocking, Blocking; $($row),*);
        $crate::rows!(@on on_smol, Smol; $($row),*);
        $crate::rows!(@on on_tokio, Tokio; $($row),*);
        $crate::rows!(@on on_tokio_threads, TokioThreads; $($row),*);
    };
    (@on $module:ident, $runtime:ident; $($row:ident),*) => {
        mod $module {
            $(
                #[test]
                fn $row() {
                    super::$row::<$crate::$runtime>();
                }
            )*
        }
    };
}
