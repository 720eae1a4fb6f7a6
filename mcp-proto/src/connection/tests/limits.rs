//! Tests that each limit is exact: the maximum is accepted, one more is not.

// SEC-19: all state and output caused by a peer is bounded.

use alloc::string::String;
use alloc::{format, vec};

use super::*;
use crate::schema::Elicit;
use crate::vocabulary::Filter;
use crate::{CallError, CloseReason, ErrorObject, Fault, Misuse, NeededInput};

fn is_too_long(close: Option<&CloseReason>) -> bool {
    let Some(CloseReason::Fault(Fault::BadHandshake(why))) = close else { return false };
    why.contains("peer_bytes_max")
}

/// Returns params of `tools/call` with a length of `length` bytes.
fn padded(length: usize) -> String {
    let (head, tail) = (r#"{"name":"t","pad":""#, r#""}"#);
    format!("{head}{}{tail}", "a".repeat(length - head.len() - tail.len()))
}

#[test]
fn a_server_description_is_accepted_up_to_peer_bytes_max() {
    for revision in [R4, R5] {
        let answer = if revision == R5 { discovered("{}") } else { welcome(revision.name(), "{}") };
        let result = crate::json::find(answer.as_bytes(), "result").unwrap().len();
        for (limit, fits) in [(result, true), (result - 1, false), (result / 2, false)] {
            let limits = Limits { peer_bytes_max: limit, ..Limits::default() };
            let mut client = Client::new(NOW, client_config(revision, limits));
            receive(&mut client, &answer);
            assert_eq!(
                (client.peer().is_some(), is_too_long(client.close_reason())),
                (fits, !fits),
                "{limit}"
            );
        }
    }
}

#[test]
fn a_client_description_is_accepted_up_to_peer_bytes_max() {
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},
        "clientInfo":{"name":"c","version":"1"}}"#;
    for (limit, fits) in
        [(params.len(), true), (params.len() - 1, false), (params.len() / 2, false)]
    {
        let limits = Limits { peer_bytes_max: limit, ..Limits::default() };
        let mut server = Server::new(NOW, server_config(limits));
        receive(
            &mut server,
            format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#),
        );
        assert_eq!(server.peer().is_some(), fits, "{limit}");
        assert_eq!(sent(&mut server)[0].contains(r#""result":"#), fits, "{limit}");
    }
}

#[test]
fn requests_are_accepted_up_to_requests_bytes_max() {
    for (second, fits) in [(400, true), (401, false)] {
        let mut server = server(R4, Limits { requests_bytes_max: 1000, ..Limits::default() });
        for (id, length) in [(1, 600), (2, second)] {
            let params = padded(length);
            receive(
                &mut server,
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#),
            );
        }
        assert_eq!(requests(&mut server).len(), if fits { 2 } else { 1 }, "{second}");
    }
}

#[test]
fn the_sender_identity_counts_towards_requests_bytes_max() {
    let name = "n".repeat(8192);
    let meta = META.replacen(
        '{',
        &format!(r#"{{"io.modelcontextprotocol/clientInfo":{{"name":"{name}","version":"1"}},"#),
        1,
    );
    let identity = crate::vocabulary::identity_cost(meta.as_bytes(), usize::MAX);
    assert!(identity > 0);
    let params = format!(r#"{{"name":"t","_meta":{meta}}}"#);
    let held = params.len() + meta.len() + identity;
    for (left, fits) in [(held, true), (held - 1, false)] {
        let mut server =
            server(R5, Limits { requests_bytes_max: held + left, ..Limits::default() });
        for id in [1, 2] {
            receive(
                &mut server,
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#),
            );
        }
        assert_eq!(requests(&mut server).len(), if fits { 2 } else { 1 }, "{left}");
    }
}

#[test]
fn the_client_of_a_modern_request_is_accepted_up_to_peer_bytes_max_sec_19() {
    let (info, capabilities) = (r#"{"name":"c","version":"1"}"#, r#"{"elicitation":{}}"#);
    let meta = META.replacen('{', &format!(r#"{{"io.modelcontextprotocol/clientInfo":{info},"#), 1);
    let length = info.len() + capabilities.len();
    for method in ["tools/call", "server/discover"] {
        for (limit, fits) in [(length, true), (length - 1, false), (0, false)] {
            let mut server = server(R5, Limits { peer_bytes_max: limit, ..Limits::default() });
            let params = format!(r#"{{"name":"t","_meta":{meta}}}"#);
            receive(
                &mut server,
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#),
            );
            let refused = sent(&mut server).iter().any(|line| line.contains("-32602"));
            assert_eq!(refused, !fits, "{method} {limit}");
        }
    }
}

fn form() -> NeededInput {
    NeededInput::from(Elicit::form("Who?", Raw::empty_object()))
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"t"}}"#;

#[test]
fn questions_are_sent_up_to_input_requests_max() {
    for (count, fits) in [(3, true), (4, false)] {
        let mut server = server(R4, Limits { input_requests_max: 3, ..Limits::default() });
        receive(&mut server, CALL);
        let [(incoming, ..)] = requests(&mut server)[..] else { panic!("one request") };
        let questions = [("a", form()), ("b", form()), ("c", form()), ("d", form())];
        let done = server.request_input(NOW, incoming, &questions[..count], None);
        assert_eq!(done, if fits { Ok(()) } else { Err(Misuse::Blocked) });
        assert_eq!(sent(&mut server).len(), if fits { count } else { 0 });
    }
}

#[test]
fn pending_answers_count_towards_requests_bytes_max() {
    let params = r#"{"name":"t"}"#.len();
    let answer = r#"{"action":"accept","content":{"name":"Ada"}}"#;
    for (spare, fits) in [(0, true), (1, true)] {
        let limits =
            Limits { requests_bytes_max: params + 2 * answer.len() + spare, ..Limits::default() };
        let mut server = server(R4, limits);
        receive(&mut server, CALL);
        let [(incoming, ..)] = requests(&mut server)[..] else { panic!("one request") };
        server.request_input(NOW, incoming, &[("a", form()), ("b", form())], None).unwrap();
        for id in [1, 2] {
            receive(&mut server, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#));
            // What is held leaves no room for another request, once there is less left than that
            // takes.
            if id == 1 {
                let small = padded(answer.len() + spare + 1);
                receive(
                    &mut server,
                    format!(
                        r#"{{"jsonrpc":"2.0","id":"r","method":"tools/call","params":{small}}}"#
                    ),
                );
                assert_eq!(requests(&mut server).len(), 0);
            }
        }
        assert_eq!(requests(&mut server).len() == 1, fits, "{spare}");
    }
    // With one byte less, the second answer exceeds the limit.
    let mut server = server(
        R4,
        Limits { requests_bytes_max: params + 2 * answer.len() - 1, ..Limits::default() },
    );
    receive(&mut server, CALL);
    let [(incoming, ..)] = requests(&mut server)[..] else { panic!("one request") };
    server.request_input(NOW, incoming, &[("a", form()), ("b", form())], None).unwrap();
    for id in [1, 2] {
        receive(&mut server, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#));
    }
    assert!(requests(&mut server).is_empty());
}

/// Returns a filter with one three-byte URI for each of `names`.
fn resources(names: core::ops::Range<usize>) -> Filter {
    names.fold(Filter::new(), |filter, name| {
        filter.resource(format!("a:{}", char::from(b'A' + name as u8)))
    })
}

#[test]
fn queued_subscriptions_count_towards_calls_max() {
    let limits = || Limits { calls_max: 70, ..Limits::default() };
    for (count, fits) in [(64, true), (65, false)] {
        let mut client = client(R4, limits());
        let many = (0..70).fold(Filter::new(), |filter, name| filter.resource(format!("a:{name}")));
        client.subscribe(NOW, &many, CallOptions::default()).unwrap();
        assert_eq!(sent(&mut client).len(), 64, "the maximum number in flight");
        let others = (100..100 + count)
            .fold(Filter::new(), |filter, name| filter.resource(format!("a:{name}")));
        let done = client.subscribe(NOW, &others, CallOptions::default());
        assert_eq!(done.is_ok(), fits, "six are queued, and {count} more");
    }
    // While the queue is empty, a subscription may name any number of resources.
    let mut client = client(R4, Limits { calls_max: 2, ..Limits::default() });
    client.subscribe(NOW, &resources(0..9), CallOptions::default()).unwrap();
    assert_eq!(
        client.subscribe(NOW, &resources(0..1), CallOptions::default()),
        Err(Misuse::Blocked)
    );
}

fn acknowledged(id: u64, uris: &[&str]) -> String {
    let uris = uris.iter().map(|uri| format!("{uri:?}")).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{
        "_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},
        "notifications":{{"resourceSubscriptions":[{uris}]}}}}}}"#
    )
}

/// Takes the numbers of resources in the reported filters.
fn listening(client: &mut Client) -> Vec<usize> {
    let count = |event| match event {
        client::Event::Subscribed { filter, .. } => Some(filter.uris.len()),
        _ => None,
    };
    events(client).into_iter().filter_map(count).collect()
}

#[test]
fn an_acknowledged_filter_is_accepted_up_to_the_subscription_limits_stl_30() {
    let filter = || resources(0..3);
    let uris = ["a:A", "a:B", "a:C"];
    for (limits, fits) in [
        (Limits { subscription_uris_max: 3, ..Limits::default() }, true),
        (Limits { subscription_uris_max: 2, ..Limits::default() }, false),
        (Limits { subscription_uris_max: 1, ..Limits::default() }, false),
        (Limits { subscriptions_bytes_max: 9, ..Limits::default() }, true),
        (Limits { subscriptions_bytes_max: 8, ..Limits::default() }, false),
    ] {
        let mut client = client(R5, Limits { violations_max: None, ..limits.clone() });
        client.subscribe(NOW, &filter(), CallOptions::default()).unwrap();
        receive(&mut client, acknowledged(2, &uris));
        assert_eq!(listening(&mut client), if fits { vec![3] } else { vec![] }, "{limits:?}");
    }
    for (bytes, accepted) in [(15, 2), (14, 1)] {
        let mut client = client(R5, Limits { subscriptions_bytes_max: bytes, ..Limits::default() });
        for (id, uris) in [(2, &uris[..]), (3, &uris[..2])] {
            client.subscribe(NOW, &filter(), CallOptions::default()).unwrap();
            receive(&mut client, acknowledged(id, uris));
        }
        assert_eq!(listening(&mut client).len(), accepted, "{bytes}");
    }
}

fn listen(id: u64, uris: &[&str]) -> String {
    let uris = uris.iter().map(|uri| format!("{uri:?}")).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"subscriptions/listen","params":{{
        "_meta":{META},"notifications":{{"resourceSubscriptions":[{uris}]}}}}}}"#
    )
}

#[test]
fn subscriptions_are_accepted_up_to_the_server_limits() {
    let uris = ["a:A", "a:B", "a:C"];
    for (limits, accepted) in [
        (Limits { subscription_uris_max: 3, ..Limits::default() }, 2),
        (Limits { subscription_uris_max: 2, ..Limits::default() }, 1),
        (Limits { subscription_uris_max: 1, ..Limits::default() }, 0),
        (Limits { subscriptions_bytes_max: 15, ..Limits::default() }, 2),
        (Limits { subscriptions_bytes_max: 14, ..Limits::default() }, 1),
    ] {
        let mut server = server(R5, limits.clone());
        receive(&mut server, listen(1, &uris));
        receive(&mut server, listen(2, &uris[..2]));
        let messages = sent(&mut server);
        let count = messages.iter().filter(|line| line.contains("acknowledged")).count();
        assert_eq!(count, accepted, "{limits:?}: {messages:?}");
        assert_eq!(messages.len(), 2, "each is accepted or refused");
    }
}

/// Delivers an `input_required` result with questions and a state.
fn ask(client: &mut Client, id: u64, keys: &[&str], state: &str) {
    let questions = keys.iter().map(|key| format!(r#""{key}":{{"method":"roots/list"}}"#));
    let questions = questions.collect::<Vec<_>>().join(",");
    receive(
        client,
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required",
            "requestState":"{state}","inputRequests":{{{questions}}}}}}}"#
        ),
    );
}

