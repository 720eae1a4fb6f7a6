//! A server on stdin and stdout, on the runtime named by its first argument, for tests that need a
//! process. The second argument, if any, is the size of its pipes in bytes.

use std::io;

use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads, shop};

fn serve<R: Runtime>() -> io::Result<()> {
    let server = match std::env::args().nth(2) {
        Some(bytes) => shop().pipe_bytes(bytes.parse().map_err(io::Error::other)?),
        None => shop(),
    };
    R::block_on(R::serve_stdio(server))
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
