//! Tests of servers whose era cannot be detected at first, or changes.

use super::*;
use crate::revision::Era;

/// Fails the probe in the `n`th way of a server that is unavailable.
fn fail(it: &mut Fixture, probe: &HttpRequest, n: usize) {
    match n {
        0 => it.reply(probe, 429, PLAIN, "slow down"),
        1 => it.reply(probe, 502, JSON, "{}"),
        2 => it.reply(probe, 503, &[("retry-after", "1")], ""),
        3 => it.reply(probe, 504, PLAIN, ""),
        4 => it.cut(probe),
        5 => {
            it.head(probe, 200, JSON);
            it.feed(probe, "{");
            it.cut(probe);
        }
        _ => {
            it.head(probe, 200, EVENTS);
            it.end(probe);
        }
    }
}

const WAYS_TO_FAIL: usize = 7;

#[test]
fn an_unavailable_server_is_probed_again_lif_31() {
    for n in 0..WAYS_TO_FAIL {
        for failures in 1..=2 {
            let mut it = Fixture::new(config());
            for attempt in 0..failures {
                let probe = it.post("server/discover");
                assert_eq!(
                    (id_of(&probe), probe.header("mcp-method")),
                    (1, Some("server/discover"))
                );
                fail(&mut it, &probe, n);
                while let Some(Action::Abort(exchange)) = it.http.poll_action() {
                    assert_eq!(exchange, probe.exchange);
                }
                let due = it.http.poll_timeout().unwrap().duration_since(it.now);
                let base = Duration::from_secs(1 << attempt);
                assert!((base..=base * 3 / 2).contains(&due), "{n} {attempt}: {due:?}");
                it.pass(due);
            }
            let probe = it.post("server/discover");
            it.reply(&probe, 200, JSON, DISCOVERED);
            assert_eq!(it.events(), ["ready 2026-07-28"]);
            assert_eq!(it.http.era_to_expect(), Some(Era::Modern));
            it.idle();
            assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
        }
    }
}

/// Advances to the time at which the probe is repeated.
fn pass_to_repetition(it: &mut Fixture) {
    let due = it.http.poll_timeout().unwrap();
    it.pass(due.duration_since(it.now));
}

/// Lets all probes fail; the next message is `initialize`.
fn unavailable() -> (Fixture, HttpRequest) {
    let mut it = Fixture::new(config());
    for repetition in 0..3 {
        let probe = it.post("server/discover");
        it.cut(&probe);
        if repetition < 2 {
            pass_to_repetition(&mut it);
        }
    }
    let initialize = it.post("initialize");
    (it, initialize)
}

#[test]
fn an_era_that_was_guessed_is_corrected_and_not_remembered_lif_31() {
    let (mut it, initialize) = unavailable();
    let body = error_of(&initialize, -32601);
    it.reply(&initialize, 400, JSON, &body);
    let probe = it.post("server/discover");
    let answer = DISCOVERED.replace("\"id\":1", &format!("\"id\":{}", id_of(&probe)));
    it.reply(&probe, 200, JSON, &answer);
    assert_eq!(it.events(), ["ready 2026-07-28"]);

    let (mut it, initialize) = unavailable();
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    assert_eq!(it.events(), ["ready 2025-11-25"]);
    assert_eq!(it.http.era_to_expect(), None);
    // A server that answers the probe is remembered.
    let it = Fixture::ready(Revision::V2025_11_25);
    assert_eq!(it.http.era_to_expect(), Some(Era::Legacy));
}

#[test]
fn a_server_that_stays_unavailable_is_reported_with_its_status_lif_31() {
    for revisions in [&Revision::ALL[..], &[Revision::V2026_07_28]] {
        let mut it = Fixture::new(config().revisions(revisions));
        for repetition in 0..3 {
            let probe = it.post("server/discover");
            it.reply(&probe, 503, PLAIN, "");
            if repetition < 2 {
                pass_to_repetition(&mut it);
            }
        }
        if revisions.len() > 1 {
            let initialize = it.post("initialize");
            it.reply(&initialize, 503, PLAIN, "");
        }
        let why = "closed: could not connect to the server: the server responded with HTTP status";
        assert_eq!(it.events(), [format!("{why} 503")]);
    }
}

#[test]
fn a_modern_server_in_place_of_a_lost_session_is_probed_lif_31() {
    let mut it = Fixture::ready(Revision::V2025_11_25);
    let call = it.call("tools/call");
    let list = it.post("tools/call");
    it.reply(&list, 404, PLAIN, "");
    let initialize = it.post("initialize");
    let body = error_of(&initialize, -32601);
    it.reply(&initialize, 404, JSON, &body);
    let probe = it.post("server/discover");
    assert_eq!(probe.header("mcp-session-id"), None);
    let answer = DISCOVERED.replace("\"id\":1", &format!("\"id\":{}", id_of(&probe)));
    it.reply(&probe, 200, JSON, &answer);
    assert_eq!(it.events(), [format!("{call}: SessionEnded"), "ready 2026-07-28".into()]);
    it.idle();
}

