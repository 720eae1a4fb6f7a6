//! A server for notes in a SQLite database, on stdin and stdout, with plain threads.
//!
//! Run it with `cargo run -p mcp-cookbook --example sqlite_notes -- notes.db`, and then paste
//! messages, or register the program with a client.

use std::env;
use std::error::Error;

use rusqlite::Connection;

fn main() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1).unwrap_or_else(|| "notes.db".to_owned());
    mcp_cookbook::server(Connection::open(file)?)?.serve_stdio().wait()?;
    Ok(())
}
