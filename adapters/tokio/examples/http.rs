//! A server over HTTP that stops gracefully: the tools of the example `server`, at
//! `http://127.0.0.1:8080/mcp`.
//!
//! Run it with `cargo run --example tokio_http -p mcp-tokio`, optionally followed by `-- ADDRESS`.
//! Ctrl-C or SIGTERM stops it: requests in progress are still answered.

#[allow(dead_code, reason = "the example `server` also has a main function")]
#[path = "server.rs"]
mod server;

use std::env;

use mcp_tokio::http::{Http, Stop};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "it is what the example is for")]
async fn main() -> Result<(), mcp_tokio::Error> {
    let address = env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let listener = TcpListener::bind(address).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);

    // Other parts of a program stop the server with a clone: `stop.clone().stop()`.
    let stop = Stop::on_signal();
    server::server().serve_http(listener, Http::new(), &stop).await?;
    println!("stopped");
    Ok(())
}
