//! Writes the initial corpora, from the golden transcripts and from the values of the schema's own
//! tests.

#![expect(clippy::unwrap_used, reason = "a tool may panic")]

use std::fs;
use std::path::Path;

use mcp_fuzz_bodies::{mark, selector};

/// Run `cargo run -p mcp-fuzz-bodies --example seeds`; then fuzz, and run `cargo fuzz cmin`.
fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut lines = Vec::new();
    for entry in fs::read_dir(root.join("tests/harness/transcripts")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_client = text.contains("role: client");
        let stream: String = text
            .lines()
            .filter_map(|line| line.strip_prefix("> "))
            .map(|line| format!("{line}\n"))
            .collect();
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
    put(
        "line",
        "marks",
        b"\x03\xEF\xBB\xBF{}\r\n \r\n[1]\n\r\r\n\"\xEF\xBB\xBF\"\n012345678901234\
        5678901234567890123456789012345678901234567890\nhalf",
    );
    for (target, name, seed) in AUTHORIZATION {
        put(&format!("auth_{target}"), name, seed.as_bytes());
    }
    for (name, text) in VALUES {
        let mut seed = vec![selector(name).unwrap()];
        seed.extend_from_slice(text.as_bytes());
        put("schema_decode", &name.replace("s::", ""), &seed);
    }
    for (name, which, text) in DOCUMENTS {
        put("text", name, &[&[*which], text.as_bytes()].concat());
    }
    for (index, value) in FIELDS.iter().enumerate() {
        put("field", &format!("value-{index}"), value.as_bytes());
    }
    for (name, head) in GUARDED {
        put("guard", name, head.as_bytes());
    }
    for (index, stream) in STREAMS.iter().enumerate() {
        put("sse", &format!("stream-{index}"), stream);
    }
    for (name, steps) in LEGACY_SSE {
        put("legacy_sse", name, steps);
    }
    for (name, request) in REQUESTS {
        put("admit", name, request.as_bytes());
    }
    for (index, ops) in
        [&[0_u8, 1, 2, 0, 2, 1, 5, 2, 9, 4][..], &[0; 24], &[7, 3, 5, 1, 0, 2, 0, 9]]
            .iter()
            .enumerate()
    {
        put("pair", &format!("ops-{index}"), &ops.repeat(4));
        put("revisions", &format!("ops-{index}"), &ops.repeat(4));
    }
}

/// Converts a transcript to a script; actions of the application become similar ones.
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
        "s::SubscriptionsListen",
        r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"],"taskIds":["t"]}}"#,
    ),
    ("RequestId", r#""\u0041""#),
];

