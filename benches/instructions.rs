//! Counts the instructions of each case with callgrind; knows nothing of what the cases do.
//!
//! gungraun numbers the cases as [`mcp_benches::cases`] has them; the report gives them their names
//! again.

#![allow(missing_docs, reason = "the macros make items without any")]

use gungraun::prelude::*;
use gungraun::{Callgrind, EntryPoint};
use mcp_benches::Work;

fn prepare(case: usize) -> Work {
    (mcp_benches::cases()[case].prepare)()
}

/// What is not the machine's part of decoding: the two functions that are, alone.
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
#[bench::framing(args = (), config = only("mcp_proto::wire::line::LineReader::next"), setup = mixed)]
fn alone(mut work: Work) -> Work {
    work();
    work
}

library_benchmark_group!(name = instructions, benchmarks = [all, alone]);

main!(library_benchmark_groups = instructions);
