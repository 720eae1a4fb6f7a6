//! Prints how much code each package has, and the non-test lines of each room: `cargo
//! run -p mcp-architecture --example sizes`.
//!
//! Takes the path of another checkout as an optional argument.

#![allow(clippy::print_stdout, reason = "prints a report")]

use mcp_architecture::{lines, plans, sizes, sources};
use std::path::PathBuf;
use std::{env, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let workspace = env::args_os().nth(1).map_or(here, PathBuf::from);
    let all = sources::read(&workspace, sources::ALL)?;
    println!("{}", lines::table(&lines::count(&all)));
    for (plan, budgets) in plans::PLANS.iter().zip(sizes::BUDGETS) {
        println!("\n{}", plan.sources);
        print!("{}", sizes::table(&sizes::rooms(&all, plan), budgets));
    }
    Ok(())
}
