//! Lines that a peer may send, valid and invalid, as text.

use mcp_harness::Seed;
use mcp_proto::{Revision, Side};
use serde_json::Value;

const NAME: &str = r#"{"name":"h","version":"1"}"#;
const OFFERS: [&str; 4] = [
    r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"logging":{},"completions":{}}"#,
    r#"{"tools":{},"x":{"y":[1]}}"#,
    r#"{}"#,
    r#"{"tools":false,"resources":null}"#,
];
const DECLARES: [&str; 3] = [
    r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}}"#,
    "{}",
    r#"{"roots":1}"#,
];

fn pick<'a>(random: &mut Seed, of: &[&'a str]) -> &'a str {
    of[random.below(of.len())]
}

fn version(random: &mut Seed) -> &'static str {
    match random.below(12) {
        0 => "1999-01-01",
        choice => Revision::LEGACY[choice % 4].name(),
    }
}

pub(crate) fn initialize(random: &mut Seed) -> String {
    let (version, declares) = (version(random), pick(random, &DECLARES));
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{declares},"clientInfo":{NAME}}}}}"#
    )
}

/// Draws an unusual id.
pub(crate) fn odd_id(random: &mut Seed) -> String {
    let odd = [
        "null",
        "1.5",
        "-1",
        "true",
        "\"\"",
        "[]",
        "1e3",
        "18446744073709551616",
        "{}",
        "\"\\u0031\"",
        "01",
    ];
    match random.below(12) {
        0 => format!("\"{}\"", "i".repeat(300)),
        _ => pick(random, &odd).to_owned(),
    }
}

fn meta(random: &mut Seed) -> String {
    let (version, declares) = (
        if random.below(8) == 0 { version(random) } else { "2026-07-28" },
        pick(random, &DECLARES),
    );
    let level =
        if random.below(2) == 0 { r#","io.modelcontextprotocol/logLevel":"debug""# } else { "" };
    let token = random.below(30);
    format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{declares},"io.modelcontextprotocol/clientInfo":{NAME},"progressToken":{token}{level}}}"#
    )
}

/// Draws a request to the other side.
pub(crate) fn request(side: Side, id: &str, random: &mut Seed) -> String {
    let (method, params) = match side {
        Side::Client => client_request(random),
        Side::Server => server_request(random),
    };
    let meta = match random.below(6) {
        0..3 if side == Side::Client => meta(random),
        3 => format!(r#""_meta":{{"progressToken":{id}}}"#),
        4 => r#""_meta":7"#.to_owned(),
        _ => String::new(),
    };
    let comma = if meta.is_empty() || params.is_empty() { "" } else { "," };
    match random.below(20) {
        0 => format!(r#"{{"id":{id},"method":"{method}","params":{{{params}}}}}"#),
        1 => {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":[{{{params}}}]}}"#)
        }
        2 => format!(r#"{{"jsonrpc":"2.0","id":{id},"id":1,"method":"{method}"}}"#),
        3 => format!(
            r#"{{"params":{{{params}{comma}{meta}}},"method":"{method}","id":{id},"jsonrpc":"2.0","x":0}}"#
        ),
        _ => {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}{meta}}}}}"#
            )
        }
    }
}

