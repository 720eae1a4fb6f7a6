//! Prints the imports between the files of a folder, by depth:
//! `cargo run -p mcp-architecture --example imports -- mcp-proto/src/http/`.
//!
//! A file's depth is one more than the greatest depth it imports. Files in a cycle, or above one,
//! are printed last.

#![allow(clippy::print_stdout, reason = "prints a report")]

use mcp_architecture::imports::{self, Edge};
use mcp_architecture::sources::{self, SourceFile};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, io};

fn main() -> io::Result<()> {
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let folder = env::args().nth(1).unwrap_or_else(|| "mcp-proto/src/".to_owned());
    let files: Vec<SourceFile> = sources::read(workspace, &["mcp-proto/src", "adapters"])?;
    let inside = |file: usize| !files[file].is_test && files[file].path.starts_with(&folder);
    let mut edges = imports::edges(&files);
    edges.retain(|edge| inside(edge.from) && inside(edge.to));
    let all: Vec<usize> = (0..files.len()).filter(|file| inside(*file)).collect();
    for (depth, level) in levels(&all, &edges).iter().enumerate() {
        println!("depth {depth}");
        for file in level {
            let to: BTreeSet<&str> = edges
                .iter()
                .filter(|edge| edge.from == *file)
                .map(|edge| name(&files, edge.to, &folder))
                .collect();
            println!(
                "    {} -> {}",
                name(&files, *file, &folder),
                to.into_iter().collect::<Vec<_>>().join(", ")
            );
        }
    }
    Ok(())
}

fn name<'a>(files: &'a [SourceFile], file: usize, folder: &str) -> &'a str {
    files[file].path[folder.len()..].trim_end_matches(".rs")
}

/// Groups the files by depth. The last group has the files without a depth: in a cycle or above
/// one.
fn levels(all: &[usize], edges: &BTreeSet<Edge>) -> Vec<Vec<usize>> {
    let mut depths: BTreeMap<usize, usize> = BTreeMap::new();
    let mut levels: Vec<Vec<usize>> = Vec::new();
    loop {
        let is_free = |file: &usize| {
            let mut needed = edges.iter().filter(|edge| edge.from == *file);
            !depths.contains_key(file) && needed.all(|edge| depths.contains_key(&edge.to))
        };
        let next: Vec<usize> = all.iter().filter(|file| is_free(file)).copied().collect();
        if next.is_empty() {
            levels.push(all.iter().filter(|file| !depths.contains_key(file)).copied().collect());
            return levels;
        }
        depths.extend(next.iter().map(|file| (*file, levels.len())));
        levels.push(next);
    }
}
