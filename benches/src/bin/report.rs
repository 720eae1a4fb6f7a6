//! Runs every case under callgrind, and writes the table and the picture, or checks the counts
//! against the baseline.
//!
//! - `report`: all cases, to `RESULTS.md` and `results.svg`;
//! - `report check`: ours only, against `BASELINE`; fails if a count grew by more than 5 %;
//! - `report renew`: ours only, to `BASELINE`.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool prints, and may panic"
)]

#[path = "report/count.rs"]
mod count;
#[path = "report/picture.rs"]
mod picture;
#[path = "report/table.rs"]
mod table;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// The largest permitted ratio of a count to its baseline.
const GROWTH_MAX: f64 = 1.05;

fn main() -> ExitCode {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let baseline = here.join("BASELINE");
    match std::env::args().nth(1).as_deref() {
        Some("check") => return check(&std::fs::read_to_string(baseline).expect("a baseline")),
        Some("renew") => {
            let mut text = format!("{}\n", count::compiler());
            for (key, count) in count::instructions(|key| key.starts_with("ours")) {
                text.push_str(&format!("{key}\t{count:.0}\n"));
            }
            std::fs::write(baseline, text).expect("the file is writable");
        }
        _ => {
            let counts = count::instructions(|_| true);
            let table = table::table(&counts, &count::allocations(), &count::others());
            println!("{table}");
            std::fs::write(here.join("RESULTS.md"), table).expect("the file is writable");
            std::fs::write(here.join("results.svg"), picture::picture(&counts))
                .expect("the file is writable");
        }
    }
    ExitCode::SUCCESS
}

/// Compares the counts with the baseline. The compiler affects the counts: with another compiler,
/// differences are shown and are not failures.
fn check(baseline: &str) -> ExitCode {
    let mut lines = baseline.lines();
    let compiler = lines.next().unwrap_or_default();
    let before: BTreeMap<&str, f64> = lines
        .filter_map(|line| line.split_once('\t'))
        .filter_map(|(key, count)| Some((key, count.parse().ok()?)))
        .collect();
    let mut grown = 0;
    for (key, now) in count::instructions(|key| key.starts_with("ours")) {
        let Some(before) = before.get(&*key) else {
            println!("{key}: {now:.0}, not in the baseline");
            grown += 1;
            continue;
        };
        let ratio = now / before;
        let judged = if ratio > GROWTH_MAX { "TOO MANY" } else { "" };
        println!("{key}: {now:.0}, was {before:.0} ({:+.1} %) {judged}", (ratio - 1.0) * 100.0);
        grown += u32::from(ratio > GROWTH_MAX);
    }
    if grown == 0 {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "{grown} counts have grown by more than 5 %: make them smaller, or say why and `bash \
         benches/run renew`"
    );
    if compiler != count::compiler() {
        eprintln!(
            "counted with another compiler ({compiler}), so that this is no failure: renew the \
             baseline"
        );
        return ExitCode::SUCCESS;
    }
    ExitCode::FAILURE
}
