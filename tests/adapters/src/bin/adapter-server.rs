//! A server on stdin and stdout, on the runtime named by the first argument, for tests that need a
//! process.

use std::io;

use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads, shop};

fn serve<R: Runtime>() -> io::Result<()> {
    R::block_on(R::serve_stdio(shop()))
}

fn main() -> io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some(Blocking::NAME) => serve::<Blocking>(),
        Some(Smol::NAME) => serve::<Smol>(),
        Some(Tokio::NAME) => serve::<Tokio>(),
        Some(TokioThreads::NAME) => serve::<TokioThreads>(),
        _ => Err(io::Error::other("on which runtime?")),
    }
}
