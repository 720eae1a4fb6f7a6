//! Every rule that `WireChecker` checks, followed and broken.

use alloc::string::ToString;

use super::*;

/// Checks lines, each prefixed by its sender: `>` the client, `<` the server. A `~` before the
/// sender marks an inserted line.
fn check(lines: &[&str]) -> (WireChecker, Vec<String>) {
    let mut watch = WireChecker::default();
    let mut breaches = Vec::new();
    for line in lines {
        let (sender, text) = line.split_once(' ').unwrap();
        let side = if sender.ends_with('>') { Side::Client } else { Side::Server };
        if sender.starts_with('~') {
            watch.insert_line(side, text.as_bytes());
            continue;
        }
        // Split at every byte.
        for byte in text.bytes().chain([b'\n']) {
            if let Err(breach) = watch.check(side, &[byte]) {
                breaches.push(breach.to_string());
            }
        }
    }
    (watch, breaches)
}

const HANDSHAKE: [&str; 3] = [
    r#"> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#,
    r#"< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}"#,
    r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#,
];

const MODERN: &str = concat!(
    r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","#,
    r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#
);

/// Checks lines that follow a handshake.
fn in_session(lines: &[&str]) -> Vec<String> {
    check(&[&HANDSHAKE, lines].concat()).1
}

fn assert_single(breaches: &[String], what: &str) {
    assert!(breaches.len() == 1 && breaches[0].contains(what), "{what:?} in {breaches:#?}");
}

