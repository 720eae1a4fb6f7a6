//! Keeps the core free of `std`, clocks, threads, randomness, hash order and console output.
//!
//! It finds what a source file names; the build of `tests/no-std` proves the rest.

use crate::Breach;
use crate::sources::{SourceFile, reads};

/// What a core file may not name outside its tests, and why.
const FORBIDDEN: &[(&[&str], &str)] = &[
    (&["Instant", "::", "now"], "time is an argument: the core reads no clock"),
    (&["SystemTime"], "time is an argument: the core reads no clock"),
    (&["thread", "::"], "the core has no threads"),
    (&["thread_local", "!"], "the core has no threads"),
    (&["HashMap"], "hash order is not deterministic"),
    (&["HashSet"], "hash order is not deterministic"),
    (&["RandomState"], "hash order is not deterministic"),
    (&["hashbrown"], "hash order is not deterministic"),
    (&["getrandom"], "randomness is IO"),
    (&["rand", "::"], "randomness is IO"),
    (&["dbg", "!"], "the core prints nothing"),
    (&["eprint", "!"], "the core prints nothing"),
    (&["eprintln", "!"], "the core prints nothing"),
    (&["print", "!"], "the core prints nothing"),
    (&["println", "!"], "the core prints nothing"),
];

/// Finds the forbidden names in the core's files.
///
/// `#[cfg(feature = "std")]` permits `std` itself and nothing else: a feature never changes
/// behavior.
#[must_use]
pub fn impurities(core: &[SourceFile]) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in core {
        for (at, token) in file.tokens.iter().enumerate().filter(|(_, token)| !token.in_test) {
            if token.is("std") && !token.in_std {
                breaches.push(file.breach(token.line, "`std`: the core is `no_std`"));
            }
            let found = FORBIDDEN.iter().filter(|(words, _)| reads(&file.tokens, at, words));
            breaches.extend(found.map(|(words, why)| {
                file.breach(token.line, format!("`{}`: {why}", words.concat()))
            }));
        }
    }
    breaches
}

/// Finds the missing promises of the core's `lib.rs`: no `std` and no `unsafe`, unconditionally.
#[must_use]
pub fn unkept_promises(lib: &SourceFile) -> Vec<Breach> {
    let promises: [&[&str]; 2] =
        [&["#", "!", "[", "no_std", "]"], &["#", "!", "[", "forbid", "(", "unsafe_code", ")", "]"]];
    let kept = |promise: &[&str]| (0..lib.tokens.len()).any(|at| reads(&lib.tokens, at, promise));
    let unkept = promises.into_iter().filter(|promise| !kept(promise));
    unkept.map(|promise| lib.breach(1, format!("`{}` is missing", promise.concat()))).collect()
}

#[cfg(test)]
mod tests {
    use super::{impurities, unkept_promises};
    use crate::sources::planted;

    fn found(text: &str) -> Vec<String> {
        let breaches = impurities(&planted(&[("mcp-proto/src/wire.rs", text)]));
        breaches.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_impurity_is_reported() {
        for text in [
            "use std::fmt;",
            "extern crate std;",
            "fn f() -> ::std::string::String {}",
            "fn f() { Instant::now() }",
            "fn f(t: SystemTime) {}",
            "fn f() { thread::sleep(d) }",
            "use alloc::collections::HashMap;",
            "type S = HashSet<u8>;",
            "fn f() { RandomState::new() }",
            "use hashbrown::raw;",
            "fn f() { println!(\"x\") }",
            "fn f() { dbg!(x); }",
            "fn f() { rand::random() }",
        ] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
        assert_eq!(
            found("\nuse std::fmt;"),
            ["mcp-proto/src/wire.rs:2: `std`: the core is `no_std`"]
        );
    }

    #[test]
    fn comments_strings_tests_and_other_words_are_free() {
        for text in [
            "//! No std::io, no HashMap.\n/* println!() */ const S: &str = \"std::time\";",
            "#[cfg(test)] mod tests { use std::collections::HashMap; }",
            "fn f(now: Instant) { let thread = now; operand::g(thread) }",
        ] {
            assert_eq!(found(text), [""; 0]);
        }
    }

    #[test]
    fn the_feature_frees_std_and_nothing_else() {
        assert_eq!(found("#[cfg(feature = \"std\")] impl std::error::Error for E {}"), [""; 0]);
        assert_eq!(
            found("#[cfg(feature = \"std\")] fn f() { std::time::Instant::now() }").len(),
            1
        );
        assert_eq!(found("#[cfg(feature = \"stdio\")] use std::io;").len(), 1);
    }

    #[test]
    fn the_promises_must_be_unconditional() {
        let unkept = |text| unkept_promises(&planted(&[("mcp-proto/src/lib.rs", text)])[0]).len();
        assert_eq!(unkept("//! x\n#![no_std]\n#![forbid(unsafe_code)]"), 0);
        assert_eq!(
            unkept("#![cfg_attr(not(feature = \"std\"), no_std)]\n#![forbid(unsafe_code)]"),
            1
        );
        assert_eq!(unkept("#![no_std]\n#![deny(unsafe_code)]"), 1);
        assert_eq!(unkept("// #![no_std]\n// #![forbid(unsafe_code)]"), 2);
    }
}
