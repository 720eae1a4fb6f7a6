//! Times each case with criterion; knows nothing of what the cases do.

#![allow(missing_docs, reason = "the macros make items without any")]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn all(criterion: &mut Criterion) {
    for case in mcp_benches::cases() {
        let mut group = criterion.benchmark_group(case.key());
        group.throughput(Throughput::Elements(case.count)).sample_size(10);
        // What is prepared is used up: each time is of work that was got ready for it.
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
