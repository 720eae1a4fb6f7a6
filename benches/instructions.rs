//! Counts the instructions of each case with callgrind.
//!
//! gungraun numbers the cases in the order of [`mcp_benches::cases`]; the report maps the numbers
//! back to names.

#![allow(missing_docs, reason = "the macros define undocumented items")]

use gungraun::prelude::*;
use gungraun::{Callgrind, EntryPoint};
use mcp_benches::Work;

fn prepare(case: usize) -> Work {
    (mcp_benches::cases()[case].prepare)()
}

/// Counts only one of the two functions that are the machine's part of decoding.
fn only(function: &str) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().entry_point(EntryPoint::Custom(function.to_owned())));
    config
}

fn mixed() -> Work {
    let cases = mcp_benches::cases();
    let mixed = cases.iter().find(|case| case.key() == "ours: decode mixed").expect("it is a case");
    (mixed.prepare)()
}

#[library_benchmark]
#[benches::case(iter = 0..mcp_benches::cases().len(), setup = prepare)]
fn all(mut work: Work) -> Work {
    work();
    work
}

#[library_benchmark]
#[bench::envelope(args = (), config = only("mcp_proto::rpc::decode::decode"), setup = mixed)]
#[bench::framing(
    args = (), config = only("mcp_proto::wire::line::LineReader::next"), setup = mixed
)]
fn alone(mut work: Work) -> Work {
    work();
    work
}

library_benchmark_group!(name = instructions, benchmarks = [all, alone]);

main!(library_benchmark_groups = instructions);
