//! Tests of which extensions can be declared.

use alloc::string::ToString;

use super::*;
fn request(name: &str) -> ExtensionMethod {
    ExtensionMethod::request(Side::Client, name)
}

fn board() -> Extension {
    Extension::new("com.example/board").method(request("com.example/draw")).listen_key("boards")
}

#[test]
fn an_extension_that_contradicts_itself_or_the_protocol_is_refused_cap_17() {
    let new = || Extension::new("com.example/other");
    let tasks = || new().method(request("tasks/get"));
    let many = (0..=Extension::ROWS_MAX).fold(new(), |all, n| all.method(request(&n.to_string())));
    let rows = [
        (Extension::new("other"), "needs a prefix"),
        (Extension::new("com.example/a b"), "needs a prefix"),
        (board(), "already declared"),
        (new().settings(Raw::from_text("[]").unwrap()), "must be a JSON object"),
        (new().method(request("com.example/draw")), "\"com.example/draw\" is already declared"),
        (new().method(request("a")).method(request("a")), "\"a\" is already declared"),
        (new().method(request("")), "invalid method name"),
        (new().method(request("rpc.x")), "invalid method name"),
        (new().method(request("tools/call")), "the protocol defines method"),
        (tasks(), "the protocol defines method"),
        (new().result_type("com.example/draw", "x"), "is no request"),
        (new().result_type("notifications/message", "x"), "is no request"),
        (new().result_type("tools/call", "complete"), "the protocol defines result type"),
        (new().result_type("tools/call", "input_required"), "the protocol defines result type"),
        (new().listen_key("resourceSubscriptions"), "listen key"),
        (new().listen_key("boards"), "listen key \"boards\" is already defined"),
        (new().listen_key("a").listen_key("a"), "listen key \"a\" is already defined"),
        (many, "at most 64 rows"),
    ];
    for (extension, why) in rows {
        let mut all = Extensions::default();
        all.add(board()).unwrap();
        let error = all.add(extension).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(all.all().len(), 1, "nothing was added: {why}");
    }
    let mut all = Extensions::default();
    // `tasks/get` is a method of 2025-11-25 only.
    all.add(tasks().revisions(Revision::V2026_07_28..=Revision::V2026_07_28)).unwrap();
    all.add(board().result_type("com.example/draw", "x").result_type("tools/call", "x")).unwrap();
}

#[test]
fn the_number_of_extensions_is_bounded() {
    let mut all = Extensions::default();
    for n in 0..Extension::COUNT_MAX {
        all.add(Extension::new(&alloc::format!("com.example/n{n}"))).unwrap();
    }
    let error = all.add(board()).unwrap_err();
    assert!(error.to_string().contains("only 32 extensions"), "{error}");
}

#[test]
fn an_extension_names_its_requests_and_listen_keys() {
    let ask = ExtensionMethod::request(Side::Server, "com.example/ask");
    let sync = ExtensionMethod::request(Side::Client, "com.example/sync").of_both_sides();
    let drawn = ExtensionMethod::notification(Side::Client, "com.example/drawn");
    let board = board().method(ask).method(sync).method(drawn);
    let sent = [Side::Client, Side::Server].map(|side| {
        ["draw", "ask", "sync", "drawn", "other"]
            .map(|name| board.has_request(side, &alloc::format!("com.example/{name}")))
    });
    let wanted = [[true, false, true, false, false], [false, true, true, false, false]];
    assert_eq!(sent, wanted);
    assert!(board.listen_keys().eq(["boards"]));
}
