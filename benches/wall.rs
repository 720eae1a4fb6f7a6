//! Times each case with criterion.

#![allow(missing_docs, reason = "the macros define undocumented items")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn all(criterion: &mut Criterion) {
    for case in mcp_benches::cases() {
        let mut group = criterion.benchmark_group(case.key());
        group.throughput(Throughput::Elements(case.count)).sample_size(10);
        // Work can be run once: each measurement prepares its own.
        group.bench_function("wall", |bencher| {
            bencher.iter_batched(
                case.prepare,
                |mut work| {
                    work();
                    work
                },
                BatchSize::PerIteration,
            );
        });
    }
}

criterion_group!(wall, all);
criterion_main!(wall);
