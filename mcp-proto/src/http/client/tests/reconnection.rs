//! Tests of when the stream of a legacy session is opened, and opened again.

use super::streams::{PRIMING, ready_with_stream, until_next};
use super::*;

// HTTP-24
#[test]
fn a_server_may_offer_no_get_stream_http_24() {
    for status in [400, 404, 405, 406, 501, 200, 204, 302] {
        let mut it = Fixture::new(config());
        let probe = it.post("server/discover");
        it.reply(&probe, 400, PLAIN, "");
        let initialize = it.post("initialize");
        it.welcome(&initialize, Revision::V2025_11_25, SESSION);
        let initialized = it.post("notifications/initialized");
        it.reply(&initialized, 202, PLAIN, "");
        let stream = it.get();
        it.reply(&stream, status, PLAIN, "");
        it.idle();
        assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None), "{status}");
        let detail = "invalid HTTP exchange: no messages of the server outside of responses";
        let is_reported = it.events().iter().any(|event| event.starts_with(detail));
        assert_eq!(is_reported, !matches!(status, 404 | 405 | 501), "{status}");
        it.call("tools/list");
        it.post("tools/list");
    }
}

#[test]
fn a_challenged_get_stream_is_opened_with_later_credentials_http_28_t_86() {
    for status in [401, 403, 409, 429] {
        let mut it = Fixture::new(config());
        let probe = it.post("server/discover");
        it.reply(&probe, 400, PLAIN, "");
        let initialize = it.post("initialize");
        it.welcome(&initialize, Revision::V2025_11_25, SESSION);
        let initialized = it.post("notifications/initialized");
        it.reply(&initialized, 202, PLAIN, "");
        for attempt in 0..8 {
            let (waited, stream) = until_next(&mut it);
            let base = Duration::from_secs(if attempt == 0 { 0 } else { 1 << (attempt - 1) });
            assert!(waited >= base.min(Duration::from_secs(30)), "{attempt}: {waited:?}");
            assert_eq!(stream.method, HttpMethod::Get);
            it.reply(&stream, status, PLAIN, "");
        }
        let challenges =
            it.events().iter().filter(|event| event.starts_with("challenged None")).count();
        assert_eq!(challenges, if status < 409 { 8 } else { 0 });
        let (_, stream) = until_next(&mut it);
        it.head(&stream, 200, EVENTS);
        it.feed(&stream, &event(r#"{"jsonrpc":"2.0","method":"x/y"}"#));
        assert_eq!(it.events(), ["None x/y"]);
    }
}

#[test]
fn a_get_stream_that_cannot_resume_starts_again_without_an_event_id_http_28() {
    for status in [400, 410, 204] {
        let (mut it, stream) = ready_with_stream();
        it.feed(&stream, PRIMING);
        it.end(&stream);
        let (_, resumed) = until_next(&mut it);
        assert_eq!(resumed.header("last-event-id"), Some("0"));
        it.reply(&resumed, status, PLAIN, "");
        let (_, fresh) = until_next(&mut it);
        assert_eq!(fresh.header("last-event-id"), None);
        it.head(&fresh, 200, EVENTS);
        it.feed(&fresh, &event(r#"{"jsonrpc":"2.0","method":"x/y"}"#));
        assert_eq!(it.events(), ["None x/y"]);
    }
}

#[test]
fn a_get_stream_that_the_server_withdraws_is_given_up_with_a_report_http_24() {
    for status in [405, 501] {
        let (mut it, stream) = ready_with_stream();
        it.end(&stream);
        let (_, again) = until_next(&mut it);
        it.reply(&again, status, PLAIN, "");
        let events = it.events();
        assert!(events.len() == 1 && events[0].contains(&status.to_string()), "{events:?}");
        it.idle();
        assert_eq!((it.exchanges(), it.http.poll_timeout()), (0, None));
    }
}

#[test]
fn reconnections_of_the_get_stream_back_off_http_28_t_86() {
    let (mut it, stream) = ready_with_stream();
    it.end(&stream);
    let mut waits = Vec::new();
    for round in 0..8 {
        let (waited, again) = until_next(&mut it);
        waits.push(waited);
        match round % 4 {
            0 => it.http.handle_failure(it.now, again.exchange, ExchangeFailure::Unreached),
            1 => it.reply(&again, 502, PLAIN, ""),
            2 => it.reply(&again, 200, EVENTS, ": hi\n\n"),
            _ => it.cut(&again),
        }
    }
    for (round, wait) in waits.into_iter().enumerate() {
        let base = Duration::from_secs((1 << round).min(30));
        assert!((base..=base * 3 / 2).contains(&wait), "{round}: {wait:?}");
    }
    let (_, again) = until_next(&mut it);
    it.reply(&again, 200, EVENTS, &event(r#"{"jsonrpc":"2.0","method":"x/y"}"#));
    let (waited, _) = until_next(&mut it);
    assert!(waited < Duration::from_secs(2), "a message resets the backoff: {waited:?}");
}

#[test]
fn retry_zero_does_not_cause_requests_without_end_t_86() {
    let (mut it, mut stream) = ready_with_stream();
    let start = it.now;
    let mut requests = 0;
    while it.now.duration_since(start) < Duration::from_secs(10) {
        it.feed(&stream, "retry: 0\n\n");
        it.end(&stream);
        stream = until_next(&mut it).1;
        it.head(&stream, 200, EVENTS);
        requests += 1;
    }
    assert!((5..=15).contains(&requests), "{requests}");
}

#[test]
fn a_huge_retry_time_does_not_silence_the_stream_t_86() {
    for huge in ["3600000", "18446744073709551615"] {
        let (mut it, stream) = ready_with_stream();
        it.feed(&stream, &format!("retry: {huge}\ndata:\n\n"));
        it.end(&stream);
        let (waited, _) = until_next(&mut it);
        assert!((300..=301).contains(&waited.as_secs()), "{waited:?}");
    }
}

#[test]
fn retry_after_delays_a_reconnection_t_86() {
    for (value, seconds) in [("20", 20), (" 7 ", 7), ("99999999999999999999", 300), ("-1", 1)] {
        let (mut it, stream) = ready_with_stream();
        it.end(&stream);
        let (_, again) = until_next(&mut it);
        it.head(&again, 503, &[("retry-after", value)]);
        let (waited, _) = until_next(&mut it);
        // The backoff adds up to a second, or is longer by itself.
        assert!((seconds..=seconds + 2).contains(&waited.as_secs()), "{value}: {waited:?}");
    }
}
