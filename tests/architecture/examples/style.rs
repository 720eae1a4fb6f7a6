//! Prints every breach of the house style, grouped by directory, and a table of their numbers:
//! `cargo run -p mcp-architecture --example style -- [--workspace PATH] [PREFIX]…`.
//!
//! Only paths that start with one of the prefixes are listed; without prefixes, all are.

#![allow(clippy::print_stdout, reason = "prints a report")]

use mcp_architecture::{Breach, sources, style};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, io};

fn main() -> io::Result<()> {
    let mut workspace = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut prefixes = Vec::new();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--workspace" {
            let path = arguments.next();
            workspace = path.ok_or_else(|| io::Error::other("--workspace needs a path"))?.into();
        } else {
            prefixes.push(argument.trim_start_matches("./").to_owned());
        }
    }

    let mut breaches = style::in_sources(&sources::read(&workspace, sources::ALL)?);
    for (path, text) in sources::papers(&workspace)? {
        breaches.extend(style::in_markdown(&path, &text));
    }
    let wanted = |breach: &Breach| {
        prefixes.is_empty() || prefixes.iter().any(|prefix| breach.place.starts_with(prefix))
    };
    breaches.retain(wanted);

    let mut directories: BTreeMap<&str, Vec<&Breach>> = BTreeMap::new();
    for breach in &breaches {
        let directory = breach.place.rsplit_once('/').map_or(".", |(directory, _)| directory);
        directories.entry(directory).or_default().push(breach);
    }
    for (directory, breaches) in &directories {
        println!("{directory}");
        for breach in breaches {
            println!("    {breach}");
        }
    }
    println!();
    for (directory, breaches) in &directories {
        println!("{:6}  {directory}", breaches.len());
    }
    println!("{:6}  in total", breaches.len());
    Ok(())
}
