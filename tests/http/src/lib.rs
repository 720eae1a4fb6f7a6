//! Helpers of the HTTP suite: each runtime behind one trait, a server that runs as long as its
//! test, and clients that write bytes to a socket.

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

mod http2;
mod raw;
mod runtime;
mod served;
mod talk;

pub use http2::{Http2, StreamReply, call_in, on_client, within};
pub use mcp_adapter_tests::concurrently;
pub use raw::{Event, PATIENCE, Pending, Reply, Request};
pub use runtime::{Blocking, Listener, Runtime, Smol, Tokio, TokioThreads};
pub use served::{Served, eventually, server, text, tool};
pub use talk::{Session, get, initialize, initialize_with_icons, modern, modern_as, post};

/// Runs every test on every runtime, on all runtimes concurrently: tests mostly wait.
#[macro_export]
macro_rules! rows {
    ($($row:ident),* $(,)?) => {
        mod on_each_runtime {
            $(
                #[test]
                fn $row() {
                    $crate::rows!(@concurrently $row; Blocking, Smol, Tokio, TokioThreads);
                }
            )*
        }
    };
    (@concurrently $row:ident; $($runtime:ident),*) => {
        $crate::concurrently(&[$((stringify!($runtime), &|| super::$row::<$crate::$runtime>())),*])
    };
}
