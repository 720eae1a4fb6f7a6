//! Tests of era detection and session setup.

use super::*;
use crate::revision::Era;

// LIF-29, LIF-30
#[test]
fn a_server_that_fails_the_probe_without_a_modern_error_is_legacy_lif_28_lif_30_t_73() {
    let plain = [("content-type", "text/html")];
    let cases: &[(u16, Head<'_>, &str)] = &[
        (400, PLAIN, ""),
        (
            400,
            JSON,
            r#"{"jsonrpc":"2.0","id":null,
            "error":{"code":-32000,"message":"Server not initialized"}}"#,
        ),
        (400, JSON, r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no session"}}"#),
        (
            400,
            JSON,
            r#"{"jsonrpc":"2.0","id":"server-error",
            "error":{"code":-32600,"message":"Missing session"}}"#,
        ),
        (404, &plain, "<html>not found</html>"),
        (405, PLAIN, "{}"),
        (406, PLAIN, "\u{fffd}"),
        (500, JSON, "[]"),
        (
            200,
            JSON,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}"#,
        ),
        (
            200,
            EVENTS,
            concat!(
                r#"data: {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#,
                "\n\n"
            ),
        ),
        (200, &plain, "<html>hello</html>"),
        (200, PLAIN, ""),
        (202, PLAIN, ""),
        (301, PLAIN, ""),
    ];
    for (status, head, body) in cases {
        let mut it = Fixture::new(config());
        let probe = it.post("server/discover");
        it.reply(&probe, *status, head, body);
        let initialize = it.post("initialize");
        assert_eq!(initialize.header("mcp-protocol-version"), None, "{status} {body}");
        assert_eq!(initialize.header("mcp-method"), Some("initialize"), "{status} {body}");
        it.idle();
        assert_eq!(it.events(), [""; 0], "{status} {body}");
        assert!(it.exchanges() <= 1, "{status} {body}");
    }
}

