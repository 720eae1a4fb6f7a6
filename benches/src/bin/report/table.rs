//! The tables: counts next to the floor, the official SDK, and the goals.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::Command;

use crate::count::{self, Counts};

/// A goal: at most this multiple of the floor, and at most this part of the official SDK's count.
struct Goal {
    case: &'static str,
    /// The case of the official SDK and of the floor, if named differently.
    beside: &'static str,
    floor: Option<f64>,
    rmcp: Option<f64>,
}

const fn goal(
    case: &'static str,
    beside: &'static str,
    floor: Option<f64>,
    rmcp: Option<f64>,
) -> Goal {
    Goal { case, beside, floor, rmcp }
}

const GOALS: &[Goal] = &[
    goal("framing, UTF-8, envelope, mixed", "decode mixed", Some(1.3), Some(1.0 / 8.0)),
    goal("decode mixed", "decode mixed", None, None),
    goal("decode ping", "decode ping", None, None),
    goal("decode progress", "decode progress", None, None),
    goal("decode cancelled", "decode cancelled", None, None),
    goal("decode call", "decode call", None, None),
    goal("decode result", "decode result", None, None),
    goal("decode list", "decode list", None, None),
    goal("decode text 1 MB", "decode text 1 MB", None, None),
    goal("decode image 10 MB", "decode image 10 MB", None, None),
    goal("decode mixed, typed", "decode mixed", Some(1.6), Some(1.0 / 6.0)),
    goal("decode call, typed", "decode call", None, None),
    goal("decode result, typed", "decode result", None, None),
    goal("decode list, typed", "decode list", None, None),
    goal("decode text 1 MB, typed", "decode text 1 MB", None, Some(1.0 / 3.0)),
    goal("decode image 10 MB, typed", "decode image 10 MB", None, Some(1.0 / 4.0)),
    goal("decode call, params first", "decode call, params first", None, None),
    goal("decode call, byte at a time", "decode call, byte at a time", None, None),
    goal("encode call", "encode call", None, Some(0.3)),
    goal("encode progress", "encode progress", None, None),
    goal("encode result", "encode result", None, Some(0.65)),
    goal("encode unchanged list", "encode unchanged list", None, Some(0.05)),
    goal("round trip", "round trip", None, Some(1.0 / 7.0)),
    goal("round trip, stateless", "round trip", None, None),
    goal("progress, said and heard", "progress, said and heard", None, None),
    goal("tool call, text result", "tool call, text result", None, None),
    goal("tool call, Json result", "tool call, Json result", None, None),
    goal("tool call, one layer", "tool call, one layer", None, None),
    goal("tool call, two layers", "tool call, two layers", None, None),
    goal("HTTP request, client", "HTTP request, client", None, None),
    goal("HTTP request, client, token", "HTTP request, client, token", None, None),
    goal("HTTP request, server", "HTTP request, server", None, None),
    goal("HTTP request, server, token", "HTTP request, server, token", None, None),
];

/// The largest permitted multiple of another case.
const AGAINST_OURS: &[(&str, &str, f64)] = &[
    ("decode call, params first", "decode call", 1.2),
    ("round trip, 10^5 calls in flight", "round trip", 1.2),
    ("idle polls, 10^5 calls in flight", "idle polls, 1 call in flight", 1.0),
    ("HTTP request, client, token", "HTTP request, client", 1.1),
    ("HTTP request, server, token", "HTTP request, server", 2.0),
];

/// The largest permitted allocations per message.
const ALLOCATIONS: &[(&str, f64)] = &[
    ("decode call", 2.0),
    ("decode result", 4.0),
    ("decode ping", 0.0),
    ("encode call", 0.0),
    ("encode result", 0.0),
    ("round trip", 12.0),
    ("decode call, typed", 2.0),
    ("decode result, typed", 4.0),
    ("round trip, stateless", 12.0),
    ("HTTP request, client", 13.0),
    ("HTTP request, client, token", 14.0),
    ("HTTP request, server", 24.0),
    ("HTTP request, server, token", 40.0),
];

/// The largest permitted peaks, relative to the message.
const PEAKS: &[(&str, f64)] = &[
    ("decode text 1 MB", (1 << 20) as f64),
    ("decode text 1 MB, typed", (1 << 20) as f64),
    ("decode image 10 MB", (10 << 20) as f64),
    ("decode image 10 MB, typed", (10 << 20) as f64),
];

