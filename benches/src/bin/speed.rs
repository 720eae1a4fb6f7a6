//! Times operations on large messages, and prints megabytes per second as Markdown.

#![allow(clippy::print_stdout, reason = "a tool speaks")]

use std::time::Instant;

use mcp_benches::{By, Case, cases};

/// A timed operation and its size in bytes.
const LARGE: [(&str, f64); 4] = [
    ("decode text 1 MB", 1e6 * 1.048_576),
    ("decode text 1 MB, typed", 1e6 * 1.048_576),
    ("decode image 10 MB", 1e7 * 1.048_576),
    ("decode image 10 MB, typed", 1e7 * 1.048_576),
];

fn main() {
    let cases = cases();
    println!("## Large messages by the clock\n\nMB a second, the best of {TIMES} times.\n");
    println!("| case | floor | ours | rmcp 3.9 |\n|---|--:|--:|--:|");
    for (name, bytes) in LARGE {
        let untyped = name.split(',').next().unwrap_or_default();
        let of = |by, name: &str| {
            let case = cases.iter().find(|case| case.by == by && case.name == name);
            case.map_or_else(String::new, |case| format!("{:.0}", bytes / 1e6 / best(case)))
        };
        // The official SDK always decodes into types.
        println!(
            "| {name} | {} | {} | {} |",
            of(By::Floor, untyped),
            of(By::Ours, name),
            of(By::Rmcp, untyped)
        );
    }
}

const TIMES: u32 = 20;

/// Returns the best time, in seconds.
fn best(case: &Case) -> f64 {
    let once = |_| {
        let mut work = (case.prepare)();
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    };
    (0..TIMES).map(once).fold(f64::MAX, f64::min)
}
