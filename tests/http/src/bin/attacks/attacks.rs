//! The attacks. Each is what one client can do without being authorized to more than others.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use mcp_http_tests::{Request, initialize, modern, post};
use serde_json::{Value, json};

use crate::target::Target;

pub(crate) struct Attack {
    pub(crate) name: &'static str,
    /// How much memory it may cost the server, in MiB.
    pub(crate) memory_max: u64,
    pub(crate) run: fn(&Target),
}

pub(crate) const ATTACKS: &[Attack] = &[
    Attack { name: "descriptions", memory_max: 96, run: descriptions },
    Attack { name: "sessions", memory_max: 96, run: sessions },
    Attack { name: "metadata", memory_max: 128, run: metadata },
    Attack { name: "half-sent", memory_max: 160, run: half_sent },
    Attack { name: "abandoned", memory_max: 160, run: abandoned },
    Attack { name: "replay", memory_max: 160, run: replay },
    Attack { name: "unread", memory_max: 160, run: unread },
    Attack { name: "handlers", memory_max: 96, run: handlers },
    Attack { name: "silent", memory_max: 160, run: silent },
];

/// Sixty clients that describe themselves with 85,000 icons each.
fn descriptions(target: &Target) {
    let icons = vec![json!({"src": "x"}); 60_000];
    let request = post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "attacker", "version": "1", "icons": icons},
    }}));
    (0..60).for_each(|_| drop(target.ask(&request)));
}

/// As many sessions as the server has, none of them used.
fn sessions(target: &Target) {
    let mut refused = 0;
    for _ in 0..11_000 {
        let answer = target.ask(&initialize());
        refused += u32::from(answer.is_none_or(|head| !head.starts_with("HTTP/1.1 200")));
        if refused > 100 {
            break;
        }
    }
}

/// Requests of several megabytes that consist of metadata.
fn metadata(target: &Target) {
    for bytes in [1, 2, 4, 8, 14] {
        let mut request = json!({"name": "echo", "arguments": {"text": "x"}});
        let members = (0..bytes * 80_000).map(|n| (format!("k{n}"), json!(0)));
        request["_meta"] = Value::Object(members.collect());
        // The helper replaces the metadata, so the members are added to those that it writes.
        let text = String::from_utf8(modern("tools/call", request.clone()).bytes()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let mut body: Value = serde_json::from_str(body).expect("JSON");
        let Value::Object(extra) = request["_meta"].take() else { continue };
        body["params"]["_meta"].as_object_mut().expect("metadata").extend(extra);
        let request = again(head, body.to_string().as_bytes());
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| target.ask(&request));
            }
        });
    }
}

/// Bodies that lack their last bytes, on as many connections as the server takes.
fn half_sent(target: &Target) {
    let mut open = Vec::new();
    let body = vec![b' '; 4 * 1024 * 1024 - 1];
    let request = post(&json!({})).body(&body).bytes();
    let until = Instant::now() + Duration::from_secs(20);
    for _ in 0..200 {
        let Some(mut stream) = target.connect() else { break };
        let timeout = Some(Duration::from_millis(300));
        stream.set_write_timeout(timeout).expect("a socket");
        let _refused = stream.write_all(&request[..request.len() - 1]);
        open.push(stream);
        if Instant::now() > until {
            break;
        }
    }
    thread::sleep(Duration::from_secs(1));
}

/// Slow calls with large arguments in a session, whose connections are closed immediately.
fn abandoned(target: &Target) {
    let Some(session) = session(target) else { return };
    let padding = "x".repeat(300_000);
    for id in 1..=2000 {
        let arguments = json!({"ms": 20_000, "steps": 1, "padding": padding});
        let params = json!({"name": "sleep", "arguments": arguments});
        drop(target.send(&within(&session, &call(id, &params))));
    }
}

/// Sessions that receive many messages, which are kept for replay.
fn replay(target: &Target) {
    for _ in 0..200 {
        let Some(session) = session(target) else { return };
        let params = json!({"name": "flood", "arguments": {"n": 1000}});
        let Some(mut stream) = target.send(&within(&session, &call(1, &params))) else { return };
        let mut received = Vec::new();
        let mut chunk = [0; 65_536];
        while !received.ends_with(b"0\r\n\r\n") {
            match stream.read(&mut chunk) {
                Ok(count) if count > 0 => received.extend_from_slice(&chunk[..count]),
                _ => break,
            }
        }
    }
}

/// Responses that are not read.
fn unread(target: &Target) {
    let mut open = Vec::new();
    for _ in 0..200 {
        let Some(session) = session(target) else { break };
        let params = json!({"name": "flood", "arguments": {"n": 20_000}});
        open.push(target.send(&within(&session, &call(1, &params))));
    }
    thread::sleep(Duration::from_secs(5));
}

/// A thousand calls that sleep for a minute.
fn handlers(target: &Target) {
    let params = json!({"name": "sleep", "arguments": {"ms": 60_000, "steps": 1}});
    let open: Vec<_> =
        (0..1000).map(|_| target.send(&modern("tools/call", params.clone()))).collect();
    thread::sleep(Duration::from_secs(5));
    drop(open);
}

/// Connections that send nothing, as many as the server takes.
fn silent(target: &Target) {
    let open: Vec<_> = (0..12_000).map_while(|_| target.connect()).collect();
    thread::sleep(Duration::from_secs(5));
    drop(open);
}

fn call(id: u32, params: &Value) -> Request {
    let mut params = params.clone();
    params["_meta"] = json!({"progressToken": id});
    post(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

/// Opens a session from the attacker's address and returns its id; `None` if it is refused.
fn session(target: &Target) -> Option<String> {
    let head = target.ask(&initialize())?;
    let field = head.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id"));
    let id = field?.split_once(':')?.1.trim().to_owned();
    let ready = post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    target.ask(&within(&id, &ready))?;
    Some(id)
}

fn within(session: &str, request: &Request) -> Request {
    let version = request.clone().field("MCP-Protocol-Version", "2025-11-25");
    version.field("Mcp-Session-Id", session)
}

/// Builds a POST with the fields of another and a new body.
fn again(head: &str, body: &[u8]) -> Request {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    let request = Request::new("POST");
    let filled = fields.fold(request, |request, (name, value)| request.field(name, value));
    filled.body(body)
}
