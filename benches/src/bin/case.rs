//! Does one case, named by its number, so that callgrind can count it; knows nothing of callgrind.

#![allow(clippy::expect_used, reason = "a tool may stop where it stands")]

use mcp_benches::Work;

fn main() {
    let number =
        std::env::args().nth(1).and_then(|number| number.parse::<usize>().ok()).expect("a number");
    let case = mcp_benches::cases().into_iter().nth(number).expect("a case");
    measured(&mut (case.prepare)());
}

/// What is counted: nothing else has this name.
#[inline(never)]
fn measured(work: &mut Work) {
    work();
    // Not the last thing done, so that this function is on the stack for all of it.
    std::hint::black_box(work);
}
