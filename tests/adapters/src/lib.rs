//! Helpers of the adapters' suite: each runtime behind one trait, a server that offers every
//! feature, and scripted peers.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

mod full_server;
mod hand;
mod pairs;
mod process;
mod run;
mod runtime;
mod socket;

pub use full_server::{client, form, full_server, raw, server, tool};
pub use hand::Hand;
pub use mcp_test_processes::{Process, scratch_path, with_timeout};
pub use pairs::{Serving, call_by_hand, connect_by_hand, pair, serve, serve_by_hand};
#[cfg(unix)]
pub use process::is_alive;
pub use process::{adapter_server, resident_kib, start_on_pipes};
pub use run::{concurrently, eventually, failure, on, refusal, success, text_of, timer};
pub use runtime::{Blocking, Runtime, Smol, Stream, Tokio, TokioThreads};
pub use socket::{Socket, socket_pair};

/// Runs every test on every runtime, on all runtimes concurrently: tests mostly wait.
#[macro_export]
macro_rules! rows {
    ($($(#[$attribute:meta])* $row:ident),* $(,)?) => {
        mod on_each_runtime {
            $(
                #[test]
                $(#[$attribute])*
                fn $row() {
                    $crate::rows!(@concurrently $row; Blocking, Smol, Tokio, TokioThreads);
                }
            )*
        }
    };
    (@concurrently $row:ident; $($runtime:ident),*) => {
        $crate::concurrently(&[
            $((stringify!($runtime), &|| {
                $crate::on::<$crate::$runtime, _>(super::$row::<$crate::$runtime>)
            })),*
        ])
    };
}
