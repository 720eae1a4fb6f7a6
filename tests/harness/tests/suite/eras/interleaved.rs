//! Both eras over one pipe: a server receives legacy and modern requests in any order, and never
//! confuses them.
// LIF-20, LIF-21, CAP-14, T-39, T-40

use mcp_proto::server::{self, Event};
use mcp_proto::{
    CallOptions, Capability, Context, IncomingId, Misuse, NeededInput, Progress, Raw, Revision,
};
use serde_json::{Value, json};

use super::player::{PlayedServer, R4, R5, server};

pub(crate) fn config() -> server::Config {
    [
        Capability::Tools,
        Capability::ToolsListChanged,
        Capability::Logging,
        Capability::Resources,
        Capability::ResourcesSubscribe,
    ]
    .into_iter()
    .fold(server::Config::new("s", "1"), server::Config::capability)
}

/// Capabilities of the session's client, and of the modern client.
const IN_SESSION: &str = r#"{"roots":{}}"#;
const ALONE: &str = r#"{"elicitation":{"form":{}}}"#;

pub(crate) fn raw(text: &str) -> Raw {
    Raw::from_text(text).unwrap()
}

/// Returns a legacy request.
pub(crate) fn legacy(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

/// Returns a modern request; `more` are further members of its `_meta`, `params` of its params.
pub(crate) fn modern_with(id: &str, method: &str, more: &str, params: &str) -> String {
    let comma = |text: &str| if text.is_empty() { String::new() } else { format!(",{text}") };
    let meta = format!(
        r#""io.modelcontextprotocol/protocolVersion":"{R5}","io.modelcontextprotocol/clientCapabilities":{ALONE},"io.modelcontextprotocol/clientInfo":{{"name":"alone","version":"2"}}{}"#,
        comma(more)
    );
    legacy(id, method, &format!(r#""_meta":{{{meta}}}{}"#, comma(params)))
}

pub(crate) fn modern(id: &str, method: &str, params: &str) -> String {
    modern_with(id, method, "", params)
}

pub(crate) const TOOL: &str = r#""name":"t""#;

fn initialize(id: &str) -> String {
    legacy(
        id,
        "initialize",
        &format!(
            r#""protocolVersion":"{R4}","capabilities":{IN_SESSION},"clientInfo":{{"name":"session","version":"1"}}"#
        ),
    )
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub(crate) fn cancel(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

/// Opens a session.
pub(crate) fn open(server: &mut PlayedServer) {
    server.say(initialize("0"));
    let welcome = server.hear();
    assert_eq!(welcome["result"]["protocolVersion"], R4, "{welcome}");
    server.say(INITIALIZED);
    server.expect_silence();
    let events = server.take_events();
    let Some(Event::Ready(peer)) = events.last() else { panic!("{events:?}") };
    assert_eq!((peer.revision, &*peer.info.name), (Revision::V2025_11_25, "session"));
}

/// Returns the only request delivered.
pub(crate) fn request(server: &mut PlayedServer) -> (IncomingId, Context) {
    let mut events = server.take_events();
    match (events.pop(), events.as_slice()) {
        (Some(Event::Request { incoming, context, .. }), []) => (incoming, context),
        (last, before) => panic!("{before:?} {last:?}"),
    }
}

fn is_alone(context: &Context) -> bool {
    let peer = &context.peer;
    let seen = (peer.revision, &*peer.info.name, peer.has(Capability::Roots));
    let elicits = peer.has(Capability::ElicitationForm);
    match (seen, elicits) {
        ((Revision::V2026_07_28, "alone", false), true) => true,
        ((Revision::V2025_11_25, "session", true), false) => false,
        other => panic!("a mixture of both: {other:?}"),
    }
}

/// Responds to the request just delivered, and returns whether the response is a modern one.
pub(crate) fn answer(server: &mut PlayedServer, incoming: IncomingId) -> bool {
    server.machine.respond(server.now, incoming, &raw(r#"{"content":[]}"#)).unwrap();
    server.poll();
    let line = server.hear();
    let (kind, info) = (&line["result"]["resultType"], &line["result"]["_meta"]);
    assert_eq!(kind.is_null(), info.is_null(), "{line}");
    kind == "complete"
}

// LIF-22
#[test]
fn modern_requests_are_served_before_during_and_after_a_handshake_lif_20_lif_21_t_39() {
    let mut server = server(config());
    let alone = |server: &mut PlayedServer| {
        server.say(modern("7", "tools/call", TOOL));
        let (incoming, context) = request(server);
        assert!(is_alone(&context));
        assert!(answer(server, incoming));
        server.say(modern("8", "server/discover", ""));
        assert_eq!(server.hear()["result"]["supportedVersions"], json!([R5]));
    };
    alone(&mut server);
    server.say(initialize("0"));
    assert_eq!(server.hear()["result"]["protocolVersion"], R4);
    alone(&mut server);
    server.say(INITIALIZED);
    assert!(matches!(server.take_events()[..], [Event::Ready(_)]));
    alone(&mut server);
    server.say(legacy("7", "tools/call", TOOL));
    let (incoming, context) = request(&mut server);
    assert!(!is_alone(&context));
    assert!(!answer(&mut server, incoming));
    alone(&mut server);
    // The session is unchanged.
    assert_eq!(server.machine.peer().unwrap().info.name, "session");
    server.say(initialize("1"));
    assert_eq!(server.hear()["error"]["code"], -32600, "LIF-16");
}

/// Every order of three requests of each kind, all open together: each is answered in the form of
/// its era.
#[test]
fn answers_keep_to_the_era_of_their_request_in_every_order_lif_21_t_39() {
    for order in 0_u32..64 {
        let mut server = server(config());
        open(&mut server);
        let is_modern = |index: u32| order >> index & 1 == 1;
        let mut waiting = Vec::new();
        for index in 0..6 {
            let id = index.to_string();
            let line = if is_modern(index) {
                modern(&id, "tools/call", TOOL)
            } else {
                legacy(&id, "tools/call", TOOL)
            };
            server.say(line);
            let (incoming, context) = request(&mut server);
            assert_eq!(is_alone(&context), is_modern(index), "{index} of {order:b}");
            waiting.push((index, incoming));
        }
        // Answered in another order than requested.
        waiting.rotate_left(order as usize % 6);
        for (index, incoming) in waiting {
            assert_eq!(answer(&mut server, incoming), is_modern(index), "{index} of {order:b}");
            assert_eq!(server.said.last().unwrap()["id"], index, "{index} of {order:b}");
        }
    }
}

#[test]
fn capabilities_are_not_shared_between_eras_t_39_cap_14() {
    let mut server = server(config());
    open(&mut server);
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    let asks = [
        ("roots", NeededInput::Roots, false),
        ("form", NeededInput::raw("elicitation/create", raw(form)), true),
    ];
    for (key, question, for_alone) in asks {
        for is_modern in [false, true] {
            let id = format!(r#""{key} {is_modern}""#);
            server.say(if is_modern {
                modern(&id, "tools/call", TOOL)
            } else {
                legacy(&id, "tools/call", TOOL)
            });
            let (incoming, _) = request(&mut server);
            let asked = server.machine.request_input(
                server.now,
                incoming,
                &[(key, question.clone())],
                None,
            );
            let wanted = if is_modern == for_alone { Ok(()) } else { Err(Misuse::Undeclared) };
            assert_eq!(asked, wanted, "{key} {is_modern}");
            server.poll();
            match (asked, is_modern) {
                (Ok(()), true) => {
                    assert_eq!(server.hear()["result"]["resultType"], "input_required");
                }
                (Ok(()), false) => assert_eq!(server.hear()["method"], "roots/list"),
                (Err(_), _) => server.expect_silence(),
            }
        }
    }
}

// STL-07
#[test]
fn metadata_of_a_request_does_not_apply_to_the_next_t_39() {
    let mut server = server(config());
    let more = [
        "",
        r#""io.modelcontextprotocol/logLevel":"error""#,
        r#""progressToken":7"#,
        r#""progressToken":7"#,
        r#""progressToken":"7""#,
        "",
        "\"x\": [1,\n2]",
    ];
    for (id, more) in (1..).zip(more) {
        let text = modern_with(&format!("{id}"), "tools/call", more, TOOL);
        let meta = serde_json::from_str::<Value>(&text).unwrap()["params"]["_meta"].take();
        // A line break ends a line.
        server.say(text.replace('\n', "\r"));
        let (incoming, context) = request(&mut server);
        assert_eq!(context.log_level.is_some(), more.contains("logLevel"), "{more}");
        assert_eq!(context.wants_progress, more.contains("progressToken"), "{more}");
        assert_eq!(context.peer.info.name, "alone");
        assert_eq!(context.meta.unwrap().parse::<Value>().unwrap(), meta);
        server.machine.progress(server.now, incoming, &Progress::new(1.0)).unwrap();
        server.poll();
        if more.contains("progressToken") {
            assert_eq!(server.hear()["params"]["progressToken"], meta["progressToken"]);
        }
        server.expect_silence();
    }
}

#[test]
fn a_modern_request_cannot_have_nested_calls_frm_17() {
    let mut server = server(config());
    open(&mut server);
    server.say(modern("1", "tools/call", TOOL));
    let (alone, _) = request(&mut server);
    server.say(legacy("2", "tools/call", TOOL));
    let (in_session, _) = request(&mut server);
    let mut call = |parent| {
        let options = CallOptions { parent: Some(parent), ..CallOptions::default() };
        server.machine.call_raw(server.now, "roots/list", None, options).err()
    };
    assert_eq!(call(alone), Some(Misuse::Unsupported));
    assert_eq!(call(in_session), None);
    server.poll();
    assert_eq!(server.hear()["method"], "roots/list");
}

#[test]
fn an_open_id_is_unique_across_eras_id_09() {
    for first_is_modern in [false, true] {
        let mut server = server(config());
        open(&mut server);
        let line = |is_modern: bool| {
            if is_modern {
                modern("1", "tools/call", TOOL)
            } else {
                legacy("1", "tools/call", TOOL)
            }
        };
        server.say(line(first_is_modern));
        let (incoming, _) = request(&mut server);
        server.say(line(!first_is_modern));
        let refusal = server.hear();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(1), &json!(-32600)));
        assert!(matches!(server.take_events()[..], [Event::Violation(_)]));
        // The first request is unaffected; afterwards both eras may reuse the id.
        assert_eq!(answer(&mut server, incoming), first_is_modern);
        for is_modern in [!first_is_modern, first_is_modern] {
            server.say(line(is_modern));
            let (incoming, context) = request(&mut server);
            assert_eq!(is_alone(&context), is_modern);
            assert_eq!(answer(&mut server, incoming), is_modern);
        }
    }
}

// CAN-11, CAN-13
#[test]
fn a_cancellation_ends_the_request_of_its_id_in_either_era_can_11_can_13_can_19() {
    let mut server = server(config());
    open(&mut server);
    server.say(modern("1", "tools/call", TOOL));
    let (alone, _) = request(&mut server);
    server.say(legacy(r#""1""#, "tools/call", TOOL));
    let (in_session, _) = request(&mut server);
    server.say(cancel("2"));
    assert!(server.take_events().is_empty());

    server.say(cancel("1"));
    let events = server.take_events();
    assert!(
        matches!(events[..], [Event::RequestCancelled { incoming, .. }] if incoming == alone),
        "{events:?}"
    );
    assert_eq!(server.machine.respond(server.now, alone, &Raw::empty_object()), Err(Misuse::Stale));
    server.say(cancel(r#""1""#));
    let events = server.take_events();
    assert!(
        matches!(events[..], [Event::RequestCancelled { incoming, .. }] if incoming == in_session),
        "{events:?}"
    );
    assert_eq!(
        server.machine.respond(server.now, in_session, &Raw::empty_object()),
        Err(Misuse::Stale)
    );
    server.expect_silence();
}

// LOG-10
#[test]
fn a_method_is_looked_up_in_the_revision_of_its_request_lif_21_json_15() {
    let mut server = server(config());
    open(&mut server);
    let uri = r#""uri":"file:///a""#;
    let filter = r#""notifications":{}"#;
    for (method, params, is_modern) in [
        ("resources/subscribe", uri, false),
        ("resources/unsubscribe", uri, false),
        ("logging/setLevel", r#""level":"info""#, false),
        ("ping", "", false),
        ("server/discover", "", true),
        ("subscriptions/listen", filter, true),
    ] {
        server.say(modern("1", method, params));
        let line = server.hear();
        if is_modern {
            assert_eq!(line["error"], Value::Null, "{method}: {line}");
        } else {
            assert_eq!(
                (&line["id"], &line["error"]["code"]),
                (&json!(1), &json!(-32601)),
                "{method}: {line}"
            );
        }
        server.say(legacy("2", method, params));
        let line = server.hear();
        if is_modern {
            assert_eq!(
                (&line["id"], &line["error"]["code"]),
                (&json!(2), &json!(-32601)),
                "{method}: {line}"
            );
        } else {
            assert_eq!(line["result"], json!({}), "{method}: {line}");
        }
    }
    // Modern requests have no handshake, with a session or without.
    server.say(modern("3", "initialize", &format!(r#""protocolVersion":"{R5}""#)));
    assert_eq!(server.hear()["error"]["code"], -32601);
}

#[test]
fn without_a_session_missing_metadata_is_reported_t_40() {
    let mut server = server(config());
    for before in ["", "with others served before"] {
        if !before.is_empty() {
            server.say(modern("1", "tools/call", TOOL));
            let (incoming, _) = request(&mut server);
            assert!(answer(&mut server, incoming));
        }
        server.say(legacy("2", "tools/list", ""));
        let error = server.hear()["error"].clone();
        assert_eq!(error["code"], -32602, "{before}");
        assert_eq!(
            error["data"]["required"],
            json!([
                "io.modelcontextprotocol/protocolVersion",
                "io.modelcontextprotocol/clientCapabilities"
            ])
        );
        let supported = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
        assert_eq!(error["data"]["supported"], json!(supported));
        assert!(server.take_events().is_empty());
    }
    // Pings precede any session, and a handshake is still possible.
    server.say(legacy("3", "ping", ""));
    assert_eq!(server.hear()["result"], json!({}));
    open(&mut server);
}

#[test]
fn a_modern_request_with_bad_metadata_is_refused_in_a_session_stl_03_lif_24_cap_14() {
    let mut server = server(config());
    open(&mut server);
    let (version, capabilities) =
        ("io.modelcontextprotocol/protocolVersion", "io.modelcontextprotocol/clientCapabilities");
    for (meta, code) in [
        (json!({ version: R5 }), -32602),
        (json!({ capabilities: {} }), -32602),
        (json!({ version: R5, capabilities: 1 }), -32602),
        (json!({ version: 5, capabilities: {} }), -32602),
        (json!({ version: R4, capabilities: {} }), -32022),
        (json!({ version: "2099-01-01", capabilities: {} }), -32022),
    ] {
        server.say(legacy("9", "tools/call", &format!(r#""_meta":{meta},{TOOL}"#)));
        let line = server.hear();
        assert_eq!(
            (&line["id"], &line["error"]["code"]),
            (&json!(9), &json!(code)),
            "{meta}: {line}"
        );
        if code == -32022 {
            assert_eq!(line["error"]["data"]["requested"], meta[version], "LIF-24");
        }
        assert!(server.take_events().is_empty(), "{meta}");
    }
    // Metadata without any of the required members belongs to a session.
    server.say(legacy("10", "tools/call", &format!(r#""_meta":{{"progressToken":1}},{TOOL}"#)));
    let (_, context) = request(&mut server);
    assert!(!is_alone(&context) && context.wants_progress);
}
