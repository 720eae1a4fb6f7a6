//! Tests of timeouts, pings and stalls.

use core::time::Duration;

use super::*;
use crate::stdio::Stdio;
use crate::{CallError, CloseReason, Endpoint, Fault};

fn at(seconds: u64) -> Instant {
    NOW + Duration::from_secs(seconds)
}

const INPUT_REQUIRED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"s","#,
    r#""inputRequests":{"a":{"method":"roots/list"},"b":{"method":"roots/list"}}}}"#,
);

/// Takes the questions delivered to a client's application.
fn asked(client: &mut Client) -> Vec<IncomingId> {
    let request = |event| match event {
        client::Event::Request { incoming, .. } => Some(incoming),
        _ => None,
    };
    events(client).into_iter().filter_map(request).collect()
}

#[test]
fn a_call_waits_for_its_application_up_to_timeout_max_tmo_02_tmo_06() {
    let options = CallOptions {
        timeout: Some(Duration::from_secs(10)),
        timeout_max: Some(Duration::from_secs(60)),
        ..CallOptions::default()
    };
    let roots = Raw::from_text(r#"{"roots":[]}"#).unwrap();
    for is_answered in [true, false] {
        let mut client = client(R5, Limits::default());
        let params = Raw::from_text(r#"{"name":"t"}"#).unwrap();
        client.call_raw(NOW, "tools/call", Some(&params), options.clone()).unwrap();
        sent(&mut client);
        receive(&mut client, INPUT_REQUIRED);
        let [first, second] = asked(&mut client)[..] else { panic!("two questions") };
        client.respond(NOW, first, &roots).unwrap();
        client.handle_timeout(at(30));
        assert!(sent(&mut client).is_empty(), "one answer is missing");
        assert!(outcomes(&mut client).is_empty(), "the timeout is suspended");
        if is_answered {
            client.respond(at(59), second, &roots).unwrap();
            let [again] = &sent(&mut client)[..] else { panic!("the call is retried") };
            assert!(
                again.contains(r#""inputResponses""#) && again.contains(r#""requestState":"s""#),
                "{again}"
            );
        }
        client.handle_timeout(at(60));
        assert!(matches!(outcomes(&mut client)[..], [Err(CallError::TimedOut)]));
        assert!(client.poll_timeout().is_none_or(|at| at > NOW), "no deadline remains");
    }
}

#[test]
fn a_paused_call_is_retried_only_before_its_deadline() {
    let waits = |id: u64| {
        alloc::format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{
            "resultType":"input_required","requestState":"s"}}}}"#
        )
    };
    for (cap, is_again) in [(600, true), (10, false)] {
        let mut client = client(R5, Limits::default());
        let cap = Some(Duration::from_secs(cap));
        let options = CallOptions { timeout: cap, timeout_max: cap, ..CallOptions::default() };
        let params = Raw::from_text(r#"{"name":"t"}"#).unwrap();
        client.call_raw(NOW, "tools/call", Some(&params), options).unwrap();
        client.handle_message(at(9), StreamId::ONLY, waits(2).as_bytes());
        assert_eq!(sent(&mut client).len(), 2, "the first retry is immediate");
        client.handle_message(at(9), StreamId::ONLY, waits(3).as_bytes());
        let Some(next) = client.poll_timeout() else { panic!("a deadline must be set") };
        assert!(next > at(9), "the second retry is delayed");
        // Even if the timer fires late.
        client.handle_timeout(next.max(at(10)));
        let messages = sent(&mut client);
        assert_eq!(
            messages.iter().any(|line| line.contains("tools/call")),
            is_again,
            "{messages:?}"
        );
        assert_eq!(outcomes(&mut client).is_empty(), is_again);
    }
}

/// A response that requires input: answers to questions about roots, or nothing.
fn required(id: u64, asks: bool) -> String {
    let requests = if asks { r#","inputRequests":{"a":{"method":"roots/list"}}"# } else { "" };
    alloc::format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{
        "resultType":"input_required","requestState":"s"{requests}}}}}"#
    )
}