fn client_request(random: &mut Seed) -> (&'static str, String) {
    let of = [
        ("tools/call", r#""name":"t""#),
        ("tools/call", r#""name":"t","inputResponses":{"a":{}},"requestState":"s""#),
        ("tools/call", r#""name":7"#),
        ("tools/list", ""),
        ("tools/list", r#""cursor":"more""#),
        ("resources/read", r#""uri":"file:///a""#),
        ("resources/subscribe", r#""uri":"file:///a""#),
        ("resources/unsubscribe", r#""uri":"file:///a""#),
        ("resources/subscribe", ""),
        ("prompts/get", r#""name":"p""#),
        ("logging/setLevel", r#""level":"debug""#),
        ("logging/setLevel", r#""level":"loud""#),
        (
            "subscriptions/listen",
            r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#,
        ),
        ("subscriptions/listen", r#""notifications":7"#),
        ("server/discover", ""),
        ("ping", ""),
        ("x/known", ""),
        ("x/unknown", ""),
        ("", ""),
    ];
    match random.below(of.len() + 2) {
        0 => (
            "initialize",
            format!(
                r#""protocolVersion":"{}","capabilities":{{}},"clientInfo":{NAME}"#,
                version(random)
            ),
        ),
        1 => ("initialize", String::new()),
        choice => {
            let (method, params) = of[choice - 2];
            (method, params.to_owned())
        }
    }
}

fn server_request(random: &mut Seed) -> (&'static str, String) {
    let of = [
        ("roots/list", ""),
        ("sampling/createMessage", r#""messages":[],"maxTokens":1"#),
        (
            "elicitation/create",
            r#""message":"m","requestedSchema":{"type":"object","properties":{}}"#,
        ),
        ("ping", ""),
        ("x/known", ""),
        ("x/unknown", ""),
    ];
    let (method, params) = of[random.below(of.len())];
    (method, params.to_owned())
}

/// Draws the response of a correct peer.
pub(crate) fn answer(id: &Value, request: &Value, random: &mut Seed) -> String {
    let asks = random.below(4) == 0;
    let result = match request["method"].as_str() {
        Some("initialize") => format!(
            r#"{{"protocolVersion":"{}","capabilities":{},"serverInfo":{NAME}}}"#,
            version(random),
            pick(random, &OFFERS)
        ),
        Some("server/discover") if random.below(3) == 0 => {
            let error = r#"{"code":-32601,"message":"no"}"#;
            return format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        }
        Some("server/discover") => format!(
            r#"{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}"#,
            pick(random, &OFFERS)
        ),
        Some("tools/call" | "prompts/get" | "resources/read") if asks => {
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#.into()
        }
        Some("subscriptions/listen") if random.below(3) != 0 => {
            return format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            );
        }
        _ => r#"{"resultType":"complete","content":[],"tools":[],"roots":[],"ttlMs":1000,"cacheScope":"private"}"#.into(),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Draws an invalid response, or one to no request.
pub(crate) fn bad_answer(id: &Value, random: &mut Seed) -> String {
    let of = [
        r#""result":7"#,
        r#""result":null"#,
        r#""result":{},"error":{"code":1,"message":"m"}"#,
        r#""error":{"code":1,"message":"m","data":{"x":[]}}"#,
        r#""error":{"code":"1"}"#,
        r#""error":null"#,
        r#""result":{"resultType":"input_required"}"#,
        r#""result":{"resultType":"input_required","requestState":"s"}"#,
        r#""result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}}}"#,
        r#""result":{"resultType":"input_required","inputRequests":{"a":{"method":"tools/call"}}}"#,
        r#""result":{"resultType":"other"}"#,
        r#""result":{"protocolVersion":7}"#,
        r#""result":{}"#,
        "",
    ];
    let body = pick(random, &of);
    let id = if random.below(6) == 0 { odd_id(random) } else { id.to_string() };
    let comma = if body.is_empty() { "" } else { "," };
    match random.below(8) {
        0 => r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#.to_owned(),
        1 => format!(r#"{{"jsonrpc":"1.0","id":{id}{comma}{body}}}"#),
        _ => format!(r#"{{"jsonrpc":"2.0","id":{id}{comma}{body}}}"#),
    }
}

pub(crate) fn notification(side: Side, id: &str, random: &mut Seed) -> String {
    let tag = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    let (method, params) = match (side, random.below(9)) {
        (Side::Client, 0..3) => ("notifications/initialized", String::new()),
        (Side::Client, 3) => ("notifications/roots/list_changed", String::new()),
        (Side::Client, 4) => ("notifications/message", tag),
        (Side::Server, 0) => ("notifications/message", r#""level":"info","data":1"#.into()),
        (Side::Server, 1 | 2) => ("notifications/tools/list_changed", tag),
        (Side::Server, 3) => {
            ("notifications/resources/updated", format!(r#""uri":"file:///a",{tag}"#))
        }
        (Side::Server, 4) => ("notifications/tools/list_changed", String::new()),
        (_, 5) => (
            "notifications/subscriptions/acknowledged",
            format!(r#""notifications":{{"toolsListChanged":true}},{tag}"#),
        ),
        (_, 6) => ("x/note", r#""y":"\ud83d\ude00""#.into()),
        (_, 7) => ("notifications/resources/updated", r#""uri":7"#.into()),
        _ => ("notifications/none", String::new()),
    };
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#)
}

pub(crate) fn cancel(id: &str, random: &mut Seed) -> String {
    let params = match random.below(6) {
        0 => String::new(),
        1 => format!(r#""requestId":{id},"reason":7"#),
        _ => format!(r#""requestId":{id},"reason":"r""#),
    };
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{{params}}}}}"#)
}

pub(crate) fn progress(id: &str, random: &mut Seed) -> String {
    let value = match random.below(8) {
        0 => "1e999".to_owned(),
        1 => "\"1\"".to_owned(),
        2 => "-0.0".to_owned(),
        _ => random.below(10).to_string(),
    };
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{value},"message":"m"}}}}"#
    )
}

pub(crate) fn huge(id: &str, random: &mut Seed) -> Vec<u8> {
    let text = "x".repeat(random.below(6000));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{text}"}}}}"#)
        .into_bytes()
}

pub(crate) fn deep(id: &str, random: &mut Seed) -> Vec<u8> {
    let depth = random.below(260);
    let (open, close) =
        ("[".repeat(depth), "]".repeat(if random.below(4) == 0 { 0 } else { depth }));
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/known","params":{{"x":{open}{close}}}}}"#)
        .into_bytes()
}

pub(crate) fn garbage(random: &mut Seed) -> Vec<u8> {
    let of: [&[u8]; 12] = [
        b"hello",
        b"",
        b"\r",
        b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":\"bom\",\"method\":\"ping\"}",
        b"\xFF\xFE",
        b"{}",
        b"[]",
        b"null",
        b"{\"jsonrpc\":\"2.0\"",
        b"{\"jsonrpc\":\"2.0\",\"id\":\"cr\",\"method\":\"ping\"}\r",
        b"\"\\ud800\"",
        b"[[],1,{}]",
    ];
    let line = of[random.below(of.len())];
    line.to_vec()
}
