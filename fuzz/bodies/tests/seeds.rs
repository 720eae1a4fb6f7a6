//! Writes the first corpora, from what the golden transcripts say and from the values of the schema's own tests.

#![expect(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

use std::fs;
use std::path::Path;

use mcp_fuzz_bodies::{mark, selector};

/// `cargo test -p mcp-fuzz-bodies --test seeds -- --ignored`; then fuzz, and `cargo fuzz cmin`.
#[test]
#[ignore = "it writes files"]
fn write_seeds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut lines = Vec::new();
    for entry in fs::read_dir(root.join("tests/harness/transcripts")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_client = text.contains("role: client");
        let stream: String =
            text.lines().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n")).collect();
        let target = if is_client { "stream_client" } else { "stream_server" };
        put(target, name, &script(&text));
        if name.contains("crlf") || name.contains("eof") {
            put("line", name, format!("\u{7}{stream}").as_bytes());
        }
        let said = text.lines().filter(|line| line.starts_with("> ") || line.starts_with("< "));
        lines.extend(said.map(|line| line[2..].to_owned()).filter(|line| line.len() < 600));
    }
    lines.sort_unstable();
    lines.dedup();
    for (index, line) in lines.iter().enumerate().filter(|(index, _)| index % 9 == 0) {
        put("envelope", &format!("line-{index}"), line.as_bytes());
        put("raw_splice", &format!("line-{index}"), line.as_bytes());
    }
    put("line", "marks", b"\x03\xEF\xBB\xBF{}\r\n \r\n[1]\n\r\r\n\"\xEF\xBB\xBF\"\n0123456789012345678901234567890123456789012345678901234567890\nhalf");
    for (name, text) in VALUES {
        let mut seed = vec![selector(name).unwrap()];
        seed.extend_from_slice(text.as_bytes());
        put("schema_decode", &name.replace("s::", ""), &seed);
    }
    for (index, ops) in
        [&[0_u8, 1, 2, 0, 2, 1, 5, 2, 9, 4][..], &[0; 24], &[7, 3, 5, 1, 0, 2, 0, 9]].iter().enumerate()
    {
        put("pair", &format!("ops-{index}"), &ops.repeat(4));
        put("revisions", &format!("ops-{index}"), &ops.repeat(4));
    }
}

/// What happens in a transcript, as a script; what its application does becomes something like it.
fn script(text: &str) -> Vec<u8> {
    let modern = text.contains("revisions: 2026-07-28");
    let mut script = vec![if modern { 6 } else { 2 }, 0, 6];
    for line in text.lines() {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (mark, rest.split_whitespace().next().unwrap_or_default()) {
            (">", _) => script.extend(format!("{rest}\n").bytes()),
            ("@", act) => {
                let acts = [
                    ("call", 0),
                    ("listen", 6),
                    ("log-level", 7),
                    ("cancel", 8),
                    ("respond", 10),
                    ("fail", 13),
                    ("progress", 14),
                    ("log", 16),
                    ("changed", 17),
                    ("ask", 18),
                    ("notify", 20),
                    ("close", 23),
                ];
                let act = acts.iter().find(|(name, _)| *name == act).map_or(3, |(_, act)| *act);
                script.extend([mark::POLL, 9, mark::ACT, act, if act == 23 { 255 } else { 8 }]);
            }
            ("+", time) => script.extend([mark::WAIT, if time.ends_with("ms") { 7 } else { 17 }]),
            ("eof", _) => script.push(mark::EOF),
            _ => {}
        }
    }
    script
}

fn put(target: &str, name: &str, seed: &[u8]) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(target);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join(name), seed).unwrap();
}

const VALUES: &[(&str, &str)] = &[
    (
        "s::Tool",
        r#"{"name":"a","title":"A","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[{"src":"x","sizes":["1x1"],"theme":"dark"}],"execution":{"taskSupport":"optional"}}"#,
    ),
    (
        "s::CallToolResult",
        r#"{"content":[{"type":"text","text":"t","annotations":{"audience":["user"],"priority":0.5}},{"type":"image","data":"","mimeType":"i/p"},{"type":"resource_link","uri":"a:b","name":"n"},{"type":"resource","resource":{"uri":"a:b","text":""}},{"type":"x"}],"structuredContent":{"a":1},"isError":false}"#,
    ),
    (
        "s::Capabilities",
        r#"{"tools":{"listChanged":true},"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"experimental":{"a":{}},"extensions":{"b/c":{}},"tasks":{"list":{}},"x":1}"#,
    ),
    (
        "s::Elicit",
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","format":"email","minLength":1},"b":{"type":"number","minimum":0.5},"c":{"type":"boolean","default":true},"d":{"type":"string","enum":["x"],"enumNames":["X"]},"e":{"type":"array","items":{"type":"string","enum":["x"]}}},"required":["a"]}}"#,
    ),
    (
        "s::CreateMessage",
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"t"}},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"n","input":{}}]}],"maxTokens":9,"modelPreferences":{"hints":[{"name":"m"}],"costPriority":0.1},"includeContext":"none","tools":[{"name":"a","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"auto"}}"#,
    ),
    (
        "s::InputRequired",
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}"#,
    ),
    (
        "s::DiscoverResult",
        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}"#,
    ),
    (
        "s::InitializeResult",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"},"instructions":"i"}"#,
    ),
    ("s::CompleteResult", r#"{"completion":{"values":["a"],"total":3,"hasMore":true}}"#),
    (
        "s::Complete",
        r#"{"ref":{"type":"ref/prompt","name":"n","title":"t"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":"c"}}}"#,
    ),
    (
        "s::DetailedTask",
        r#"{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":5,"ttlMs":1}"#,
    ),
    (
        "s::ReadResourceResult",
        r#"{"contents":[{"uri":"a:b","text":"t"},{"uri":"a:b","blob":"AA=="}],"ttlMs":5,"cacheScope":"public"}"#,
    ),
    (
        "s::GetPromptResult",
        r#"{"description":"d","messages":[{"role":"user","content":{"type":"audio","data":"","mimeType":"a/b"}}]}"#,
    ),
    (
        "s::Listen",
        r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["t"]}}"#,
    ),
    ("RequestId", r#""\u0041""#),
];
