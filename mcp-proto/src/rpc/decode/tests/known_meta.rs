//! A known `_meta` changes nothing in what is decoded, whatever the message contains instead.

use super::*;

/// Contexts that are nearly equal, and other values.
const METAS: &[&str] = &[
    r#"{"v":"2026-07-28","c":{"roots":{}},"i":{"name":"c"}}"#,
    r#"{"v":"2026-07-29","c":{"roots":{}},"i":{"name":"c"}}"#,
    r#"{"v":"2026-07-28","i":{"name":"c"},"c":{"roots":{}}}"#,
    r#"{"v":"2026-07-28","c":{"roots":{}},"i":{"name":"c"},"i":{"name":"d"}}"#,
    r#"{"v":"2026-07-28","c":{"roots":{}},"i":{"name":"c"},"x":1}"#,
    r#"{"v":"2026-07-28","c":{"roots":{}},"i":{"name":"c"} }"#,
    r#"{"v":"2026-07-28"}"#,
    "{}",
];

/// Messages in which `$` is replaced.
const MESSAGES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":$,"a":1}}"#,
    r#"{"params":{"a":[1],"_meta":$},"jsonrpc":"2.0","method":"m"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{"_meta":$},"_meta":$,"b":2}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":$,"_meta":$}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":$,"_meta":{"v":1}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_met\u0061":$,"_meta" : $ }}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"b":1,"c":2,"d":3,"e":4,"_meta":$}}"#,
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":$,\n\"a\":1}}",
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":$,"_meta":$}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":$,"resultType":"complete"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"_meta":$}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":$x}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":$]}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":$"#,
];

#[test]
fn a_known_meta_changes_nothing() {
    for template in MESSAGES {
        for meta in METAS {
            let text = template.replace('$', meta);
            let decoded = |known: &str| {
                format!("{:?}", super::super::decode(text.as_bytes(), 8, 99, known.as_bytes()))
            };
            let parsed = decoded("");
            for known in METAS {
                assert_eq!(decoded(known), parsed, "{text} after {known}");
            }
        }
    }
}

#[test]
fn a_known_meta_is_taken_as_a_whole() {
    for known in METAS.iter().chain(&[""]) {
        for meta in METAS {
            for end in ["", ",", " }", "x"] {
                let text = format!("{meta}{end}");
                let mut parsed = Cursor::new(&text, 8);
                let mut compared = parsed.clone();
                let values = (parsed.value(), compared.value_or_known(known.as_bytes()));
                assert_eq!(values, (Ok(meta.as_bytes()), Ok(meta.as_bytes())), "{text} {known}");
                assert_eq!(compared.peek(), parsed.peek(), "both end there");
            }
        }
    }
}