// LIF-27
#[test]
fn a_modern_error_is_respected_with_any_status_lif_25_lif_27_t_73() {
    for (status, error) in [
        (400, r#"{"code":-32020,"message":"mismatch"}"#),
        (400, r#"{"code":-32021,"message":"no","data":{}}"#),
        (404, r#"{"code":-32022,"message":"no","data":{"supported":["2099-01-01"]}}"#),
    ] {
        let mut it = Fixture::new(config());
        let probe = it.post("server/discover");
        it.reply(&probe, status, JSON, &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
        let events = it.events();
        assert!(events[0].starts_with("closed: "), "{events:?}");
        it.idle();
    }
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    let legacy = r#"{"jsonrpc":"2.0","id":1,
        "error":{"code":-32022,"message":"no","data":{"supported":["2025-06-18"]}}}"#;
    it.reply(&probe, 400, JSON, legacy);
    let initialize = it.post("initialize");
    assert!(initialize.body.windows(10).any(|it| it == b"2025-06-18"));
}

/// A modern server must know `server/discover`; one that does not is no legacy server.
#[test]
fn an_unknown_method_with_status_404_is_no_sign_of_a_legacy_server_lif_30_t_37() {
    let unknown = |id: &str, code: i32| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#)
    };
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.reply(&probe, 404, JSON, &unknown("1", -32601));
    let [closed] = &it.events()[..] else { panic!() };
    assert!(closed.contains("`server/discover`") && closed.contains("expect_era"), "{closed}");
    it.idle();
    // Only a modern server repeats the id in such a response.
    for (status, body) in [
        (404, unknown("null", -32601)),
        (404, unknown("1", -32001)),
        (400, unknown("1", -32601)),
        (200, unknown("1", -32601)),
    ] {
        let mut it = Fixture::new(config());
        let probe = it.post("server/discover");
        it.reply(&probe, status, JSON, &body);
        it.post("initialize");
        assert_eq!(it.events(), [""; 0], "{status} {body}");
    }
}

#[test]
fn the_probe_has_the_headers_of_its_body_http_39_http_44() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    assert_eq!(probe.header("MCP-Protocol-Version"), Some("2026-07-28"));
    assert_eq!(probe.header("Mcp-Method"), Some("server/discover"));
    assert_eq!((probe.header("mcp-name"), probe.header("mcp-session-id")), (None, None));
}

#[test]
fn a_challenged_probe_is_reported_and_closes_the_client_aut_11() {
    for status in [401, 403] {
        let mut it = Fixture::new(config());
        let probe = it.post("server/discover");
        let head =
            [("WWW-Authenticate", r#"Bearer scope="a b""#), ("www-authenticate", "Basic realm=x")];
        it.head(&probe, status, &head);
        let [challenged, closed] = &it.events()[..] else { panic!() };
        assert_eq!(challenged, &format!(r#"challenged None {status} ["Bearer a b", "Basic "]"#));
        assert_eq!(
            closed,
            &format!(
                "closed: could not connect to the server: \
                 the server responded with HTTP status {status}"
            )
        );
        it.aborts(&probe);
        it.idle();
        assert_eq!(it.http.poll_timeout(), None);
    }
}

#[test]
fn the_explanation_of_a_challenge_is_reported_aut_11() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.http.handle_challenge(it.now, probe.exchange, 401, &PLAIN, &"é".repeat(300));
    let [_, closed] = &it.events()[..] else { panic!() };
    let reason = "é".repeat(256) + "…";
    assert_eq!(
        closed,
        &format!(
            "closed: could not connect to the server: \
             the server responded with HTTP status 401: {reason}"
        )
    );
    it.aborts(&probe);
    it.idle();
}

#[test]
fn a_missing_endpoint_closes_the_client_with_its_status_t_72() {
    for status in [404, 405] {
        let mut it = Fixture::new(config());
        let probe = it.post("server/discover");
        it.reply(&probe, status, PLAIN, "");
        let initialize = it.post("initialize");
        it.reply(&initialize, status, PLAIN, "");
        let why = "closed: could not connect to the server: the server responded with HTTP status";
        assert_eq!(it.events(), [format!("{why} {status}")]);
        it.idle();
        assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
    }
}

#[test]
fn an_unreachable_server_closes_the_client() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.http.handle_failure(it.now, probe.exchange, ExchangeFailure::Unreached);
    assert_eq!(
        it.events(),
        ["closed: could not connect to the server: the server could not be reached, \
          the request was not sent"]
    );
    it.idle();
}

// TMO-15
#[test]
fn a_probe_that_times_out_is_aborted_and_the_server_is_legacy_tmo_15_t_35() {
    let mut it = Fixture::new(config());
    let probe = it.post("server/discover");
    it.pass_millis(5000);
    it.aborts(&probe);
    it.post("initialize");
    it.idle();
    it.reply(&probe, 200, JSON, DISCOVERED);
    assert_eq!(it.events(), [""; 0]);
}

#[test]
fn a_server_known_to_be_legacy_is_not_probed_lif_31() {
    let mut it = Fixture::new(config().expect_era(Era::Legacy));
    it.post("initialize");
}

#[test]
fn no_message_overtakes_initialized_lif_19() {
    let mut it = Fixture::new(config().expect_era(Era::Legacy));
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    it.call("tools/list");
    let initialized = it.post("notifications/initialized");
    it.idle();
    it.head(&initialized, 202, PLAIN);
    let stream = it.get();
    let list = it.post("tools/list");
    for send in [&initialized, &stream, &list] {
        assert_eq!(send.header("mcp-session-id"), Some("s-1"));
        assert_eq!(send.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    it.idle();
}

#[test]
fn an_unanswered_initialized_notification_times_out() {
    let mut it = Fixture::new(config().expect_era(Era::Legacy));
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.call("tools/list");
    it.pass_millis(30_000);
    it.aborts(&initialized);
    it.get();
    it.post("tools/list");
}
