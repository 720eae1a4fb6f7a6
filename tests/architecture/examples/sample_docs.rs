//! Prints doc comments of public items, drawn at random, for a reader to rate:
//! `cargo run -p mcp-architecture --example sample_docs -- [N] [--seed S] [--workspace PATH]`.
//!
//! Draws 100 without `N`. Without a seed, the clock chooses one; it is printed, and with it the
//! sample can be drawn again.

#![allow(clippy::print_stdout, reason = "prints a sample")]

use mcp_architecture::{docs, sources};
use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> Result<(), Box<dyn Error>> {
    let mut workspace = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let (mut count, mut seed) = (100, None);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--seed" => seed = Some(value()?.parse()?),
            "--workspace" => workspace = value()?.into(),
            number => count = number.parse()?,
        }
    }
    let seed = match seed {
        Some(seed) => seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };

    let mut files = sources::read(&workspace, &["adapters", "mcp-proto/src"])?;
    files.retain(|file| file.path.contains("/src/"));
    let items = docs::public_items(&files);
    println!("{count} of {} public doc comments, seed {seed}", items.len());
    for (n, item) in docs::sample(items, count, seed).iter().enumerate() {
        println!("\n{}. {}\n    {}", n + 1, item.place, item.signature);
        for line in item.comment.lines() {
            println!("    | {line}");
        }
    }
    Ok(())
}
