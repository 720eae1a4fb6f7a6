//! A server on stdin and stdout, on the runtime named by its first argument, for tests that need a
//! process. The second argument, if any, is the size of its pipes in bytes. The environment
//! variable `EOF_DRAIN_MS`, if set, is `Limits::eof_drain_timeout` in milliseconds.

use std::io;
use std::time::Duration;

use mcp_adapter::Server;
use mcp_adapter::proto::Limits;

use mcp_adapter_tests::{Blocking, Runtime, Smol, Tokio, TokioThreads, shop};

fn serve<R: Runtime>() -> io::Result<()> {
    let server = match std::env::args().nth(2) {
        Some(bytes) => limited_shop()?.pipe_bytes(bytes.parse().map_err(io::Error::other)?),
        None => limited_shop()?,
    };
    R::block_on(R::serve_stdio(server))
}

fn limited_shop() -> io::Result<Server> {
    let Ok(millis) = std::env::var("EOF_DRAIN_MS") else { return Ok(shop()) };
    let eof_drain_timeout = Duration::from_millis(millis.parse().map_err(io::Error::other)?);
    Ok(shop().limits(Limits { eof_drain_timeout, ..Limits::default() }))
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