#[test]
fn a_valid_session_is_accepted() {
    let breaches = in_session(&[
        concat!(
            r#"> {"jsonrpc":"2.0","id":"a","method":"tools/call","#,
            r#""params":{"name":"x","_meta":{"progressToken":"a"}}}"#
        ),
        r#"< {"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
        concat!(
            r#"< {"jsonrpc":"2.0","method":"notifications/progress","#,
            r#""params":{"progressToken":"a","progress":1}}"#
        ),
        concat!(
            r#"< {"jsonrpc":"2.0","method":"notifications/progress","#,
            r#""params":{"progressToken":"a","progress":1.5}}"#
        ),
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
fn invalid_messages_are_reported() {
    for (line, what) in [
        ("listening on port 8080", "not JSON"),
        ("", "not JSON"),
        ("7", "not a message"),
        ("[]", "not a message"),
        (r#"[{"jsonrpc":"2.0","id":9,"method":"ping"}]"#, "not a message"),
        (r#"{"id":9,"method":"ping"}"#, "jsonrpc"),
        (r#"{"jsonrpc":"2.0","id":9}"#, "neither a request"),
        (r#"{"jsonrpc":"2.0","id":9,"method":7}"#, "neither a request"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "invalid id null"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, "invalid id 1.5"),
        (r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#, "`params` is not"),
        (r#"{"jsonrpc":"2.0","id":9,"result":7}"#, "`result` is not"),
        (r#"{"jsonrpc":"2.0","id":9,"result":{},"error":{"code":1,"message":""}}"#, "both"),
        (r#"{"jsonrpc":"2.0","id":9,"error":{"code":1}}"#, "no `code`"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "without an id"),
    ] {
        let line = format!("< {line}");
        assert_single(&in_session(&[&line]), what);
    }
}

#[test]
fn a_request_is_answered_once() {
    let response = r#"< {"jsonrpc":"2.0","id":2,"result":{}}"#;
    assert_single(&in_session(&[response]), "no request 2");
    let request = r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_single(&in_session(&[request, response, response]), "request 2 is already answered");
    // A string id differs from a number.
    assert_single(
        &in_session(&[request, r#"< {"jsonrpc":"2.0","id":"2","result":{}}"#]),
        "no request \"2\"",
    );
    // Both directions have separate ids.
    assert_single(
        &in_session(&[r#"< {"jsonrpc":"2.0","id":2,"method":"ping"}"#, response]),
        "no request 2",
    );
}

#[test]
fn an_unreadable_message_may_be_answered_with_an_error() {
    let (_, breaches) = check(&[
        r#"> {"id":5,"method":"ping"}"#,
        r#"< {"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":""}}"#,
        r#"< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#,
    ]);
    assert_single(&breaches, "protocol violation by the client: `jsonrpc`");
}

#[test]
fn ids_are_not_reused() {
    let request = r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let response = r#"< {"jsonrpc":"2.0","id":2,"result":{}}"#;
    assert_single(&in_session(&[request, request]), "request id 2 is already used");
    assert_single(&in_session(&[request, response, request]), "request id 2 is already used");
    // In the modern era an id may be reused once its request is answered.
    let response = r#"< {"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(check(&[MODERN, response, MODERN]).1, [""; 0]);
    assert_single(&check(&[MODERN, MODERN]).1, "request id 1 is already used");
}

#[test]
fn requests_require_an_established_session() {
    let list = r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_single(&check(&[list]).1, "tools/list before the session is open");
    assert_single(&check(&[HANDSHAKE[0], list]).1, "tools/list before the session is open");
    assert_single(&check(&[HANDSHAKE[0], HANDSHAKE[2]]).1, "`initialized` before");
    let roots = r#"< {"jsonrpc":"2.0","id":2,"method":"roots/list"}"#;
    assert_single(
        &check(&[HANDSHAKE[0], HANDSHAKE[1], roots]).1,
        "roots/list before the client is initialized",
    );
    let ping = r#"< {"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(check(&[HANDSHAKE[0], HANDSHAKE[1], ping]).1, [""; 0]);
}

#[test]
fn methods_require_the_right_side_and_revision() {
    assert_single(
        &in_session(&[r#"< {"jsonrpc":"2.0","id":2,"method":"tools/call"}"#]),
        "from the wrong side",
    );
    assert_single(
        &in_session(&[r#"> {"jsonrpc":"2.0","id":2,"method":"tasks/list"}"#]),
        "2025-06-18 has no tasks/list",
    );
    assert_single(
        &in_session(&[r#"> {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#]),
        "from the wrong side",
    );
}

#[test]
fn progress_is_requested_increases_and_precedes_the_response() {
    let request = concat!(
        r#"> {"jsonrpc":"2.0","id":2,"method":"tools/call","#,
        r#""params":{"_meta":{"progressToken":7}}}"#
    );
    let progress = concat!(
        r#"< {"jsonrpc":"2.0","method":"notifications/progress","#,
        r#""params":{"progressToken":7,"progress":1}}"#
    );
    assert_single(&in_session(&[progress]), "progress was not requested");
    assert_single(&in_session(&[request, progress, progress]), "does not increase");
    assert_single(
        &in_session(&[request, r#"< {"jsonrpc":"2.0","id":2,"result":{}}"#, progress]),
        "after the response",
    );
}

#[test]
fn only_open_requests_are_cancelled() {
    let cancel =
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_single(&check(&[cancel]).1, "cancellation of unknown request 1");
    assert_single(&check(&[HANDSHAKE[0], cancel]).1, "initialize cannot be cancelled");
    assert_eq!(check(&[MODERN, cancel]).1, [""; 0]);
}

#[test]
fn inserted_lines_are_not_checked() {
    let response = r#"< {"jsonrpc":"2.0","id":9,"result":{}}"#;
    let (watch, breaches) =
        check(&["~> noise", r#"~> {"jsonrpc":"2.0","id":9,"method":"ping"}"#, response, response]);
    assert_single(&breaches, "request 9 is already answered");
    assert_eq!(watch.unanswered().count(), 0);
}

#[test]
fn open_requests_and_the_session_are_known() {
    let (watch, _) =
        check(&[&HANDSHAKE[..], &[r#"> {"jsonrpc":"2.0","id":2,"method":"tools/list"}"#]].concat());
    assert_eq!(watch.unanswered().collect::<Vec<_>>(), [(Side::Client, "2", "tools/list")]);
    assert_eq!(watch.session().map(Revision::name), Some("2025-06-18"));
}

#[test]
fn a_breach_truncates_long_lines() {
    let long = format!("< \t{}", "x".repeat(10_000));
    let breaches = in_session(&[&long]);
    assert!(
        breaches[0].len() < 800
            && breaches[0].contains("not JSON: \\tx")
            && breaches[0].ends_with(" …")
    );
}