pub(crate) fn table(counts: &Counts, heap: &BTreeMap<String, (f64, u64)>, others: &str) -> String {
    let counts: BTreeMap<&str, f64> =
        counts.iter().map(|(key, count)| (key.as_str(), *count)).collect();
    let count = |key: String| counts.get(&*key).copied();
    // The public functions do more than this: the parts are counted one by one.
    let decoded =
        ["ours: framing alone, mixed", "floor: UTF-8 check, mixed", "ours: envelope alone, mixed"];
    let decoded: Option<f64> = decoded.iter().map(|key| counts.get(key)).sum();

    let mut out = String::from(HEAD);
    let _ = writeln!(out, "{}\n", machine());
    out.push_str(
        "## Instructions\n\nA message, or what is done once, as callgrind counts them.\n\n",
    );
    out.push_str(
        "| case | floor | ours | rmcp 3.9 | ours ÷ floor | ours ÷ rmcp | goal \
        |\n|---|--:|--:|--:|--:|--:|---|\n",
    );
    for goal in GOALS {
        let ours = if goal.case.starts_with("framing") {
            decoded
        } else {
            count(format!("ours: {}", goal.case))
        };
        let floor = count(format!("floor: {}", goal.beside));
        let rmcp = count(format!("rmcp: {}", goal.beside));
        let ratio = |beside: Option<f64>| Some(ours? / beside?);
        let (to_floor, to_rmcp) = (ratio(floor), ratio(rmcp));
        let mut goals = Vec::new();
        for (name, is, wanted) in [("floor", to_floor, goal.floor), ("rmcp", to_rmcp, goal.rmcp)] {
            if let (Some(is), Some(wanted)) = (is, wanted) {
                goals.push(format!("≤ {} × {name}: {}", short(wanted), judged(is <= wanted)));
            }
        }
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            goal.case,
            thousands(floor),
            thousands(ours),
            thousands(rmcp),
            to_floor.map_or_else(String::new, short),
            to_rmcp.map_or_else(String::new, short),
            goals.join(", "),
        );
    }
    out.push_str("\n| floors of the mixed stream, a message | instructions |\n|---|--:|\n");
    for (key, count) in
        counts.iter().filter(|(key, _)| key.starts_with("floor: ") && key.ends_with("mixed"))
    {
        let _ = writeln!(
            out,
            "| {} | {} |",
            key.trim_start_matches("floor: "),
            thousands(Some(*count))
        );
    }
    out.push_str("\n| case | instructions | against | ratio | goal |\n|---|--:|---|--:|---|\n");
    for (case, against, wanted) in AGAINST_OURS {
        let (Some(is), Some(was)) =
            (count(format!("ours: {case}")), count(format!("ours: {against}")))
        else {
            continue;
        };
        let met = judged(is / was <= wanted + 0.005);
        let _ = writeln!(
            out,
            "| {case} | {} | {against} | {} | ≤ {}: {met} |",
            thousands(Some(is)),
            short(is / was),
            short(*wanted)
        );
    }

    out.push_str(
        "\n## Allocations and peak\n\nIn steady state, with warm buffers. What is typed \
        also reads or writes the types of the schema,\nwhose strings and lists are the \
        application's to keep.\n\n",
    );
    out.push_str("| case | ours | rmcp 3.9 | goal |\n|---|--:|--:|---|\n");
    for (case, wanted) in ALLOCATIONS {
        let Some((ours, _)) = heap.get(&format!("ours: {case}")) else { continue };
        let beside = case.split(',').next().unwrap_or_default();
        let rmcp = heap
            .get(&format!("rmcp: {beside}"))
            .map_or_else(String::new, |(count, _)| short(*count));
        let _ = writeln!(
            out,
            "| {case} | {} | {rmcp} | ≤ {wanted}: {} |",
            short(*ours),
            judged(ours <= wanted)
        );
    }
    out.push_str(
        "\n| most bytes held, in parts of the message | ours | rmcp 3.9 | goal \
         |\n|---|--:|--:|---|\n",
    );
    for (case, bytes) in PEAKS {
        let Some((_, ours)) = heap.get(&format!("ours: {case}")) else { continue };
        let beside = case.split(',').next().unwrap_or_default();
        let part = |peak: u64| peak as f64 / bytes;
        let rmcp = heap
            .get(&format!("rmcp: {beside}"))
            .map_or_else(String::new, |(_, peak)| short(part(*peak)));
        let _ = writeln!(
            out,
            "| {case} | {} | {rmcp} | ≤ 1.5: {} |",
            short(part(*ours)),
            judged(part(*ours) <= 1.5)
        );
    }
    if !others.is_empty() {
        let _ = writeln!(out, "\n{others}");
    }
    let _ = write!(out, "\n{DEVICES}");
    out
}

/// Measured by hand, for another machine.
const DEVICES: &str = include_str!("../../../devices.md");

const HEAD: &str = "# Results

Written by `bash benches/run`; ratios are of one run. The corpus is in `src/corpus.rs`. The
official SDK decodes with its codec alone; ours go through a whole machine, which also matches
calls, keeps requests until they are answered, and queues events, except in the first row. The
official codec always decodes into types: its one count is compared with both of ours.

";

/// Describes the machine of the measurement.
fn machine() -> String {
    let first = |path: &str, prefix: &str| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(prefix)).unwrap_or_default();
        line.split_once(':').map_or_else(String::new, |(_, value)| value.trim().to_owned())
    };
    let valgrind = Command::new("valgrind").arg("--version").output();
    let valgrind = valgrind.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "Machine: {}, {cores} cores, {}, {}, release build.",
        first("/proc/cpuinfo", "model name"),
        count::compiler(),
        valgrind.unwrap_or_default(),
    )
}

fn judged(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

/// Formats three significant digits.
fn short(number: f64) -> String {
    match number {
        0.0 => "0".into(),
        ..0.1 => format!("{number:.3}"),
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

fn thousands(count: Option<f64>) -> String {
    match count {
        None => String::new(),
        Some(count) if count >= 1e6 => format!("{:.2} M", count / 1e6),
        Some(count) if count >= 1e4 => format!("{:.1} k", count / 1e3),
        Some(count) => format!("{count:.0}"),
    }
}
