//! Tests of requests that wait for credentials.

use super::*;
use crate::limits::Limits;
use crate::revision::Era;
use crate::vocabulary::Filter;

const SCOPES: Head<'static> =
    &[("www-authenticate", r#"Bearer error="insufficient_scope", scope="write""#)];

/// Creates a client that parks requests.
fn parking(config: client::Config) -> Fixture {
    Fixture::with_http(config, HttpConfig::new(1).parks())
}

fn modern() -> Fixture {
    modern_with(config())
}

fn modern_with(config: client::Config) -> Fixture {
    let mut it = parking(config);
    let probe = it.post("server/discover");
    it.reply(&probe, 200, JSON, DISCOVERED);
    it.events();
    it
}

/// Creates a client with a legacy session.
fn legacy() -> Fixture {
    let mut it = parking(config());
    it.open(Revision::V2025_11_25, SESSION);
    it
}

fn credentials(generation: u64) -> Credentials {
    Credentials::new(Generation::new(generation), format!("Bearer token-{generation}").into())
}

impl Fixture {
    fn authorize(&mut self, generation: u64) {
        self.http.authorize(self.now, credentials(generation));
    }

    fn refuse(&mut self, send: &HttpRequest) {
        self.reply(send, 401, PLAIN, "");
    }
}

fn token(send: &HttpRequest) -> Option<&str> {
    send.authorization.as_ref().map(|secret| secret.expose())
}

// AUT-02
#[test]
fn every_request_carries_the_current_credentials_aut_02() {
    let mut it = parking(config());
    it.authorize(1);
    let probe = it.post("server/discover");
    assert_eq!(token(&probe), Some("Bearer token-1"));
    it.reply(&probe, 400, PLAIN, "");
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    it.authorize(2);
    let stream = it.get();
    it.call("tools/list");
    let call = it.post("tools/list");
    it.http.close(it.now);
    it.aborts(&call);
    it.aborts(&stream);
    let delete = it.send();
    assert_eq!(delete.method, HttpMethod::Delete);
    for send in [&initialize, &initialized] {
        assert_eq!(token(send), Some("Bearer token-1"));
    }
    for send in [&stream, &call, &delete] {
        assert_eq!(token(send), Some("Bearer token-2"), "{}", send.method);
    }
}

// AUT-34
#[test]
fn credentials_are_neither_headers_nor_shown_aut_34() {
    let mut it = modern();
    it.authorize(7);
    it.call("tools/list");
    let call = it.post("tools/list");
    assert_eq!(call.header("authorization"), None);
    it.refuse(&call);
    for shown in [format!("{call:?}"), format!("{:?}", it.http)] {
        assert!(!shown.contains("token-7") && shown.contains("Secret("), "{shown}");
    }
}

#[test]
fn a_rejected_call_is_sent_again_with_new_credentials() {
    let mut it = modern();
    let call = it.call_with("tools/call", Some(r#"{"name":"t","arguments":{}}"#));
    let first = it.post("tools/call");
    it.refuse(&first);
    it.idle();
    assert_eq!(it.events(), [format!("parked {:?} 401 \"tools/call t\" None", Some(call))]);
    it.authorize(1);
    let again = it.post("tools/call");
    assert_eq!((&again.body, &again.headers), (&first.body, &first.headers));
    assert_ne!(again.exchange, first.exchange);
    assert_eq!(token(&again), Some("Bearer token-1"));
    it.reply(&again, 200, JSON, &result_of(&again, "{}"));
    assert_eq!(it.events(), ["accepted generation 1".into(), format!("{call}: {{}}")]);
}

#[test]
fn after_a_logout_requests_carry_no_credentials() {
    let mut it = modern();
    it.authorize(1);
    it.call("tools/list");
    let early = it.post("tools/list");
    it.http.forget_credentials(Generation::new(1));
    it.authorize(1);
    it.call("prompts/list");
    let send = it.post("prompts/list");
    assert_eq!((token(&early), token(&send)), (Some("Bearer token-1"), None));
    for send in [&early, &send] {
        it.refuse(send);
    }
    assert_eq!(it.events().len(), 2, "both are parked");
    it.authorize(2);
    assert_eq!(token(&it.post("tools/list")), Some("Bearer token-2"));
    assert_eq!(token(&it.post("prompts/list")), Some("Bearer token-2"));
    it.http.forget_credentials(Generation::new(1));
    it.call("tools/list");
    assert_eq!(token(&it.post("tools/list")), Some("Bearer token-2"), "a later login");
}

#[test]
fn without_parking_a_rejected_call_fails() {
    let mut it = Fixture::modern();
    it.authorize(1);
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    it.reply(&send, 401, PLAIN, "");
    let error = format!("{call}: {:?}", crate::CallError::Http { status: 401, reason: None });
    assert_eq!(it.events(), [format!("challenged {:?} 401 []", Some(call)), error]);
    it.idle();
}

// AUT-64
#[test]
fn only_missing_scopes_park_a_request_with_status_403_aut_64() {
    let other_error: Head<'_> = &[("www-authenticate", r#"Bearer error="invalid_request""#)];
    let other_scheme: Head<'_> = &[("www-authenticate", r#"Basic error="insufficient_scope""#)];
    for (head, is_parked) in
        [(SCOPES, true), (PLAIN, false), (other_error, false), (other_scheme, false)]
    {
        let mut it = modern();
        it.call("tools/list");
        let send = it.post("tools/list");
        it.reply(&send, 403, head, "");
        let events = it.events();
        assert_eq!(events[0].starts_with("parked"), is_parked, "{events:?}");
        it.authorize(1);
        assert_eq!(it.http.poll_action().is_some(), is_parked, "{events:?}");
    }
}

#[test]
fn requests_rejected_with_older_credentials_are_sent_again_immediately() {
    let mut it = modern();
    it.authorize(1);
    it.call("tools/list");
    it.call("prompts/list");
    let (one, two) = (it.post("tools/list"), it.post("prompts/list"));
    it.refuse(&one);
    assert_eq!(it.events().len(), 1);
    it.authorize(2);
    assert_eq!(token(&it.post("tools/list")), Some("Bearer token-2"));
    it.refuse(&two);
    assert_eq!(token(&it.post("prompts/list")), Some("Bearer token-2"));
    assert_eq!(it.events(), [""; 0], "no second challenge");
    it.authorize(1);
    it.call("tools/list");
    assert_eq!(token(&it.post("tools/list")), Some("Bearer token-2"), "never older ones");
}

#[test]
fn missing_scopes_are_reported_although_there_are_newer_credentials() {
    let mut it = modern();
    it.authorize(1);
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    it.authorize(2);
    it.reply(&send, 403, SCOPES, "");
    it.idle();
    let parked = format!("parked {:?} 403 \"tools/list\" Some(1)", Some(call));
    assert_eq!(it.events(), [parked]);
    it.authorize(2);
    assert_eq!(token(&it.post("tools/list")), Some("Bearer token-2"));
}

#[test]
fn parked_requests_are_sent_again_in_order_as_the_number_of_calls_allows() {
    let http = HttpConfig::new(1).parks().concurrent_calls_max(2);
    let mut it = Fixture::with_http(config(), http);
    let probe = it.post("server/discover");
    it.reply(&probe, 200, JSON, DISCOVERED);
    let methods = ["tools/list", "prompts/list", "resources/list", "tools/list"];
    for method in methods {
        it.call(method);
        let send = it.post(method);
        it.refuse(&send);
    }
    it.authorize(1);
    let mut open: Vec<_> = methods[..2].iter().map(|method| it.post(method)).collect();
    it.idle();
    for method in &methods[2..] {
        let done = open.remove(0);
        it.reply(&done, 200, JSON, &result_of(&done, "{}"));
        open.push(it.post(method));
        it.idle();
    }
}

#[test]
fn a_rejected_probe_says_nothing_about_the_era_and_waits_without_limit() {
    let mut it = parking(config());
    let probe = it.post("server/discover");
    it.refuse(&probe);
    it.pass(Duration::from_secs(100_000));
    assert_eq!(it.events(), [r#"parked None 401 "server/discover" None"#]);
    assert_eq!(it.http.poll_timeout(), None);
    it.authorize(1);
    let again = it.post("server/discover");
    it.pass_millis(4999);
    it.idle();
    it.reply(&again, 200, JSON, DISCOVERED);
    assert_eq!(it.events(), ["accepted generation 1", "ready 2026-07-28"]);
}

#[test]
fn the_timeout_of_a_probe_continues_when_it_is_sent_again() {
    let mut it = parking(config());
    let probe = it.post("server/discover");
    it.refuse(&probe);
    it.authorize(1);
    let again = it.post("server/discover");
    it.pass_millis(5001);
    it.aborts(&again);
    it.post("initialize");
}

#[test]
fn a_handshake_is_parked_at_each_of_its_messages() {
    let mut it = parking(config().expect_era(Era::Legacy));
    let initialize = it.post("initialize");
    it.refuse(&initialize);
    it.pass(Duration::from_secs(3600));
    it.authorize(1);
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.call("tools/list");
    it.refuse(&initialized);
    it.idle();
    it.authorize(2);
    let initialized = it.post("notifications/initialized");
    it.idle();
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    assert_eq!(token(&stream), Some("Bearer token-2"));
    it.post("tools/list");
}

#[test]
fn a_parked_call_waits_as_long_as_for_a_human() {
    for (waits, ends) in [(599, false), (601, true)] {
        let mut it = modern();
        let call = it.call("tools/list");
        let send = it.post("tools/list");
        it.pass(Duration::from_secs(50));
        it.refuse(&send);
        it.pass(Duration::from_secs(waits));
        let timed_out = format!("{call}: TimedOut");
        assert_eq!(it.events().contains(&timed_out), ends);
        it.authorize(1);
        if ends {
            it.idle();
            continue;
        }
        it.post("tools/list");
        it.pass(Duration::from_secs(59));
        assert!(!it.events().contains(&timed_out), "the timeout restarts");
        it.pass(Duration::from_secs(2));
        assert!(it.events().contains(&timed_out));
    }
}

#[test]
fn an_exact_timeout_of_the_application_also_ends_a_parked_call() {
    let mut it = modern();
    let exact = CallOptions { timeout: Some(Duration::from_secs(3)), ..CallOptions::default() };
    let call = it.http.call_raw(it.now, "tools/list", None, exact).unwrap();
    let send = it.post("tools/list");
    it.refuse(&send);
    it.pass(Duration::from_secs(4));
    assert!(it.events().contains(&format!("{call}: TimedOut")));
}

#[test]
fn a_cancelled_call_is_gone_in_both_eras() {
    for mut it in [modern(), legacy()] {
        let call = it.call("tools/list");
        let send = it.post("tools/list");
        it.refuse(&send);
        it.http.cancel(it.now, call, "no").unwrap();
        it.authorize(1);
        it.idle();
        assert_eq!(it.events(), [format!("{call}: Cancelled")]);
        assert_eq!(it.exchanges(), 0);
    }
}

#[test]
fn denied_requests_fail_and_the_credentials_remain() {
    let mut it = legacy();
    it.authorize(1);
    let (one, two) = (it.call("tools/list"), it.call("resources/list"));
    let sends = [it.post("tools/list"), it.post("resources/list")];
    sends.iter().for_each(|send| it.refuse(send));
    it.http.notify_raw(it.now, "x/y", None).unwrap();
    let notification = it.post("x/y");
    it.refuse(&notification);
    assert_eq!(it.events().len(), 3);
    it.http.deny(it.now, "the user declined");
    let events = it.events();
    for call in [one, two] {
        assert!(events.contains(&format!(r#"{call}: Unauthorized("the user declined")"#)));
    }
    let dropped = "a message was dropped: the client is not authorized: the user declined";
    assert!(events.iter().any(|event| event.contains(dropped)), "{events:?}");
    it.authorize(2);
    it.idle();
    it.call("tools/list");
    assert_eq!(token(&it.post("tools/list")), Some("Bearer token-2"));
}

#[test]
fn one_request_is_denied_by_the_id_in_its_event() {
    let mut it = modern();
    let calls = [it.call("tools/list"), it.call("prompts/list")];
    for method in ["tools/list", "prompts/list"] {
        let send = it.post(method);
        it.refuse(&send);
    }
    let Some(HttpEvent::Parked(first)) = it.http.poll_event() else { panic!() };
    assert_eq!(first.call, Some(calls[0]));
    it.http.deny_request(it.now, first.exchange, "no");
    it.http.deny_request(it.now, first.exchange, "no");
    it.authorize(1);
    it.post("prompts/list");
    it.idle();
    assert!(it.events().contains(&format!(r#"{}: Unauthorized("no")"#, calls[0])));
}

#[test]
fn a_denied_probe_closes_the_client() {
    let mut it = parking(config());
    let probe = it.post("server/discover");
    it.refuse(&probe);
    it.http.deny(it.now, "no");
    let events = it.events();
    let closed = "closed: could not connect to the server: the client is not authorized: no";
    assert_eq!(events.last().unwrap(), closed, "{events:?}");
    it.idle();
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn a_rejected_stream_waits_for_credentials_even_if_denied() {
    let mut it = parking(config().expect_era(Era::Legacy));
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    let stream = it.get();
    it.refuse(&stream);
    assert!(it.events().contains(&r#"parked None 401 "GET" None"#.into()));
    for violations in [1, 0] {
        it.http.deny(it.now, "no");
        assert_eq!(it.events().len(), violations);
    }
    it.pass(Duration::from_secs(3600));
    it.idle();
    it.authorize(1);
    let stream = it.get();
    assert_eq!(token(&stream), Some("Bearer token-1"));
    it.head(&stream, 200, EVENTS);
    assert_eq!(it.events(), ["accepted generation 1"]);
}

/// A call whose stream has ended, and whose resumption is rejected.
fn with_rejected_resumption() -> (Fixture, CallId, HttpRequest) {
    let mut it = legacy();
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    it.head(&send, 200, EVENTS);
    it.feed(&send, "id: e1\ndata:\n\n");
    it.end(&send);
    it.pass(Duration::from_secs(3));
    let resumed = it.get();
    it.refuse(&resumed);
    (it, call, send)
}

#[test]
fn a_rejected_resumption_continues_where_the_stream_ended() {
    let (mut it, call, send) = with_rejected_resumption();
    it.authorize(1);
    let resumed = it.get();
    assert_eq!(resumed.header("last-event-id"), Some("e1"));
    it.head(&resumed, 200, EVENTS);
    it.feed(&resumed, &event(&result_of(&send, "{}")));
    assert!(it.events().contains(&format!("{call}: {{}}")));
}

#[test]
fn the_cancellation_of_a_parked_resumption_is_sent() {
    let (mut it, call, _) = with_rejected_resumption();
    it.http.cancel(it.now, call, "no").unwrap();
    it.post("notifications/cancelled");
}

#[test]
fn a_ping_of_the_client_is_not_parked_and_shows_that_the_server_is_alive() {
    let limits = Limits {
        ping_every: Some(Duration::from_secs(30)),
        pings_missed_max: 1,
        ..Limits::default()
    };
    let mut it = parking(config().limits(limits).expect_era(Era::Legacy));
    it.http.config.has_stream = false;
    let initialize = it.post("initialize");
    it.welcome(&initialize, Revision::V2025_11_25, SESSION);
    let initialized = it.post("notifications/initialized");
    it.reply(&initialized, 202, PLAIN, "");
    it.events();
    for _ in 0..5 {
        it.pass(Duration::from_secs(30));
        let ping = it.post("ping");
        it.refuse(&ping);
    }
    assert_eq!(it.events(), [""; 0]);
}

#[test]
fn closing_drops_what_is_parked_and_still_ends_the_session() {
    let mut it = legacy();
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    it.refuse(&send);
    it.http.notify_raw(it.now, "x/y", None).unwrap();
    let notification = it.post("x/y");
    it.refuse(&notification);
    it.http.close(it.now);
    let delete = it.send();
    assert_eq!(delete.method, HttpMethod::Delete);
    it.refuse(&delete);
    it.authorize(1);
    it.idle();
    let events = it.events();
    assert_eq!(events, [format!("{call}: LostRead"), "closed: closed by this side".into()]);
    assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
}

#[test]
fn messages_beyond_the_limit_are_not_sent_until_there_are_credentials() {
    let mut it = legacy();
    for _ in 0..65 {
        it.http.notify_raw(it.now, "x/y", None).unwrap();
    }
    for _ in 0..64 {
        let send = it.post("x/y");
        it.refuse(&send);
    }
    it.call("tools/list");
    it.idle();
    it.authorize(1);
    for _ in 0..64 {
        let send = it.post("x/y");
        it.reply(&send, 202, PLAIN, "");
    }
    it.post("x/y");
    it.post("tools/list");
    it.idle();
}

#[test]
fn calls_wait_while_too_many_bytes_are_kept() {
    let mut it = legacy();
    let large = format!(r#"{{"name":"t","arguments":{{"a":"{}"}}}}"#, "x".repeat(9 << 20));
    let sends = [0; 2].map(|_| {
        it.call_with("tools/call", Some(&large));
        it.post("tools/call")
    });
    it.call("tools/list");
    it.idle();
    sends.iter().for_each(|send| it.refuse(send));
    it.idle();
    it.authorize(1);
    let sends = [it.post("tools/call"), it.post("tools/call")];
    it.idle();
    it.reply(&sends[0], 200, JSON, &result_of(&sends[0], "{}"));
    it.post("tools/list");
}

#[test]
fn a_subscription_is_parked_too() {
    let mut it = modern();
    let call = it.http.subscribe(it.now, &Filter::new().tools(), CallOptions::default()).unwrap();
    let listen = it.post("subscriptions/listen");
    it.refuse(&listen);
    let parked = format!("parked {:?} 401 \"subscriptions/listen\" None", Some(call));
    assert_eq!(it.events(), [parked]);
    it.authorize(1);
    it.post("subscriptions/listen");
}

#[test]
fn an_event_that_was_not_polled_is_dropped_with_its_request() {
    let mut it = modern();
    let call = it.call("tools/list");
    let send = it.post("tools/list");
    it.refuse(&send);
    it.http.cancel(it.now, call, "no").unwrap();
    it.idle();
    assert_eq!(it.events(), [format!("{call}: Cancelled")]);
}

// T-110
#[test]
fn private_results_are_dropped_from_the_cache_with_new_credentials_t_110() {
    for (scope, is_kept) in [("public", true), ("private", false)] {
        let limits = Limits { cache_bytes_max: 100_000, ..Limits::default() };
        let mut it = modern_with(config().limits(limits));
        it.authorize(1);
        let result = format!(r#"{{"prompts":[],"ttlMs":99999,"cacheScope":"{scope}"}}"#);
        let list = |it: &mut Fixture| {
            it.call("prompts/list");
            it.http.poll_action().is_some()
        };
        it.call("prompts/list");
        let send = it.post("prompts/list");
        it.reply(&send, 200, JSON, &result_of(&send, &result));
        it.authorize(1);
        assert!(!list(&mut it), "unchanged credentials");
        it.authorize(2);
        assert_eq!(!list(&mut it), is_kept, "{scope}");
    }
}

// T-110
#[test]
fn private_results_of_calls_in_flight_are_not_cached_t_110() {
    let limits = Limits { cache_bytes_max: 100_000, ..Limits::default() };
    let mut it = modern_with(config().limits(limits));
    it.call("prompts/list");
    let send = it.post("prompts/list");
    it.authorize(1);
    let result = r#"{"prompts":[],"ttlMs":99999,"cacheScope":"private"}"#;
    it.reply(&send, 200, JSON, &result_of(&send, result));
    it.call("prompts/list");
    it.post("prompts/list");
}