#[test]
fn a_session_refused_with_a_modern_error_is_followed_by_a_probe_lif_31() {
    for code in [-32020, -32022] {
        let mut it = Fixture::ready(Revision::V2025_11_25);
        let lost = it.call("tools/call");
        let hanging = it.post("tools/call");
        let call = it.call("tools/list");
        let list = it.post("tools/list");
        let body = error_of(&list, code);
        it.reply(&list, 400, JSON, &body);
        it.aborts(&hanging);
        let probe = it.post("server/discover");
        assert_eq!(probe.header("mcp-session-id"), None);
        assert_eq!(probe.header("mcp-protocol-version"), Some("2026-07-28"));
        let answer = DISCOVERED.replace("\"id\":1", &format!("\"id\":{}", id_of(&probe)));
        it.reply(&probe, 200, JSON, &answer);
        let events = it.events();
        assert!(events[0].starts_with(&format!("{call}: Refused")), "{events:?}");
        assert_eq!(events[1..], [format!("{lost}: Lost"), "ready 2026-07-28".into()]);
        it.call("tools/list");
        assert_eq!(it.post("tools/list").header("mcp-session-id"), None);
    }
}

#[test]
fn a_client_without_modern_revisions_opens_another_session_lif_31() {
    let config = client::Config::new("c", "1").revisions(&[Revision::V2025_11_25]);
    let mut it = Fixture::new(config);
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.reply(&stream, 405, PLAIN, "");
    assert_eq!(it.events(), ["ready 2025-11-25"]);
    let lost = it.call("tools/call");
    let hanging = it.post("tools/call");
    let call = it.call("tools/list");
    let list = it.post("tools/list");
    it.reply(&list, 400, JSON, &error_of(&list, -32022));
    it.aborts(&hanging);
    let events = it.events();
    assert!(events[0].starts_with(&format!("{call}: Refused")), "{events:?}");
    assert_eq!(events[1..], [format!("{lost}: Lost")]);
    assert_eq!(it.post("initialize").header("mcp-session-id"), None);
}

const NO_SESSION: &str = r#"{"jsonrpc":"2.0","id":"server-error",
    "error":{"code":-32600,"message":"Bad Request: Missing session ID"}}"#;

#[test]
fn a_modern_call_refused_by_a_legacy_server_is_followed_by_a_probe_lif_31() {
    for (status, head, body) in [(400, JSON, NO_SESSION), (404, PLAIN, ""), (405, PLAIN, "")] {
        let mut it = Fixture::modern();
        let lost = it.call("tools/call");
        let hanging = it.post("tools/call");
        let call = it.call("tools/list");
        let list = it.post("tools/list");
        it.reply(&list, status, head, body);
        let events = it.events();
        assert!(events.len() == 1 && events[0].starts_with(&format!("{call}: ")), "{events:?}");
        let probe = it.post("server/discover");
        it.idle();
        it.reply(&probe, status, head, body);
        it.aborts(&hanging);
        let initialize = it.post("initialize");
        it.welcome(&initialize, Revision::V2025_11_25, SESSION);
        assert_eq!(it.events(), [format!("{lost}: Lost"), "ready 2025-11-25".into()]);
        it.post("notifications/initialized");
    }
}

#[test]
fn a_probe_of_an_open_connection_that_finds_no_legacy_server_disturbs_no_call_lif_31() {
    for how in 0..6 {
        let mut it = Fixture::modern();
        let open = it.call("tools/call");
        let hanging = it.post("tools/call");
        it.call("tools/list");
        let list = it.post("tools/list");
        it.reply(&list, 404, PLAIN, "");
        let probe = it.post("server/discover");
        // One probe is enough.
        it.call("tools/list");
        let list = it.post("tools/list");
        it.reply(&list, 404, PLAIN, "");
        it.idle();
        it.events();
        match how {
            0 => {
                let id = format!("\"id\":{}", id_of(&probe));
                it.reply(&probe, 200, JSON, &DISCOVERED.replace("\"id\":1", &id));
            }
            1 => it.reply(&probe, 401, PLAIN, ""),
            2 => it.http.handle_failure(it.now, probe.exchange, ExchangeFailure::Unreached),
            3 => {
                let body = error_of(&probe, -32020);
                it.reply(&probe, 400, JSON, &body);
            }
            4 => {
                let body = error_of(&probe, -32601);
                it.reply(&probe, 404, JSON, &body);
            }
            _ => {
                it.pass(Duration::from_secs(5));
                it.aborts(&probe);
            }
        }
        it.idle();
        let body = result_of(&hanging, "{}");
        it.reply(&hanging, 200, JSON, &body);
        assert_eq!(it.events().last(), Some(&format!("{open}: {{}}")), "{how}");
        // An error of the application is no doubt about the era.
        it.call("tools/list");
        let list = it.post("tools/list");
        let body = error_of(&list, -32602);
        it.reply(&list, 400, JSON, &body);
        it.events();
        it.idle();
        assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
    }
}
