//! Servers of both eras behind one API: how a client detects the era, and how little differs.

use mcp_blocking::proto::schema::Elicit;
use std::thread;
use std::time::Duration;

use mcp_blocking::proto::schema::{
    CreateMessageResult, ElicitResult, Level, ListTools, Role, Root,
};
use mcp_blocking::proto::{CloseReason, Era, Limits, NeededInput, Raw, Revision};
use mcp_blocking::{Client, Cx, Error};
use serde_json::{Value, json};

use crate::common::eras::{discovered, meet, meet_by, welcomed};
use crate::common::{
    Hand, client, connect_by_hand, pair, part, raw, server, success, tool, with_timeout,
};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

// LIF-26, LIF-28
#[test]
fn a_client_probes_the_era_of_a_server_and_adopts_it() {
    with_timeout(|| {
        for (era, revision) in ERAS.into_iter().zip([Revision::V2025_11_25, Revision::V2026_07_28])
        {
            let (connection, _hand) = meet(era, client(), &json!({}));
            assert_eq!((connection.era(), connection.revision()), (era, revision));
            connection.close().wait().unwrap();
        }
    });
}

// LIF-31
#[test]
fn a_known_legacy_server_is_not_probed() {
    with_timeout(|| {
        let (connection, hello, _hand) = meet_by(client().expect_era(Era::Legacy), |hand| {
            let hello = hand.hear();
            hand.answer(&hello, &welcomed(&json!({})));
            hello
        });
        assert_eq!((&hello["method"], &hello["id"]), (&json!("initialize"), &json!(1)));
        assert_eq!(connection.unwrap().era(), Era::Legacy);
    });
}

