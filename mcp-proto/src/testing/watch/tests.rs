//! Every rule of the wire, kept and broken.

use alloc::string::ToString;

use super::*;

/// Lines with who says them: `>` a client, `<` a server, `~>` and `~<` somebody else in their name.
fn hold(lines: &[&str]) -> (Watch, Vec<String>) {
    let mut watch = Watch::default();
    let mut breaches = Vec::new();
    for line in lines {
        let (who, text) = line.split_once(' ').unwrap();
        let side = if who.ends_with('>') { Side::Client } else { Side::Server };
        if who.starts_with('~') {
            watch.stray(side, text.as_bytes());
            continue;
        }
        // Byte by byte: however it is split.
        for byte in text.bytes().chain([b'\n']) {
            if let Err(breach) = watch.sent(side, &[byte]) {
                breaches.push(breach.to_string());
            }
        }
    }
    (watch, breaches)
}

const HELLO: [&str; 3] = [
    r#"> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
    r#"< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}"#,
    r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#,
];

const MODERN: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

/// After a handshake.
fn in_session(lines: &[&str]) -> Vec<String> {
    hold(&[&HELLO, lines].concat()).1
}

fn one(breaches: &[String], what: &str) {
    assert!(breaches.len() == 1 && breaches[0].contains(what), "{what:?} in {breaches:#?}");
}

#[test]
fn a_session_breaks_no_rule() {
    let breaches = in_session(&[
        r#"> {"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","_meta":{"progressToken":"a"}}}"#,
        r#"< {"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
        r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}"#,
        r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1.5}}"#,
        r#"> {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
        r#"< {"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"no x"}}"#,
        r#"> {"jsonrpc":"2.0","id":18446744073709551617,"method":"x/y"}"#,
        r#"< {"jsonrpc":"2.0","id":18446744073709551617,"result":{"x":1e999}}"#,
        r#"> {"jsonrpc":"2.0","id":3,"method":"ping"}"#,
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
    ]);
    assert_eq!(breaches, [""; 0]);
}

#[test]
fn lines_that_are_no_message_are_reported() {
    for (line, what) in [
        ("listening on port 8080", "not JSON"),
        ("", "not JSON"),
        ("7", "no message"),
        ("[]", "no message"),
        (r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#, "no message"),
        (r#"{"id":9,"method":"ping"}"#, "jsonrpc"),
        (r#"{"jsonrpc":"2.0","id":9}"#, "neither a request"),
        (r#"{"jsonrpc":"2.0","id":9,"method":7}"#, "neither a request"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "the id is null"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "the id is 1.5"),
        (r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#, "params are not"),
        (r#"{"jsonrpc":"2.0","id":9,"result":7}"#, "no object"),
        (r#"{"jsonrpc":"2.0","id":9,"result":{},"error":{"code":1,"message":""}}"#, "both"),
        (r#"{"jsonrpc":"2.0","id":9,"error":{"code":1}}"#, "lacks"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "without an id"),
    ] {
        let line = format!("< {line}");
        one(&in_session(&[&line]), what);
    }
}

#[test]
fn answers_are_to_what_was_asked_and_once() {
    let answer = r#"< {"jsonrpc":"2.0","id":2,"result":{}}"#;
    one(&in_session(&[answer]), "nobody asked 2");
    let ask = r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    one(&in_session(&[ask, answer, answer]), "2 was answered before");
    // An id is its text: a string is another.
    one(&in_session(&[ask, r#"< {"jsonrpc":"2.0","id":"2","result":{}}"#]), "nobody asked \"2\"");
    // The two directions count by themselves.
    one(&in_session(&[r#"< {"jsonrpc":"2.0","id":2,"method":"ping"}"#, answer]), "nobody asked 2");
}

#[test]
fn an_answer_to_what_cannot_be_read_is_an_error() {
    let (_, breaches) = hold(&[
        r#"> {"id":5,"method":"ping"}"#,
        r#"< {"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":""}}"#,
        r#"< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#,
    ]);
    one(&breaches, "the client broke a rule: `jsonrpc`");
}

#[test]
fn ids_are_not_used_again() {
    let ask = r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let answer = r#"< {"jsonrpc":"2.0","id":2,"result":{}}"#;
    one(&in_session(&[ask, ask]), "the request id 2 was used before");
    one(&in_session(&[ask, answer, ask]), "the request id 2 was used before");
    // Without a session they are only while the first is open.
    let answer = r#"< {"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(hold(&[MODERN, answer, MODERN]).1, [""; 0]);
    one(&hold(&[MODERN, MODERN]).1, "the request id 1 was used before");
}

#[test]
fn nothing_is_asked_before_the_session_is_open() {
    let list = r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    one(&hold(&[list]).1, "tools/list before the session is open");
    one(&hold(&[HELLO[0], list]).1, "tools/list before the session is open");
    one(&hold(&[HELLO[0], HELLO[2]]).1, "was not welcomed");
    let roots = r#"< {"jsonrpc":"2.0","id":2,"method":"roots/list"}"#;
    one(&hold(&[HELLO[0], HELLO[1], roots]).1, "roots/list before the client is initialized");
    let ping = r#"< {"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(hold(&[HELLO[0], HELLO[1], ping]).1, [""; 0]);
}

#[test]
fn messages_come_from_their_side_and_revision() {
    one(&in_session(&[r#"< {"jsonrpc":"2.0","id":2,"method":"tools/call"}"#]), "not this side's");
    one(
        &in_session(&[r#"> {"jsonrpc":"2.0","id":2,"method":"tasks/list"}"#]),
        "2025-06-18 has no tasks/list",
    );
    one(
        &in_session(&[r#"> {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#]),
        "not this side's",
    );
}

#[test]
fn progress_was_asked_for_grows_and_comes_before_its_answer() {
    let ask = r#"> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"progressToken":7}}}"#;
    let told = r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}"#;
    one(&in_session(&[told]), "nobody asked for this progress");
    one(&in_session(&[ask, told, told]), "does not grow");
    one(
        &in_session(&[ask, r#"< {"jsonrpc":"2.0","id":2,"result":{}}"#, told]),
        "follows its answer",
    );
}

#[test]
fn cancels_are_of_what_was_asked() {
    let cancel =
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    one(&hold(&[cancel]).1, "1 was not asked");
    one(&hold(&[HELLO[0], cancel]).1, "initialize cannot be cancelled");
    assert_eq!(hold(&[MODERN, cancel]).1, [""; 0]);
}

#[test]
fn what_somebody_else_said_is_nobodys_breach() {
    let answer = r#"< {"jsonrpc":"2.0","id":9,"result":{}}"#;
    let (watch, breaches) =
        hold(&["~> noise", r#"~> {"jsonrpc":"2.0","id":9,"method":"ping"}"#, answer, answer]);
    one(&breaches, "9 was answered before");
    assert_eq!(watch.unanswered().count(), 0);
}

#[test]
fn what_is_open_is_known() {
    let (watch, _) =
        hold(&[&HELLO[..], &[r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#]].concat());
    assert_eq!(watch.unanswered().collect::<Vec<_>>(), [(Side::Client, "2", "tools/list")]);
    assert_eq!(watch.session().map(Revision::name), Some("2025-06-18"));
}

#[test]
fn a_breach_shows_a_line_and_no_more() {
    let long = format!("< \t{}", "x".repeat(10_000));
    let breaches = in_session(&[&long]);
    assert!(
        breaches[0].len() < 800
            && breaches[0].contains("not JSON: \\tx")
            && breaches[0].ends_with(" …")
    );
}
