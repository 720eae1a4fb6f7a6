//! Tests of extensions: how they are declared, and what they add.

use alloc::format;

use super::*;
use crate::schema::Capabilities;
use crate::{CallError, Change, Extension, ExtensionMethod, Filter, Misuse, Side};

const ID: &str = "com.example/board";
const DRAW: &str = "com.example/draw";
const DRAWN: &str = "notifications/com.example/drawn";
const DECLARED: &str = r#"{"tools":{},"extensions":{"com.example/board":{}}}"#;

/// Returns an extension with rows for both sides.
fn board() -> Extension {
    Extension::new(ID)
        .settings(Raw::from_text(r#"{"colors":8}"#).unwrap())
        .method(ExtensionMethod::request(Side::Client, DRAW))
        .method(ExtensionMethod::request(Side::Server, "com.example/erase"))
        .method(ExtensionMethod::notification(Side::Server, DRAWN))
        .method(ExtensionMethod::notification(Side::Client, "notifications/com.example/seen"))
        .result_type("tools/call", "sketch")
        .result_type(DRAW, "later")
        .listen_key("boards")
}

/// Returns a client with the extension, connected to a server with these capabilities.
fn client_of(revision: Revision, theirs: &str) -> Client {
    let config = client::Config::new("c", "1").revisions(&[revision]);
    let mut client = Client::new(NOW, config.extension(board()).unwrap());
    match revision {
        R5 => receive(&mut client, discovered(theirs)),
        _ => receive(&mut client, welcome(revision.name(), theirs)),
    }
    sent(&mut client);
    events(&mut client);
    client
}

/// Returns a server with the extension.
fn extended_server() -> Server {
    Server::new(NOW, server_config(Limits::default()).extension(board()).unwrap())
}

/// Returns a server with the extension, in a session of a client with these capabilities.
fn server_of(revision: Revision, theirs: &str) -> Server {
    let mut server = extended_server();
    let params = format!(
        r#"{{"protocolVersion":"{revision}","capabilities":{theirs},
        "clientInfo":{{"name":"c","version":"1"}}}}"#
    );
    receive(
        &mut server,
        format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#),
    );
    receive(&mut server, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    sent(&mut server);
    events(&mut server);
    server
}

/// Returns a modern request of a client with these capabilities.
fn modern(id: u64, method: &str, theirs: &str) -> String {
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{theirs}}}"#
    );
    let params = format!(r#"{{"name":"t","_meta":{meta}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn call_of(client: &mut Client, method: &str) -> Result<CallId, Misuse> {
    let params = Raw::from_text(r#"{"name":"t"}"#).unwrap();
    client.call_raw(NOW, method, Some(&params), CallOptions::default())
}

// SEP-2133; CAP-18: capability objects are open in every revision.
#[test]
fn both_sides_declare_extensions_in_every_revision() {
    let settings = Raw::from_text(r#"{"colors":8}"#).unwrap();
    let capabilities = Capabilities::none().with_extension(ID, settings);
    for revision in Revision::ALL {
        let client = client::Config::new("c", "1").revisions(&[revision]);
        let server = server::Config::new("s", "1");
        for (client, server) in [
            (
                client.clone().extension(board()).unwrap(),
                server.clone().extension(board()).unwrap(),
            ),
            (client.capabilities(capabilities.clone()), server.capabilities(capabilities.clone())),
        ] {
            let (mut client, mut server) = (Client::new(NOW, client), Server::new(NOW, server));
            let declared = r#""extensions":{"com.example/board":{"colors":8}}"#;
            let opening = sent(&mut client).remove(0);
            assert!(opening.contains(declared), "{opening}");
            receive(&mut server, &opening);
            let answer = sent(&mut server).remove(0);
            assert!(answer.contains(declared), "{answer}");
            receive(&mut client, &answer);
            let settings = client.peer().unwrap().extension(ID).unwrap();
            assert_eq!(settings.as_str(), r#"{"colors":8}"#, "{revision}");
            assert!(server.peer().is_none_or(|peer| peer.extension(ID).is_some()), "{revision}");
        }
    }
}

#[test]
fn an_extension_does_not_exist_in_other_revisions() {
    for revision in Revision::ALL {
        let config = client::Config::new("c", "1").revisions(&[revision]);
        let mut client = Client::new(NOW, config.extension(board().revisions(R5..=R5)).unwrap());
        let opening = sent(&mut client).remove(0);
        assert_eq!(opening.contains(ID), revision == R5, "{opening}");
        match revision {
            R5 => receive(&mut client, discovered(DECLARED)),
            _ => receive(&mut client, welcome(revision.name(), DECLARED)),
        }
        let expected = if revision == R5 { Ok(()) } else { Err(Misuse::Unsupported) };
        assert_eq!(call_of(&mut client, DRAW).map(|_| ()), expected, "{revision}");
    }
}

// STL-48
#[test]
fn a_result_type_is_accepted_for_its_methods_and_with_a_shared_extension_only_stl_48() {
    let without = r#"{"tools":{}}"#;
    let rows = [
        ("tools/call", "sketch", DECLARED, true),
        ("tools/call", "later", DECLARED, false),
        ("tools/list", "sketch", DECLARED, false),
        ("tools/call", "sketch", without, false),
        ("com.example/unknown", "sketch", DECLARED, false),
        (DRAW, "later", DECLARED, true),
        (DRAW, "sketch", DECLARED, false),
    ];
    for (method, kind, theirs, is_accepted) in rows {
        let mut client = client_of(R5, theirs);
        call_of(&mut client, method).unwrap();
        let result = format!(r#"{{"resultType":"{kind}"}}"#);
        receive(&mut client, format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#));
        match outcomes(&mut client).pop() {
            Some(Ok(outcome)) if is_accepted => assert_eq!(outcome.as_str(), result),
            Some(Err(CallError::Invalid(_))) if !is_accepted => {}
            outcome => panic!("{method} {kind}: {outcome:?}"),
        }
    }
}

// STL-48
#[test]
fn a_declaration_without_rows_adds_no_result_type_stl_48() {
    let ours = Capabilities::none().with_extension(ID, Raw::empty_object());
    let config = client::Config::new("c", "1").revisions(&[R5]).capabilities(ours);
    let mut client = Client::new(NOW, config);
    receive(&mut client, discovered(DECLARED));
    call_of(&mut client, "tools/call").unwrap();
    receive(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"sketch"}}"#);
    assert!(matches!(outcomes(&mut client).pop(), Some(Err(CallError::Invalid(_)))));
}

// LIF-34
#[test]
fn the_extension_of_a_peer_that_lacks_it_is_not_used_lif_34() {
    for revision in Revision::ALL {
        let mut client = client_of(revision, r#"{"tools":{}}"#);
        assert_eq!(call_of(&mut client, DRAW), Err(Misuse::Undeclared));
        let seen = "notifications/com.example/seen";
        assert_eq!(client.notify_raw(NOW, seen, None), Err(Misuse::Undeclared));
        assert!(sent(&mut client).is_empty(), "{revision}");

        let mut client = client_of(revision, DECLARED);
        call_of(&mut client, DRAW).unwrap();
        client.notify_raw(NOW, seen, None).unwrap();
        assert_eq!(sent(&mut client).len(), 2, "{revision}");
        // Servers send these.
        for method in ["com.example/erase", DRAWN] {
            assert_eq!(call_of(&mut client, method), Err(Misuse::Unsupported), "{method}");
            assert_eq!(client.notify_raw(NOW, method, None), Err(Misuse::Unsupported), "{method}");
        }
    }
    for revision in Revision::LEGACY {
        for (theirs, expected) in [("{}", Err(Misuse::Undeclared)), (DECLARED, Ok(()))] {
            let mut server = server_of(revision, theirs);
            let options = CallOptions::default();
            let called = server.call_raw(NOW, "com.example/erase", None, options);
            assert_eq!(called.map(|_| ()), expected, "{revision}");
            assert_eq!(server.notify_raw(NOW, DRAWN, None), expected, "{revision}");
        }
    }
}

// LIF-34
#[test]
fn a_request_of_a_peer_without_the_extension_is_refused_with_its_name_lif_34() {
    let data = r#""data":{"requiredCapabilities":{"extensions":{"com.example/board":{}}}}"#;
    let mut server = extended_server();
    receive(&mut server, modern(1, DRAW, "{}"));
    let refused = sent(&mut server).remove(0);
    assert!(refused.contains(r#""code":-32021"#) && refused.contains(data), "{refused}");
    receive(&mut server, modern(2, DRAW, DECLARED));
    let (_, request, _) = requests(&mut server).remove(0);
    assert_eq!(request.method, DRAW);
    // The direction is part of the row, and others' extensions are unknown methods.
    for method in ["com.example/erase", DRAWN, "com.example/unknown"] {
        receive(&mut server, modern(3, method, DECLARED));
        let refused = sent(&mut server).remove(0);
        assert!(refused.contains(r#""code":-32601"#), "{refused}");
    }
    for revision in Revision::LEGACY {
        let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{DRAW}","params":{{}}}}"#);
        let mut server = server_of(revision, "{}");
        receive(&mut server, &request);
        let refused = sent(&mut server).remove(0);
        assert!(refused.contains(r#""code":-32603"#) && refused.contains(data), "{refused}");
        let mut server = server_of(revision, DECLARED);
        receive(&mut server, &request);
        assert_eq!(requests(&mut server).len(), 1, "{revision}");
        // A server's request.
        let request = request.replace("draw", "erase");
        for (theirs, is_delivered) in [("{}", false), (DECLARED, true)] {
            let mut client = client_of(revision, theirs);
            receive(&mut client, &request);
            assert_eq!(events(&mut client).len(), usize::from(is_delivered), "{revision}");
            let refused = sent(&mut client);
            assert_eq!(refused.iter().any(|it| it.contains(data)), !is_delivered, "{revision}");
        }
    }
}

// LIF-34
#[test]
fn a_notification_of_a_peer_without_the_extension_is_a_violation_lif_34() {
    for revision in Revision::ALL {
        for (theirs, is_delivered) in [("{}", false), (DECLARED, true)] {
            let mut client = client_of(revision, theirs);
            receive(&mut client, format!(r#"{{"jsonrpc":"2.0","method":"{DRAWN}"}}"#));
            let is_event = match &events(&mut client)[..] {
                [client::Event::Notification { method, .. }] => *method == DRAWN,
                [client::Event::Violation(_)] => false,
                events => panic!("{events:?}"),
            };
            assert_eq!(is_event, is_delivered, "{revision} {theirs}");
        }
    }
}

// STL-48
#[test]
fn a_server_sends_a_result_type_only_with_its_extension_stl_48() {
    let rows = [
        ("tools/call", "sketch", DECLARED, true),
        ("tools/call", "sketch", "{}", false),
        ("tools/call", "later", DECLARED, false),
        (DRAW, "later", DECLARED, true),
        (DRAW, "sketch", DECLARED, false),
    ];
    for (method, kind, theirs, is_sent) in rows {
        let mut server = extended_server();
        receive(&mut server, modern(1, method, theirs));
        let (incoming, ..) = requests(&mut server).remove(0);
        let result = Raw::from_text(&format!(r#"{{"resultType":"{kind}"}}"#)).unwrap();
        let responded = server.respond(NOW, incoming, &result);
        let expected = if is_sent { Ok(()) } else { Err(Misuse::Undeclared) };
        assert_eq!(responded, expected, "{method} {kind} {theirs}");
        assert_eq!(sent(&mut server).len(), usize::from(is_sent), "{method} {kind}");
        // The request is still open, and answered without the extension.
        let answered = server.respond(NOW, incoming, &Raw::empty_object());
        assert_eq!(answered.is_ok(), !is_sent, "{method} {kind}");
    }
}

/// Returns a `subscriptions/listen` of a client with these capabilities.
fn listen(id: u64, filter: &str, theirs: &str) -> String {
    let params = format!(r#""name":"t","notifications":{filter}"#);
    modern(id, "subscriptions/listen", theirs).replace(r#""name":"t""#, &params)
}

fn drawn<'a>(element: &'a str, params: Option<&'a Raw>) -> Change<'a> {
    Change::Extension { method: DRAWN, key: "boards", element, params }
}

// STL-30, STL-32, T-104
#[test]
fn a_listen_key_of_an_extension_selects_elements_stl_30_stl_32() {
    let filter = r#"{"boards":["b2","b1","b2"],"unknown":["b3"]}"#;
    let mut server = extended_server();
    for filter in [filter, r#"{"boards":[]}"#] {
        receive(&mut server, listen(1, filter, "{}"));
        let refused = sent(&mut server).remove(0);
        assert!(refused.contains("-32021") && refused.contains(ID), "{refused}");
    }
    receive(&mut server, listen(2, r#"{"boards":"b1"}"#, DECLARED));
    assert!(sent(&mut server).remove(0).contains("-32602"));

    receive(&mut server, listen(3, filter, DECLARED));
    let acknowledged = sent(&mut server).remove(0);
    assert!(acknowledged.contains(r#""notifications":{"boards":["b1","b2"]}"#), "{acknowledged}");
    receive(&mut server, listen(4, r#"{"boards":["b1"]}"#, DECLARED));
    sent(&mut server);
    let params = Raw::from_text(r#"{"_meta":{"a":1},"by":"me"}"#).unwrap();
    server.notify_changed(NOW, drawn("b2", Some(&params))).unwrap();
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":3,"a":1},"by":"me""#;
    let wanted = format!(r#"{{"jsonrpc":"2.0","method":"{DRAWN}","params":{{{tag}}}}}"#);
    assert_eq!(sent(&mut server), [wanted]);
    server.notify_changed(NOW, drawn("b1", None)).unwrap();
    assert_eq!(sent(&mut server).len(), 2);
    server.notify_changed(NOW, drawn("b3", None)).unwrap();
    assert!(sent(&mut server).is_empty());

    let list = Raw::from_text("[]").unwrap();
    assert_eq!(server.notify_changed(NOW, drawn("b1", Some(&list))), Err(Misuse::Unencodable));
    let other = Change::Extension { method: "x/y", key: "boards", element: "b1", params: None };
    assert_eq!(server.notify_changed(NOW, other), Err(Misuse::Undeclared));
}

// SEC-02, SEC-19
#[test]
fn elements_are_bounded_and_decided_by_the_application_sec_02_sec_19() {
    let limits = Limits { subscription_uris_max: 2, ..Limits::default() };
    let config = server_config(limits).extension(board()).unwrap().decide_subscriptions();
    let mut server = Server::new(NOW, config);
    receive(&mut server, listen(1, r#"{"boards":["1","2","3"]}"#, DECLARED));
    assert!(sent(&mut server).remove(0).contains("too many subscriptions"));
    receive(&mut server, listen(2, r#"{"boards":["b1","b2"]}"#, DECLARED));
    let (incoming, request, ..) = requests(&mut server).remove(0);
    assert_eq!(request.subscribed_elements("boards"), ["b1", "b2"]);
    assert!(request.subscribed_elements("others").is_empty());
    let accepted = Raw::from_text(r#"{"notifications":{"boards":["b2","b3"]}}"#).unwrap();
    server.respond(NOW, incoming, &accepted).unwrap();
    let acknowledged = sent(&mut server).remove(0);
    assert!(acknowledged.contains(r#""notifications":{"boards":["b2"]}"#), "{acknowledged}");
}

// STL-29, ID-12
#[test]
fn a_client_receives_the_notifications_of_its_subscription_stl_29_id_12() {
    let mut client = client_of(R5, r#"{"tools":{}}"#);
    let filter = Filter::new().element("boards", "b1").element("boards", "b2");
    client.subscribe(NOW, &filter, CallOptions::default()).unwrap();
    let request = sent(&mut client).remove(0);
    assert!(request.contains(r#""notifications":{}"#), "{request}");

    let mut client = client_of(R5, DECLARED);
    let call = client.subscribe(NOW, &filter, CallOptions::default()).unwrap();
    let request = sent(&mut client).remove(0);
    assert!(request.contains(r#""notifications":{"boards":["b1","b2"]}"#), "{request}");
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":2}"#;
    let acknowledged = r#"{"boards":["b2","b3"]}"#;
    receive(
        &mut client,
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{
            {tag},"notifications":{acknowledged}}}}}"#
        ),
    );
    receive(&mut client, format!(r#"{{"jsonrpc":"2.0","method":"{DRAWN}","params":{{{tag}}}}}"#));
    let both = events(&mut client);
    let [client::Event::Subscribed { filter, .. }, client::Event::Notification { call: of, .. }] =
        &both[..]
    else {
        panic!("{both:?}")
    };
    assert_eq!(*filter, Filter::new().element("boards", "b2"));
    assert_eq!(*of, Some(call));
}

#[test]
fn the_client_of_a_session_receives_all_elements_of_its_extension() {
    for revision in Revision::LEGACY {
        for (theirs, count) in [("{}", 0), (DECLARED, 1)] {
            let mut server = server_of(revision, theirs);
            server.notify_changed(NOW, drawn("b1", None)).unwrap();
            assert_eq!(sent(&mut server).len(), count, "{revision} {theirs}");
        }
        let mut client = client_of(revision, DECLARED);
        let filter = Filter::new().element("boards", "b1");
        client.subscribe(NOW, &filter, CallOptions::default()).unwrap();
        assert!(sent(&mut client).is_empty(), "{revision}");
    }
}

// The protocol defines `tasks/get` in 2025-11-25, and an extension afterwards.
#[test]
fn an_extension_defines_a_method_that_the_protocol_had_before() {
    let id = "io.modelcontextprotocol/tasks";
    let tasks = || {
        Extension::new(id)
            .revisions(R5..=R5)
            .method(ExtensionMethod::request(Side::Client, "tasks/get").named_by("taskId"))
            .result_type("tools/call", "task")
            .listen_key("taskIds")
    };
    let declared = format!(r#"{{"tools":{{}},"extensions":{{"{id}":{{}}}},"tasks":{{}}}}"#);
    for (revision, sends) in [(R4, "with the capability"), (R5, "with the extension")] {
        let config = client::Config::new("c", "1").revisions(&[revision]);
        let mut client = Client::new(NOW, config.extension(tasks()).unwrap());
        match revision {
            R5 => receive(&mut client, discovered(&declared)),
            _ => receive(&mut client, welcome(revision.name(), &declared)),
        }
        let params = Raw::from_text(r#"{"taskId":"t"}"#).unwrap();
        let options = CallOptions::default();
        client.call_raw(NOW, "tasks/get", Some(&params), options.clone()).expect(sends);
        let removed = client.call_raw(NOW, "tasks/result", Some(&params), options);
        assert_eq!(removed.is_ok(), revision == R4, "{revision}");
    }
    let mut server = Server::new(NOW, server_config(Limits::default()).extension(tasks()).unwrap());
    for (method, theirs, code) in [
        ("tasks/get", &*declared, None),
        ("tasks/get", r#"{"tasks":{}}"#, Some("-32021")),
        ("tasks/result", &*declared, Some("-32601")),
    ] {
        receive(&mut server, modern(1, method, theirs));
        let delivered = requests(&mut server);
        assert_eq!(delivered.len(), usize::from(code.is_none()), "{method} {theirs}");
        for (incoming, ..) in delivered {
            server.respond(NOW, incoming, &Raw::empty_object()).unwrap();
        }
        let answer = sent(&mut server).remove(0);
        assert!(code.is_none_or(|code| answer.contains(code)), "{answer}");
    }
}