#[test]
fn retry_data_counts_towards_calls_bytes_max() {
    let params = padded(100);
    let (state, key) = ("s".repeat(50), "k".repeat(20));
    let whole = params.len() + key.len() + state.len() + 2;
    for (limit, fits) in [(whole, true), (whole - 1, false), (whole / 2 + 40, false)] {
        let mut client = client(R5, Limits { calls_bytes_max: limit, ..Limits::default() });
        call(&mut client, &params);
        ask(&mut client, 2, &[&key], &state);
        assert_eq!(outcomes(&mut client).is_empty(), fits, "{limit} of {whole}");
    }
}

#[test]
fn retry_data_is_released_when_the_call_ends() {
    let params = padded(100);
    let mut client = client(R5, Limits { calls_bytes_max: 200, ..Limits::default() });
    for id in [2, 3, 4] {
        call(&mut client, &params);
        ask(&mut client, id, &["k"], "state");
        let open = client.call_raw(
            NOW,
            "tools/call",
            Some(&Raw::from_text(&padded(95)).unwrap()),
            CallOptions::default(),
        );
        assert_eq!(
            open,
            Err(Misuse::Blocked),
            "100 of the call, 7 of the state, 1 of the question"
        );
        receive(&mut client, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        let [(incoming, ..)] = asked(&mut client)[..] else { panic!("one question") };
        client.respond_error(NOW, incoming, &ErrorObject::internal("no")).unwrap();
        assert!(matches!(outcomes(&mut client)[..], [Err(CallError::InputRefused(_))]));
        sent(&mut client);
    }
}

/// Takes the questions delivered to a client's application.
fn asked(client: &mut Client) -> Vec<(IncomingId, crate::Request)> {
    let request = |event| match event {
        client::Event::Request { incoming, request, .. } => Some((incoming, request)),
        _ => None,
    };
    events(client).into_iter().filter_map(request).collect()
}

#[test]
fn questions_in_results_count_towards_the_request_limits() {
    for (limits, fits) in [
        (Limits { requests_max: 4, ..Limits::default() }, true),
        (Limits { requests_max: 3, ..Limits::default() }, false),
        (Limits { requests_max: 1, ..Limits::default() }, false),
        (Limits { requests_bytes_max: 8, ..Limits::default() }, true),
        (Limits { requests_bytes_max: 7, ..Limits::default() }, false),
    ] {
        let mut client = client(R5, limits.clone());
        call(&mut client, r#"{"name":"a"}"#);
        call(&mut client, r#"{"name":"b"}"#);
        ask(&mut client, 2, &["k"], "s");
        ask(&mut client, 3, &["1a", "2b", "3cd"], "s");
        assert_eq!(asked(&mut client).len(), if fits { 4 } else { 1 }, "{limits:?}");
    }
}

/// The id comes first or last, and the stream is split anywhere.
#[test]
fn a_response_over_message_bytes_max_ends_its_call_t_21() {
    let long = "x".repeat(5_000);
    let result = format!(r#"{{"content":[{{"type":"text","text":"{long}"}}]}}"#);
    for response in [
        format!(r#"{{"jsonrpc":"2.0","id":2,"result":{result}}}"#),
        format!(r#"{{"result":{result},"jsonrpc":"2.0","id":2}}"#),
    ] {
        for piece in [1, 7, 300, 4_000, 10_000] {
            let limits = Limits { message_bytes_max: 1_000, ..Limits::default() };
            let mut client = crate::stdio::Stdio::new(client(R4, limits));
            call(&mut client, r#"{"name":"t"}"#);
            for part in format!("{response}\n").as_bytes().chunks(piece) {
                crate::Endpoint::handle_input(&mut client, NOW, part);
            }
            let [Err(CallError::Invalid(why))] = &outcomes(&mut client)[..] else {
                panic!("the call did not end: {piece}")
            };
            assert!(why.contains("message_bytes_max"), "{why}");
        }
    }
}

#[test]
fn reserved_ids_of_batches_count_towards_replies_bytes_max_bat_18() {
    let member = |id: &str| {
        format!(
            r#"[{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"t"}}}}]"#
        )
    };
    // One id of three characters, held twice.
    for (limit, accepted) in [(140, 2), (139, 1)] {
        let mut server =
            server(Revision::V2025_03_26, Limits { replies_bytes_max: limit, ..Limits::default() });
        receive(&mut server, member("abc"));
        receive(&mut server, member("def"));
        assert_eq!(requests(&mut server).len(), accepted, "{limit}");
    }
}
