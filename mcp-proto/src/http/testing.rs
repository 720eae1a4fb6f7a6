//! Shared test helpers for heads and refusals.
#![cfg(test)]

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use super::Refusal;

/// Headers as name and value.
pub(super) type List = Vec<(String, String)>;

/// Returns the headers that every POST needs.
pub(super) fn post_fields() -> List {
    list(&[
        ("Host", "localhost:8080"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ])
}

pub(super) fn list(fields: &[(&str, &str)]) -> List {
    fields.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// Replaces the values of headers; removes headers whose new value is `None`.
pub(super) fn with(mut fields: List, changes: &[(&str, Option<&str>)]) -> List {
    for (name, value) in changes {
        fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        fields.extend(value.map(|value| (name.to_string(), value.to_string())));
    }
    fields
}

/// Asserts the invariants of every refusal and returns its body, if any.
pub(super) fn checked(refusal: &Refusal) -> Option<Value> {
    assert!((400..500).contains(&refusal.status) || refusal.status == 501, "{refusal}");
    assert!(refusal.to_string().starts_with(&refusal.status.to_string()));
    for (name, value) in &refusal.headers {
        assert_eq!(name.to_ascii_lowercase(), *name);
        assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{value:?}");
    }
    let named = refusal
        .headers
        .iter()
        .any(|(name, value)| *name == "content-type" && value == "application/json");
    assert_eq!(named, !refusal.body.is_empty());
    assert_eq!(refusal.headers.iter().any(|(name, _)| *name == "allow"), refusal.status == 405);
    if refusal.body.is_empty() {
        return None;
    }
    assert!(!refusal.body.contains(&b'\n'));
    let body: Value = serde_json::from_slice(&refusal.body).unwrap();
    assert_eq!(body["jsonrpc"], "2.0");
    assert!(body["error"]["code"].is_i64() && body["error"]["message"].is_string());
    Some(body)
}