// LIF-31
#[test]
fn a_modern_server_that_used_to_be_legacy_is_detected() {
    with_timeout(|| {
        let (connection, (), mut hand) = meet_by(client().expect_era(Era::Legacy), |hand| {
            let hello = hand.hear();
            hand.refuse(&hello, -32601);
            let question = hand.hear();
            assert_eq!(question["method"], "server/discover");
            hand.answer(&question, &discovered(&json!({"tools": {}})));
        });
        let connection = connection.unwrap();
        assert_eq!(connection.era(), Era::Modern);
        let calling =
            thread::spawn(move || connection.list_tools().wait().map(|tools| tools.len()));
        let asked = hand.hear();
        assert_eq!(asked["method"], "tools/list");
        hand.answer(
            &asked,
            &json!({"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}),
        );
        assert_eq!(calling.join().unwrap().unwrap(), 0);
    });
}

// T-36
#[test]
fn a_stream_that_ends_at_the_probe_is_reported() {
    with_timeout(|| {
        let (failed, (), _hand) = meet_by(client(), |hand| {
            hand.hear();
            // Disconnects: later output is lost.
            let (_, nowhere) = std::io::pipe().unwrap();
            hand.writer = nowhere;
        });
        let failed = failed.map(drop).unwrap_err();
        assert!(
            matches!(failed, Error::Start { why: CloseReason::Peer, probed: true, .. }),
            "{failed:?}"
        );
        assert!(
            failed.to_string().contains("for a legacy server, use `Client::expect_era`"),
            "{failed}"
        );
    });
}

// STL-42
#[test]
fn a_cached_result_is_reused_unless_fresh_is_set() {
    with_timeout(|| {
        let limits = Limits { cache_bytes_max: 1 << 20, ..Limits::default() };
        let (connection, mut hand) =
            meet(Era::Modern, client().limits(limits), &json!({"tools": {}}));
        let serving = thread::spawn(move || {
            for count in 1..=2 {
                let asked = hand.hear();
                assert_eq!(asked["method"], "tools/list");
                let tools = vec![json!({"name": "any", "inputSchema": {"type": "object"}}); count];
                let result = json!({
                    "resultType": "complete", "tools": tools,
                    "ttlMs": 3_600_000, "cacheScope": "private",
                });
                hand.answer(&asked, &result);
            }
            hand
        });
        let count = |fresh: bool| {
            let call = connection.call(ListTools::new());
            let call = if fresh { call.bypass_cache() } else { call };
            call.wait().unwrap().tools.len()
        };
        assert_eq!([count(false), count(false), count(true), count(false)], [1, 1, 2, 2]);
        let mut hand = serving.join().unwrap();
        connection.close().wait().unwrap();
        assert_eq!(hand.hear_or_end(), None, "two requests in total");
    });
}

// LOG-02, LOG-05
#[test]
fn the_log_level_is_set_for_the_session_or_with_each_request() {
    with_timeout(|| {
        let offered = json!({"tools": {}, "logging": {}});
        let (connection, mut hand) = meet(Era::Legacy, client(), &offered);
        let setting = connection.clone();
        let set = thread::spawn(move || setting.set_log_level(Level::Warning).wait());
        let asked = hand.hear();
        assert_eq!(
            (&asked["method"], &asked["params"]),
            (&json!("logging/setLevel"), &json!({"level": "warning"}))
        );
        hand.answer(&asked, &json!({}));
        set.join().unwrap().unwrap();
        connection.close().wait().unwrap();

        let (connection, mut hand) = meet(Era::Modern, client(), &offered);
        let level = |hand: &mut Hand| {
            let call = connection.call_tool("any", &json!({})).start().wait().unwrap();
            let asked = hand.hear();
            call.cancel("asked enough");
            hand.hear_notification("notifications/cancelled");
            asked["params"]["_meta"]["io.modelcontextprotocol/logLevel"].clone()
        };
        assert_eq!(level(&mut hand), Value::Null);
        connection.set_log_level(Level::Warning).wait().unwrap();
        assert_eq!(level(&mut hand), "warning");
        connection.set_log_level(Level::Debug).wait().unwrap();
        assert_eq!(level(&mut hand), "debug");
        connection.close().wait().unwrap();
    });
}

/// Returns a client with handlers for every revision.
fn answering() -> Client {
    client()
        .on_elicitation(|form: Elicit| ElicitResult::accept(raw(json!({"seen": form.message}))))
        .on_roots(|| vec![Root::new("file:///home")])
        .on_sampling(|| Ok(CreateMessageResult::new(Role::Assistant, "well", "m")))
}

/// Returns requests that a server may send, and the expected results.
fn questions() -> [(&'static str, Value, Value); 3] {
    let form = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
    let text = json!({"type": "text", "text": "well"});
    [
        ("elicitation/create", form, json!({"action": "accept", "content": {"seen": "Who?"}})),
        ("roots/list", json!({}), json!({"roots": [{"uri": "file:///home"}]})),
        (
            "sampling/createMessage",
            json!({"messages": [], "maxTokens": 1}),
            json!({"role": "assistant", "content": text, "model": "m"}),
        ),
    ]
}

#[test]
fn one_set_of_handlers_answers_in_both_eras() {
    with_timeout(|| {
        let (connection, mut hand) = connect_by_hand(answering());
        for (method, params, expected) in questions() {
            hand.request(7, method, &params);
            let answer = hand.hear();
            assert_eq!((&answer["id"], &answer["result"]), (&json!(7), &expected), "{answer}");
        }
        connection.close().wait().unwrap();

        let (connection, mut hand) = meet(Era::Modern, answering(), &json!({"tools": {}}));
        let calling = connection.clone();
        let call = thread::spawn(move || success(calling.call_tool("any", &json!({})).wait()));
        let first = hand.hear();
        let asked: serde_json::Map<_, _> = questions()
            .into_iter()
            .map(|(method, params, _)| {
                (method.to_owned(), json!({"method": method, "params": params}))
            })
            .collect();
        let result =
            json!({"resultType": "input_required", "inputRequests": asked, "requestState": "s"});
        hand.answer(&first, &result);
        let second = hand.hear();
        assert_ne!(second["id"], first["id"]);
        assert_eq!(
            (&second["method"], &second["params"]["requestState"]),
            (&json!("tools/call"), &json!("s"))
        );
        for (method, _, expected) in questions() {
            assert_eq!(second["params"]["inputResponses"][method], expected, "{second}");
        }
        let said = json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]});
        hand.answer(&second, &said);
        assert_eq!(call.join().unwrap(), "done");
        connection.close().wait().unwrap();
    });
}

#[test]
fn one_server_and_one_client_work_in_every_revision() {
    with_timeout(|| {
        for revision in Revision::ALL {
            let server = server().add(tool("survey", |cx: Cx| {
                let roots: Raw = cx.ask_any("roots", NeededInput::Roots)?;
                Ok(roots.to_string())
            }));
            let (connection, serving) = pair(answering().revisions(&[revision]), server);
            assert_eq!(connection.revision(), revision);
            let said = success(
                connection.call_tool("survey", &json!({})).timeout(Duration::from_secs(10)).wait(),
            );
            assert_eq!(
                serde_json::from_str::<Value>(&said).unwrap()["roots"][0]["uri"],
                "file:///home"
            );
            part(connection, serving);
        }
    });
}