/// Documents of the text form, with the index of their type.
const DOCUMENTS: &[(&str, u8, &str)] = &[
    (
        "client_ready",
        0,
        r#"{"event":"ready","peer":{"revision":"2026-07-28","info":{"name":"s","version":"1","icons":[{"src":"https://a"}]},"capabilities":{"declared":["tools"],"raw":{"tools":{}}},"instructions":"i"},"v":1}"#,
    ),
    (
        "client_completed",
        0,
        r#"{"event":"completed","call":1,"outcome":{"error":{"name":"refused","error":{"code":-32602,"message":"m","data":[1]}}}}"#,
    ),
    (
        "client_subscribed",
        0,
        r#"{"event":"subscribed","call":1,"filter":{"tools":true,"uris":["a:b"],"elements":[["k","e"]]}}"#,
    ),
    (
        "server_request",
        1,
        r#"{"event":"request","incoming":18446744073709551615,"request":{"method":"tools/call","params":{"name":"t"}},"context":{"peer":{"revision":"2025-11-25","info":{"name":"c","version":"1"},"capabilities":["roots"]},"log_level":"debug","wants_progress":true,"input_responses":{"k":{}},"state":"s","meta":{},"caller":{"principal":"ada"}}}"#,
    ),
    (
        "server_closed",
        1,
        r#"{"event":"closed","reason":{"name":"fault","fault":{"name":"unreachable","cause":{"name":"http","status":503,"reason":"r"}}}}"#,
    ),
    (
        "call",
        2,
        r#"{"command":"call","method":"tools/call","params":{"name":"t"},"options":{"progress":true,"timeout":0.5,"parent":3}}"#,
    ),
    (
        "ask",
        2,
        r#"{"command":"request_input","incoming":1,"questions":{"k":{"method":"roots/list"}},"state":"s"}"#,
    ),
    (
        "changed",
        2,
        r#"{"command":"notify_changed","change":{"change":"extension","method":"x/y","key":"k","element":"e","params":{}}}"#,
    ),
    (
        "progress",
        2,
        r#"{"command":"progress","incoming":1,"progress":{"progress":-0.0,"total":"inf","message":"m"}}"#,
    ),
    ("outcome", 3, r#"{"error":{"name":"stale"}}"#),
    (
        "client_config",
        4,
        r#"{"info":{"name":"c","version":"1"},"capabilities":{"declared":["sampling.tools"],"experimental":{"a":1},"extensions":{"a.b/c":{}}},"expect_era":"legacy","sends_info":false,"limits":{"ping_every":1.5}}"#,
    ),
    (
        "server_config",
        5,
        r#"{"info":{"name":"s","version":"1"},"extensions":[{"id":"a.b/c","settings":{"d":1},"revisions":["2025-06-18","2026-07-28"],"methods":[{"name":"x/y","is_request":true,"sender":"client","named_by":"b"}],"result_types":[["tools/call","sketch"]],"listen_keys":["k"]}],"served_methods":["x/z"],"on_violation":"close"}"#,
    ),
    ("limits", 6, r#"{"call_timeout":1e-3,"violations_max":3,"depth_max":128}"#),
    ("violation", 11, r#"{"kind":{"name":"not_json","number":407},"detail":"d"}"#),
];

/// A query, headers and the claims of a token.
const GUARDED: &[(&str, &str)] = &[
    (
        "accepted",
        "a=b\nHost: h\nAuthorization: Bearer abc==\n{\"iss\":\"https://id.example.com\",\
         \"sub\":\"ada\",\"aud\":[\"https://mcp.example.com/mcp\"],\"exp\":1800000100,\
         \"scope\":\"b c\"}",
    ),
    (
        "insufficient",
        "\nauthorization: bearer x\n{\"iss\":\"https://id.example.com\",\"client_id\":\"c\",\
         \"aud\":\"https://mcp.example.com/mcp\",\"exp\":1.8e9,\"nbf\":1,\"scp\":[\"d\"]}",
    ),
    ("expired", "\n{\"iss\":\"https://id.example.com\",\"sub\":\"ada\",\"exp\":1}"),
    ("twice", "\nAuthorization: Bearer a\nAUTHORIZATION: Bearer b\n{}"),
    ("in_the_query", "access_token=a\nAuthorization: Basic a\n[]"),
];

const FIELDS: &[&str] = &[
    "us-west1",
    "Hello, 世界",
    " padded ",
    "=?base64?SGVsbG8=?=",
    "=?base64?literal?=",
    "42.0",
    "-9.007199254740991e15",
    "application/json, text/*;q=0.5, */*;q=0",
    "localhost:8080",
    "[::1]:80",
    "https://app.example.com:443",
    "Bearer error=\"invalid_token\", resource_metadata=\"https://a/b\", Basic realm=x",
];

const STREAMS: &[&[u8]] = &[
    b"\x01id: 1\nevent: message\ndata: {}\n\nid: 2\rdata\r\r:c\r\n\r\nretry: 500\r\ndata: \
        a\ndata: b\n\ndata: cut",
    b"\x02\xEF\xBB\xBFdata: 0123456789012345678901234567890123456789012345678901\n\nid:\0\ndata:x\
        \n\nid\n\n",
    b"\x03a-1|message|{\"jsonrpc\":\"2.0\"}",
];

/// The first letter picks the revisions: `f` all, `d` the modern one, `e` the legacy ones.
const REQUESTS: &[(&str, &str)] = &[
    (
        "modern",
        "fPOST\nHost:localhost:1\nOrigin:http://[::1]\nContent-Type:application/json\nAccept:*/*\n\
         MCP-Protocol-Version:2026-07-28\nMcp-Method:tools/call\nMcp-Name:t\nMcp-Param-A:=?base64?\
         SGVsbG8=?=\nMcp-Param-N:42.0\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\
         \"params\":{\"name\":\"t\",\"arguments\":{\"a\":\"Hello\",\"n\":42},\
         \"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
         \"io.modelcontextprotocol/clientCapabilities\":{}}}}",
    ),
    (
        "opening",
        "fPOST\nHost:127.0.0.1\nContent-Type:application/json;charset=utf-8\nAccept:application/js\
         on, text/event-stream\n\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\
         \"params\":{\"protocolVersion\":\"2025-11-25\"}}",
    ),
    (
        "within",
        "ePOST\nhost:localhost\ncontent-type:application/json\naccept:*/*\ncontent-length:47\nmcp-\
         session-id:s-1\nmcp-protocol-version:2025-06-18\n\n{\"jsonrpc\":\"2.0\",\
         \"method\":\"notifications/initialized\"}",
    ),
    (
        "batch",
        "ePOST\nhost:localhost\ncontent-type:application/json\naccept:*/*\nmcp-session-id:s-1\n\n[\
         {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":1,\
         \"result\":{}}]",
    ),
    (
        "get",
        "fGET\nhost:localhost\naccept:text/event-stream\nmcp-session-id:s-1\nlast-event-id:s-1/7\n\
         \n",
    ),
    ("delete", "dDELETE\nhost:localhost\nmcp-session-id:s-1\n\n"),
    ("foreign", "fPOST\nhost:evil.example\norigin:null\ncontent-encoding:gzip\n\n{}"),
];

/// The target, the name and the text of each seed.
const AUTHORIZATION: &[(&str, &str, &str)] = &[
    ("uri", "parents", "https://H.example:443/a/\nhttps://h.example/a/b?c=%20d\nhttps://h"),
    ("uri", "addresses", "http://127.0.0.1:8080/\nhttps://[::ffff:10.0.0.1]\nhttps://0x7f.1"),
    ("uri", "scopes", "files:read files:write\nadmin files:read\nhttp://localhost"),
    ("uri", "refused", "https://u@h/\nhttps://h/%2e%2E/#f\nhttps://h\\@evil.example"),
    (
        "metadata",
        "resource",
        "\u{0}https://h/mcp\n{\"resource\":\"https://h\",\"authorization_servers\":\
         [\"https://as.example/t/\"],\"scopes_supported\":[\"a\",\"b:c\"]}",
    ),
    (
        "metadata",
        "server",
        "\u{5}http://localhost:1/t\n{\"issuer\":\"http://localhost:1/t\",\
         \"authorization_endpoint\":\"http://localhost:1/a\",\
         \"token_endpoint\":\"http://localhost:1/b\",\
         \"code_challenge_methods_supported\":[\"S256\"],\
         \"token_endpoint_auth_methods_supported\":[\"none\"],\
         \"authorization_response_iss_parameter_supported\":true}",
    ),
    ("metadata", "slash", "\u{6}https://as.example\n{\"issuer\":\"https://as.example/\"}"),
    (
        "metadata",
        "challenge",
        "\u{9}https://h\nBearer error=\"insufficient_scope\", scope=\"a b\"\n\
         DPoP resource_metadata=\"https://h/.well-known/oauth-protected-resource\"",
    ),
    ("redirect", "code", "\u{1}code=c%2F1&state=s1&iss=https%3A%2F%2Fas.example"),
    ("redirect", "error", "\u{0}error=access_denied&error_description=no+way&state=s1"),
    ("redirect", "mix_up", "\u{0}code=c1&state=s1&iss=https://evil.example"),
    ("redirect", "repeated", "\u{0}code=c1&c%6Fde=c2&state=s1&&"),
    (
        "token",
        "bearer",
        "\u{0}{\"access_token\":\"a1\",\"token_type\":\"bearer\",\"expires_in\":\"3600\",\
         \"refresh_token\":\"r1\",\"scope\":\"a b\"}",
    ),
    ("token", "error", "\u{3}{\"error\":\"invalid_grant\",\"error_description\":\"x\"}"),
    (
        "token",
        "exchange",
        "\u{0}{\"access_token\":\"j1\",\"token_type\":\"N_A\",\"issued_token_type\":\
         \"urn:ietf:params:oauth:token-type:id-jag\"}",
    ),
    (
        "token",
        "registration",
        "\u{1}{\"client_id\":\"c1\",\"client_secret\":\"s1\",\"client_secret_expires_at\":0,\
         \"token_endpoint_auth_method\":\"client_secret_basic\"}",
    ),
    (
        "record",
        "client",
        "{\"version\":1,\"kind\":\"client\",\"issuer\":\"https://as.example\",\
         \"redirect_uri\":\"http://127.0.0.1:1/callback\",\"doubtful\":false,\
         \"client\":{\"client_id\":\"c1\",\"auth_method\":\"client_secret_basic\",\
         \"secret_expires_at\":1800000000,\"client_secret\":\"s1\"}}",
    ),
    (
        "record",
        "grant",
        "{\"version\":1,\"kind\":\"grant\",\"resource\":\"https://h\",\"server\":{\
         \"issuer\":\"https://as.example\",\"token_endpoint\":\"https://as.example/t\",\
         \"code_challenge_methods_supported\":[\"S256\"]},\"server_read_at\":1790000000,\
         \"requested\":\"a b\",\"generation\":3,\"client\":{\"client_id\":\"c1\",\
         \"auth_method\":\"none\"},\"tokens\":{\"token_type\":\"Bearer\",\
         \"issued_at\":1790000000,\"expires_at\":1790003600,\"granted\":\"a\",\
         \"access_token\":\"a1\",\"refresh_token\":\"r1\"}}",
    ),
    ("record", "other_version", "{\"version\":2,\"kind\":\"grant\"}"),
];

/// Sessions over HTTP+SSE: the handshake, a call, and then an end or a fault.
const LEGACY_SSE: &[(&str, &[u8])] = &[
    ("session", b"\x01\x05\0\0\x06\0\0\x05\0\0\x06\0\0\x02\0\0\x06\0\0\x0a\0\0\x05\0\0\x0b\0\0"),
    (
        "cut",
        b"\0\x05\0\0\x06\0\0\x05\0\0\x06\0\0\x02\0\0\x09\0\0\x08\x0c\0\x05\0\0\x06\0\0\x05\0\0",
    ),
    (
        "unknown-session",
        b"\x01\x05\0\0\x06\0\0\x05\0\0\x06\0\0\x02\x01\0\x07\0\0\x08\x0c\0\x05\0\0\x06\0\0",
    ),
    (
        "closed-by-the-server",
        b"\x01\x05\0\0\x06\0\0\x05\0\0\x06\0\0\x02\0\0\x06\0\0\x0b\x01\0\x08\x08\0\x05\0\0",
    ),
    ("no-endpoint", b"\0\0\0\x0adata: {}\n\n\x08\x10\0"),
    ("endpoint-elsewhere", b"\x01\0\0\x25event: endpoint\ndata: http://evil/x\n\n\x05\0\0"),
    ("other-endpoint", b"\x01\0\0\x1bevent: endpoint\ndata: /x\n\n\x06\0\0\x05\0\0"),
    ("posted", b"\x01\x05\0\0\x01\0\x02{}\x01\0\x09[1,2,\"x\"]\x05\0\0"),
];
