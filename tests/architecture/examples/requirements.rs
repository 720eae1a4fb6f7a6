//! Renews the columns of `tests/REQUIREMENTS.md` that say where each requirement is enforced and
//! tested: `cargo run -p mcp-architecture --example requirements`. Prints what is missing.

#![allow(clippy::print_stdout, reason = "prints what is missing")]

use mcp_architecture::{coverage, sources};
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let files = sources::read(workspace, sources::ALL)?;
    let path = "tests/REQUIREMENTS.md";
    let list = coverage::renewed(&files, &fs::read_to_string(workspace.join(path))?);
    fs::write(workspace.join(path), &list)?;
    for breach in coverage::outdated(&files, path, &list) {
        println!("{breach}");
    }
    Ok(())
}
