//! Writes the snippets of README.md into a source file that the library includes.

#[path = "src/extract.rs"]
mod extract;

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    println!("cargo:rerun-if-changed={readme}");
    println!("cargo:rerun-if-changed=src/extract.rs");
    let snippets = extract::snippets(&fs::read_to_string(readme)?);
    let directory = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?;
    fs::write(PathBuf::from(directory).join("snippets.rs"), extract::render(&snippets))
}
