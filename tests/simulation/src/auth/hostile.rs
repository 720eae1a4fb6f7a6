//! What a hostile server answers.

use mcp_harness::Seed;
use serde_json::{Value, json};

/// The statuses that a hostile server likes.
const STATUSES: [u16; 14] = [200, 200, 201, 204, 302, 307, 400, 401, 403, 404, 408, 429, 500, 503];

/// The URLs that it points to.
const URLS: [&str; 12] = [
    "https://evil.example",
    "https://as.example/",
    "https://as.example",
    "https://AS.example",
    "http://as.example",
    "https://127.0.0.1/token",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/token",
    "https://as.example@evil.example/token",
    "https://0x7f.1/",
    "javascript:alert(1)",
    "https://mcp.example/mcp",
];

/// The errors that it claims.
const ERRORS: [&str; 10] = [
    "invalid_grant",
    "invalid_client",
    "unauthorized_client",
    "invalid_scope",
    "temporarily_unavailable",
    "slow_down",
    "server_error",
    "invalid_redirect_uri",
    "\u{1b}[31m",
    "",
];

fn pick<'a>(seed: &mut Seed, from: &[&'a str]) -> &'a str {
    from[seed.below(from.len())]
}

/// Returns a hostile answer, made of the right one.
pub(super) fn answer(seed: &mut Seed, right: (u16, String)) -> (u16, String) {
    match seed.below(10) {
        0 => (STATUSES[seed.below(STATUSES.len())], right.1),
        1 => (200, "<html>".repeat(seed.below(60_000))),
        2 => (200, "[".repeat(seed.below(2000))),
        3 => {
            let error = pick(seed, &ERRORS);
            (STATUSES[seed.below(STATUSES.len())], json!({"error": error}).to_string())
        }
        4 => (right.0, right.1.chars().take(seed.below(right.1.len() + 1)).collect()),
        _ => (right.0, mangled(seed, &right.1)),
    }
}

/// Changes, removes or adds a member of a document.
fn mangled(seed: &mut Seed, document: &str) -> String {
    let Ok(Value::Object(mut members)) = serde_json::from_str(document) else {
        return json!({"issuer": "https://as.example"}).to_string();
    };
    let names: Vec<String> = members.keys().cloned().collect();
    let name = names.get(seed.below(names.len())).cloned().unwrap_or_default();
    let value = match seed.below(9) {
        0 => Value::Null,
        1 => json!([pick(seed, &URLS), pick(seed, &URLS)]),
        2 => json!({"a": 1}),
        3 => json!(-1),
        4 => json!(u64::MAX),
        5 => json!("x".repeat(seed.below(70_000))),
        6 => json!(vec!["a"; seed.below(300)]),
        _ => json!(pick(seed, &URLS)),
    };
    members.insert(name, value);
    Value::Object(members).to_string()
}

/// Returns the query of a hostile redirect; `state` and `code` are the right ones.
pub(super) fn redirect(seed: &mut Seed, state: &str, code: &str) -> String {
    let state = if seed.below(3) == 0 { "other" } else { state };
    match seed.below(6) {
        0 => format!("code={code}&state={state}"),
        1 => format!("code={code}&state={state}&iss={}", pick(seed, &URLS)),
        2 => format!("error={}&state={state}&iss=https://as.example", pick(seed, &ERRORS)),
        3 => format!("code={code}&code=x&state={state}&iss=https://as.example"),
        4 => format!("code={}&state={state}", "x".repeat(seed.below(40_000))),
        _ => "%".repeat(seed.below(4)),
    }
}

/// Returns a challenge of a hostile MCP server.
pub(super) fn challenge(seed: &mut Seed) -> String {
    match seed.below(6) {
        0 => "Bearer".to_owned(),
        1 => format!("Bearer resource_metadata=\"{}\"", pick(seed, &URLS)),
        2 => format!("Bearer error=\"insufficient_scope\", scope=\"s{}\"", seed.below(9)),
        3 => format!("Bearer scope=\"{}\"", "a b c ".repeat(seed.below(100))),
        4 => "Negotiate, Basic realm=\"scope=x\"".to_owned(),
        _ => "Bearer error=\"insufficient_scope\"".to_owned(),
    }
}
