//! Runs the other programs of this package and parses their output.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Counts by case.
pub(crate) type Counts = Vec<(String, f64)>;

/// Cases that count only the functions of decoding proper, without the UTF-8 check.
const PARTS: [(&str, &str); 2] = [
    ("ours: envelope alone, mixed", "mcp_proto::rpc::decode::decode_utf8*"),
    ("ours: framing alone, mixed", "mcp_proto::wire::line::LineReader::next*"),
];

/// Counts the instructions per message of the cases that are `wanted`.
pub(crate) fn instructions(wanted: impl Fn(&str) -> bool) -> Counts {
    let cases = mcp_benches::cases();
    let mixed =
        cases.iter().position(|case| case.key() == "ours: decode mixed").expect("it is a case");
    let all = cases
        .iter()
        .enumerate()
        .map(|(number, case)| (case.key(), number, "case::measured*", case.count));
    let parts = PARTS
        .iter()
        .map(|(key, function)| ((*key).to_owned(), mixed, *function, cases[mixed].count));
    let jobs: Vec<_> = all.chain(parts).filter(|(key, ..)| wanted(key)).collect();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((key, number, function, count)) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let total = callgrind(*number, function);
                    eprintln!("{key}: {total}");
                    done.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(key, total as f64 / *count as f64);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    jobs.iter().map(|(key, ..)| (key.clone(), done[key])).collect()
}

/// Counts the instructions of one function with its callees, in one case.
fn callgrind(number: usize, function: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={function}"))
        .arg(beside("case"))
        .arg(number.to_string())
        .output()
        .expect("valgrind is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    let collected =
        said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    let collected: u64 = collected.unwrap_or_else(|| unreachable!("callgrind counts: {said}"));
    assert!(output.status.success() && collected > 0, "{said}");
    collected
}

/// Returns allocations per message and peak bytes, by case.
pub(crate) fn allocations() -> BTreeMap<String, (f64, u64)> {
    let output = Command::new(beside("heap")).output().expect("it is built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("it is UTF-8");
    let row = |line: &str| {
        let mut columns = line.split('\t');
        let key = columns.next()?.to_owned();
        Some((key, (columns.next()?.parse().ok()?, columns.next()?.parse().ok()?)))
    };
    said.lines().filter_map(row).collect()
}

/// Returns the output of the other programs, without those that were not run.
pub(crate) fn others() -> String {
    let said = ["programs", "http", "one-core", "http2", "bytes", "speed"]
        .map(|name| std::fs::read_to_string(beside(&format!("{name}.md"))).unwrap_or_default());
    said.iter()
        .map(|said| said.trim())
        .filter(|said| !said.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Returns the compiler that built this program.
pub(crate) fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output().expect("rustc is installed");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn beside(name: &str) -> PathBuf {
    std::env::current_exe().expect("it has a path").with_file_name(name)
}