// TMO-05, T-57
#[test]
fn the_time_of_a_call_covers_its_rounds() {
    let roots = Raw::from_text(r#"{"roots":[]}"#).unwrap();
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    // What the server asks in a round, the time that it takes, and when the call ends.
    for (timeout, timeout_max, asks, took, end) in [
        // Rounds without questions do not restart the timeout.
        (None, None, [false, false], 0, 60),
        (None, None, [false, false], 20, 60),
        (seconds(10), None, [false, false], 0, 10),
        (seconds(10), None, [false, false], 4, 10),
        (seconds(10), seconds(100), [false, false], 3, 10),
        (seconds(100), seconds(20), [false, false], 1, 20),
        // Answered questions restart it, up to the maximum.
        (None, seconds(100), [true, true], 50, 100),
        (seconds(10), seconds(25), [true, true], 4, 25),
        (seconds(10), seconds(25), [true, false], 4, 25),
        (seconds(10), seconds(1000), [true, false], 4, 1000),
        // A timeout alone ends the call in any case.
        (seconds(10), None, [true, true], 4, 10),
        (seconds(10), None, [true, false], 4, 10),
        (seconds(10), None, [false, true], 3, 10),
    ] {
        let case = alloc::format!("{timeout:?} {timeout_max:?} {asks:?} {took}");
        let limits = Limits { input_rounds_max: 10_000, ..Limits::default() };
        let mut client = client(R5, limits);
        let params = Raw::from_text(r#"{"name":"t"}"#).unwrap();
        let options = CallOptions { timeout, timeout_max, ..CallOptions::default() };
        client.call_raw(NOW, "tools/call", Some(&params), options).unwrap();
        let (mut now, mut id, mut round) = (NOW, 2, 0);
        let outcome = loop {
            sent(&mut client);
            // The server takes its time.
            let due = client.poll_timeout();
            let answered = now + Duration::from_secs(took);
            if due.is_some_and(|due| due <= answered) {
                now = due.unwrap();
                client.handle_timeout(now);
            } else {
                now = answered;
                let message = required(id, asks[round % 2]);
                client.handle_message(now, StreamId::ONLY, message.as_bytes());
                for incoming in asked(&mut client) {
                    client.respond(now, incoming, &roots).unwrap();
                }
                (id, round) = (id + 1, round + 1);
                // A pause before the next round.
                while let Some(due) = client.poll_timeout().filter(|_| sent(&mut client).is_empty())
                {
                    now = due;
                    client.handle_timeout(now);
                }
            }
            let mut outcomes = outcomes(&mut client);
            if let Some(outcome) = outcomes.pop() {
                break outcome;
            }
            assert!(now <= at(2000), "{case}: no end");
        };
        assert_eq!(outcome, Err(CallError::TimedOut), "{case}");
        assert_eq!(now, at(end), "{case}");
    }
}

// TMO-04
#[test]
fn progress_restarts_the_timeout_between_rounds() {
    let mut client = client(R5, Limits::default());
    let params = Raw::from_text(r#"{"name":"t"}"#).unwrap();
    let options = CallOptions {
        progress: true,
        timeout: Some(Duration::from_secs(10)),
        timeout_max: Some(Duration::from_secs(100)),
        ..CallOptions::default()
    };
    client.call_raw(NOW, "tools/call", Some(&params), options).unwrap();
    client.handle_message(at(5), StreamId::ONLY, required(2, false).as_bytes());
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress",
        "params":{"progressToken":3,"progress":1}}"#;
    client.handle_message(at(8), StreamId::ONLY, progress.as_bytes());
    client.handle_timeout(at(17));
    assert!(outcomes(&mut client).is_empty());
    client.handle_timeout(at(18));
    assert_eq!(outcomes(&mut client), [Err(CallError::TimedOut)]);
}

#[test]
fn only_calls_that_may_have_run_say_so() {
    for revision in [R4, R5] {
        let mut client = client(revision, Limits::default());
        let requests = [
            ("tools/call", Some(r#"{"name":"t"}"#), true),
            ("tools/list", None, false),
            ("resources/read", Some(r#"{"uri":"a:b"}"#), false),
            ("resources/list", None, false),
            ("prompts/get", Some(r#"{"name":"p"}"#), false),
        ];
        for (method, params, _) in requests {
            let params = params.map(|params| Raw::from_text(params).unwrap());
            let params = params.as_ref().map(|params| params as &dyn crate::schema::Encode);
            client.call_raw(NOW, method, params, CallOptions::default()).unwrap();
        }
        client.close(NOW);
        let outcomes = outcomes(&mut client);
        assert_eq!(outcomes.len(), requests.len());
        for (outcome, (method, _, may_have_run)) in outcomes.into_iter().zip(requests) {
            let error = outcome.unwrap_err().to_string();
            assert_eq!(error.contains("may have acted"), may_have_run, "{method}: {error}");
        }
    }
}

#[test]
fn pings_are_sent_only_in_revisions_that_have_them_tmo_09() {
    for (revision, pings) in [(R4, 1), (R5, 0)] {
        let every = Some(Duration::from_secs(30));
        let mut client = client(revision, Limits { ping_every: every, ..Limits::default() });
        client.handle_timeout(at(31));
        let messages = sent(&mut client);
        assert_eq!(
            messages.iter().filter(|line| line.contains(r#""ping""#)).count(),
            pings,
            "{messages:?}"
        );
    }
}

#[test]
fn the_stall_timeout_runs_from_the_first_blocked_message() {
    let limits = Limits { replies_bytes_max: 2000, ..Limits::default() };
    let stall = limits.stall_timeout;
    let mut server = server(R4, limits);
    let ping = |server: &mut Server, now: Instant| {
        server.handle_message(
            now,
            StreamId::ONLY,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.as_slice(),
        );
    };
    while server.poll_timeout().is_none() {
        ping(&mut server, NOW);
    }
    let first = server.poll_timeout();
    assert_eq!(first, Some(NOW + stall));
    // Further messages do not postpone it.
    ping(&mut server, NOW + stall / 2);
    assert_eq!(server.poll_timeout(), first);
    server.handle_timeout(NOW + stall);
    assert!(
        matches!(server.close_reason(), Some(CloseReason::Fault(Fault::Stalled))),
        "{:?}",
        server.close_reason()
    );
}

#[test]
fn the_stall_timer_starts_above_replies_bytes_max() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let mut probe = server(R4, Limits::default());
    receive(&mut probe, ping);
    let answer = probe.poll_outgoing().unwrap().body.len();
    assert!(answer > 0);
    // More than the messages that open a session take.
    let answers = 100 * answer;
    for (limit, is_slow) in [(answers, false), (answers - 1, true)] {
        let mut server = server(R4, Limits { replies_bytes_max: limit, ..Limits::default() });
        (0..100).for_each(|_| receive(&mut server, ping));
        assert_eq!(server.poll_timeout().is_some(), is_slow, "{limit}");
    }
}

#[test]
fn bytes_taken_but_not_written_count_as_stalled() {
    for (written, is_given_up) in [(0, true), (1, false)] {
        let limits = Limits { replies_bytes_max: 2000, ..Limits::default() };
        let stall = limits.stall_timeout;
        let mut server = Stdio::new(server(R4, limits));
        while Endpoint::poll_timeout(&server).is_none() {
            receive(&mut *server, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        }
        let mut chunk = Vec::new();
        server.outbox().take_all(&mut chunk);
        assert!(chunk.len() > 2000);
        server.outbox().mark_written(written);
        Endpoint::handle_timeout(&mut server, NOW + stall);
        assert_eq!(server.close_reason().is_some(), is_given_up, "{written}");
    }
}
