//! The bar chart: each implementation of a case, relative to the official SDK.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::count::Counts;

const CASES: [(&str, &str); 7] = [
    ("decode mixed", "decode, mixed stream"),
    ("decode call", "decode a call of 300 B"),
    ("decode list", "decode a list of 8 KB"),
    ("encode call", "encode a call of 300 B"),
    ("encode result", "encode a result"),
    ("encode unchanged list", "encode an unchanged list"),
    ("round trip", "round trip in one process"),
];

const LEFT: f64 = 210.0;
const WIDTH: f64 = 400.0;
const BAR: f64 = 12.0;
const GROUP: f64 = 46.0;

pub(crate) fn picture(counts: &Counts) -> String {
    let counts: BTreeMap<&str, f64> =
        counts.iter().map(|(key, count)| (key.as_str(), *count)).collect();
    let height = GROUP * CASES.len() as f64 + 34.0;
    let width = LEFT + WIDTH + 100.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"8\" y=\"20\" font-weight=\"bold\" fill=\"#222222\">Instructions a message: \
         mcp-proto, the official SDK (rmcp 3.9), the floor</text>\n"
    );
    for (at, (case, name)) in CASES.iter().enumerate() {
        let top = 34.0 + GROUP * at as f64;
        let _ = writeln!(out, "<text x=\"8\" y=\"{}\" fill=\"#222222\">{name}</text>", top + 22.0);
        let Some(rmcp) = counts.get(&*format!("rmcp: {case}")) else { continue };
        let bars = [("ours", "#2a6f97"), ("rmcp", "#c8553d"), ("floor", "#9aa5b1")];
        let present = bars
            .iter()
            .filter_map(|(by, colour)| Some((counts.get(&*format!("{by}: {case}"))?, colour)));
        for (row, (count, colour)) in present.enumerate() {
            let y = top + BAR * row as f64;
            let length = (count / rmcp * WIDTH).max(1.0);
            let _ = writeln!(
                out,
                "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{}\" \
                 fill=\"{colour}\"/>\
                 <text x=\"{:.1}\" y=\"{}\" font-size=\"10\" fill=\"#444444\">{:.1} k</text>",
                BAR - 2.0,
                LEFT + length + 4.0,
                y + 9.0,
                count / 1e3,
            );
        }
    }
    out.push_str("</svg>\n");
    out
}
