//! Compiles each case and compares what this project adds to the error: the rest is the
//! compiler's and changes with its version.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use mcp_compile_error_tests::{Case, cases, compile};
use mcp_rustc_arguments::rustc_arguments;
// The cases use these crates.
use {mcp_blocking as _, mcp_tokio as _, schemars as _, serde as _, serde_json as _};

const COMPILER: &[&str] = &rustc_arguments!();
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");

#[test]
fn the_first_error_names_the_remedy() {
    let cases = cases(Path::new(CASES)).unwrap();
    assert!(cases.len() >= 30, "{} cases", cases.len());
    let next = AtomicUsize::new(0);
    let failures = thread::scope(|scope| {
        let work = || {
            let mine = || cases.get(next.fetch_add(1, Ordering::Relaxed));
            std::iter::from_fn(mine).filter_map(failure).collect::<Vec<String>>()
        };
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<String>>()
    });
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Returns what is wrong with the error of a case.
fn failure(case: &Case) -> Option<String> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = case.path.file_name().unwrap().display();
    let Some(error) = compile(&case.path, COMPILER, out).unwrap() else {
        return Some(format!("{name}: compiles"));
    };
    let is_missing = |text: &&String| !error.texts.iter().any(|said| said.contains(text.as_str()));
    let missing: Vec<&String> = case.texts.iter().filter(is_missing).collect();
    let is_expected = error.code == case.code && missing.is_empty();
    (!is_expected)
        .then(|| format!("{name}: expected {} with {missing:#?}, found {error:#?}", case.code))
}
