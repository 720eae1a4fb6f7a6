//! Runs one case, chosen by number, so that callgrind can count it.

#![allow(clippy::expect_used, reason = "a tool may panic")]

use mcp_benches::Work;

fn main() {
    let number =
        std::env::args().nth(1).and_then(|number| number.parse::<usize>().ok()).expect("a number");
    let case = mcp_benches::cases().into_iter().nth(number).expect("a case");
    measured(&mut (case.prepare)());
}

/// The counted function: no other has this name.
#[inline(never)]
fn measured(work: &mut Work) {
    work();
    // Not the last statement, so that this function stays on the stack throughout.
    std::hint::black_box(work);
}
