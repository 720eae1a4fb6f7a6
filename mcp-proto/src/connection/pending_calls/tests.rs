//! Tests of pending calls without a connection: each transition of the diagram in `call.rs`.

use alloc::string::String;
use alloc::{format, vec};

use super::call::CallState;
use super::*;
use crate::connection::lifecycle::phase::Phase;
use crate::limits::Limits;
use crate::revision::{Revision, Side};
use crate::time::Instant;
use crate::vocabulary::CallOptions;
use crate::vocabulary::for_test::{message, params_in};

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;
const PARAMS: &[u8] = br#"{"name":"t"}"#;

/// A result with one question that the client supports.
const QUESTION: &str =
    r#"{"resultType":"input_required","inputRequests":{"q":{"method":"roots/list"}}}"#;
/// A result without questions, which only asks for a retry.
const AGAIN: &str = r#"{"resultType":"input_required","requestState":"s"}"#;
const ASKED: IncomingId = IncomingId(7);

fn limits() -> Limits {
    Limits {
        call_timeout: Duration::from_secs(10),
        call_timeout_max: Duration::from_secs(25),
        ..Limits::default()
    }
}

fn client(revision: Revision) -> (Env, PendingCalls) {
    (Env::for_test(Side::Client, limits(), revision), PendingCalls::default())
}

fn send_for(env: &mut Env, calls: &mut PendingCalls, method: MethodId, owner: Owner) -> u64 {
    let rule = method.rule(env.revision());
    let wait = CallOptions::default().wait_for(rule, env.limits());
    let call = NewCall { wants_progress: true, ..NewCall::own(method, rule, PARAMS, owner, wait) };
    calls.send(env, call)
}

fn send(env: &mut Env, calls: &mut PendingCalls) -> u64 {
    let id = send_for(env, calls, MethodId::CallTool, Owner::Application);
    env.sent();
    id
}

/// Delivers a result; its questions get the handle [`ASKED`].
fn answer(env: &mut Env, calls: &mut PendingCalls, id: u64, result: &str) {
    let result = Raw::from_text(result).unwrap();
    let kind = result.member("resultType");
    let kind = kind.as_ref().and_then(Raw::to_text);
    let answered =
        calls.on_response(env, (id, Owner::Application), kind.as_deref(), Ok(result), |_, _| {});
    if let Answered::InputRequired { id, round, .. } = answered {
        let asked = vec![ASKED; round.questions.as_ref().map_or(0, Vec::len)];
        calls.gather(env, id, round, &asked);
    }
}

fn progress(env: &mut Env, calls: &mut PendingCalls, id: u64, progress: u64) {
    let text = message(&format!(r#"{{"progressToken":{id},"progress":{progress}}}"#));
    calls.on_progress(env, &params_in(&text));
}

/// Returns the state of the request `id`, as named in the diagram.
fn state(calls: &PendingCalls, id: u64) -> &'static str {
    match calls.table().get(id).map(|call| &call.state) {
        None if calls.table().is_retired(id) => "retired",
        None => "over",
        Some(CallState::InFlight) => "in flight",
        Some(CallState::Gathering(_)) => "gathering",
        Some(CallState::Local) => "local",
    }
}

/// Takes the outcomes of calls, from events and from effects.
fn ends(env: &mut Env) -> Vec<String> {
    let mut ends = Vec::new();
    for event in env.take_events() {
        match event {
            Event::Completed { call, outcome: Ok(_) } => ends.push(format!("{call} ok")),
            Event::Completed { call, outcome: Err(error) } => {
                ends.push(format!("{call} {error:?}"));
            }
            _ => {}
        }
    }
    for effect in core::mem::take(&mut env.effects) {
        let Effect::Ended { call, questions, outcome, .. } = effect else { continue };
        let error = outcome.err().map_or_else(|| "Ok".into(), |error| format!("{error:?}"));
        ends.push(format!("{call} {error}, questions: {questions:?}"));
    }
    ends
}

fn deadline(calls: &PendingCalls) -> Option<u64> {
    calls
        .table()
        .next_deadline()
        .map(|at| u64::try_from(at.duration_since(Instant::ZERO).as_millis()).unwrap())
}

#[test]
fn a_call_is_in_flight_until_it_is_answered_and_completes_once() {
    for revision in [LEGACY, MODERN] {
        let (mut env, mut calls) = client(revision);
        let id = send(&mut env, &mut calls);
        assert_eq!(
            (state(&calls, id), calls.owner_in_flight(id).is_some(), calls.table().len()),
            ("in flight", true, 1)
        );
        for wanted in [&["call#1 ok"][..], &[]] {
            answer(&mut env, &mut calls, id, "{}");
            assert_eq!((state(&calls, id), calls.table().len()), ("over", 0));
            assert_eq!(ends(&mut env), wanted);
        }
        assert_eq!((deadline(&calls), calls.table().bytes()), (None, 0));
        assert!(!calls.forget_retired(id), "no late response is expected");
    }
}

// ID-11
#[test]
fn a_call_is_retried_with_input_under_a_new_wire_id_id_11() {
    let (mut env, mut calls) = client(MODERN);
    let id = send(&mut env, &mut calls);
    answer(&mut env, &mut calls, id, QUESTION);
    assert_eq!((state(&calls, id), calls.owner_in_flight(id).is_some()), ("gathering", false));
    assert_eq!(
        (env.sent().len(), ends(&mut env).len()),
        (0, 0),
        "the application has to answer first"
    );
    calls.on_input(&mut env, CallId(id), 0, Ok(Raw::empty_object()));
    let sent = env.sent();
    assert_eq!(sent.len(), 1);
    for part in
        [r#""id":2"#, r#""progressToken":2"#, r#""inputResponses":{"q":{}}"#, r#""name":"t""#]
    {
        assert!(sent[0].contains(part), "{part} in {}", sent[0]);
    }
    assert_eq!((state(&calls, id), state(&calls, 2)), ("over", "in flight"));
    answer(&mut env, &mut calls, 2, "{}");
    assert_eq!(ends(&mut env), ["call#1 ok"]);
    assert_eq!((calls.table().len(), calls.table().bytes()), (0, 0));
}

#[test]
fn a_legacy_call_accepts_any_result() {
    let (mut env, mut calls) = client(LEGACY);
    let id = send(&mut env, &mut calls);
    answer(&mut env, &mut calls, id, QUESTION);
    assert_eq!(ends(&mut env), ["call#1 ok"]);
}

// JSON-22, STL-48
#[test]
fn an_unknown_result_type_or_unexpected_input_required_fails_the_call_stl_48() {
    for (method, result) in
        [(MethodId::CallTool, r#"{"resultType":"other"}"#), (MethodId::Complete, QUESTION)]
    {
        let (mut env, mut calls) = client(MODERN);
        let id = send_for(&mut env, &mut calls, method, Owner::Application);
        answer(&mut env, &mut calls, id, result);
        let ends = ends(&mut env);
        assert!(ends.len() == 1 && ends[0].starts_with("call#1 Invalid"), "{ends:?}");
    }
}

#[test]
fn a_cancel_and_a_timeout_end_a_call_in_every_state_can_01_tmo_02() {
    let cases = [
        // State before, event, number of cancellations sent, state after, outcome.
        ("in flight", "cancel", 1, "retired", "call#1 Cancelled"),
        ("in flight", "timeout", 1, "retired", "call#1 TimedOut"),
        ("gathering", "cancel", 0, "retired", "call#1 Cancelled, questions: [request#7]"),
        ("gathering", "timeout", 0, "retired", "call#1 TimedOut, questions: [request#7]"),
        ("local", "cancel", 0, "retired", "call#1 Cancelled, questions: []"),
    ];
    for (before, end, cancels, after, wanted) in cases {
        let (mut env, mut calls) = client(MODERN);
        let id = match before {
            "local" => calls.insert_local(Owner::Listen).0,
            _ => send(&mut env, &mut calls),
        };
        if before == "gathering" {
            answer(&mut env, &mut calls, id, QUESTION);
        }
        assert_eq!(state(&calls, id), before);
        if end == "cancel" {
            assert!(calls.cancel(&mut env, CallId(id), "enough"));
            assert!(!calls.cancel(&mut env, CallId(id), "enough"), "it has ended");
        } else {
            env.at(25_000);
            assert_eq!(calls.table().overdue(env.now), Some(id));
            calls.expire(&mut env, id, false);
        }
        let cancelled = env.sent();
        assert_eq!(cancelled.len(), cancels, "{before} {end}");
        assert!(
            cancelled.iter().all(|it| it.contains("cancelled") && it.contains(r#""requestId":1"#))
        );
        assert_eq!(
            (state(&calls, id), calls.table().len(), calls.table().bytes()),
            (after, 0, 0),
            "{before} {end}"
        );
        assert_eq!(ends(&mut env), [wanted], "{before} {end}");
        assert_eq!(deadline(&calls), None);
    }
}

#[test]
fn only_calls_of_the_application_are_cancelled_on_the_stream_of_their_request_can_01_can_10() {
    let mut env = Env::for_test(Side::Server, limits(), LEGACY);
    let mut calls = PendingCalls::default();
    let own = [Owner::KeepAlive, Owner::Question(IncomingId(1), 0)]
        .map(|owner| send_for(&mut env, &mut calls, MethodId::ListRoots, owner));
    let wait = CallOptions::default().wait_for(None, env.limits());
    let id = calls.send(
        &mut env,
        NewCall {
            stream: Some(StreamId(4)),
            ..NewCall::own(MethodId::ListRoots, None, b"", Owner::Application, wait)
        },
    );
    env.sent();
    for id in own {
        assert!(!calls.cancel(&mut env, CallId(id), "enough"));
        assert_eq!((state(&calls, id), env.sent().len()), ("in flight", 0));
    }
    assert!(calls.cancel(&mut env, CallId(id), "enough"));
    let outgoing = env.out.poll().unwrap();
    assert_eq!(outgoing.kind, OutgoingKind::Cancel { id });
    assert_eq!(outgoing.route, Route::Stream(StreamId(4)));
    let body = String::from_utf8_lossy(outgoing.body);
    assert!(body.contains(r#""params":{"requestId":3,"reason":"enough"}"#), "{body}");
}

#[test]
fn nothing_is_cancelled_at_the_peer_before_the_connection_is_open() {
    let (mut env, mut calls) = client(LEGACY);
    let ids = [(); 2].map(|()| send(&mut env, &mut calls));
    for (phase, id, cancels) in [(Phase::Opening, ids[0], 0), (Phase::Ready, ids[1], 1)] {
        env.terms.phase = phase;
        assert!(calls.cancel(&mut env, CallId(id), ""));
        assert_eq!((state(&calls, id), env.sent().len()), ("retired", cancels), "{phase:?}");
    }
}

#[test]
fn one_late_response_is_expected_per_call_up_to_the_limit_can_05() {
    let (mut env, mut calls) = client(LEGACY);
    env = Env::for_test(Side::Client, Limits { retired_calls_max: 2, ..limits() }, env.revision());
    let ids: Vec<u64> = (0..3).map(|_| send(&mut env, &mut calls)).collect();
    for id in &ids {
        calls.cancel(&mut env, CallId(*id), "");
    }
    assert!(
        !calls.table().is_retired(ids[0])
            && calls.table().is_retired(ids[1])
            && calls.table().is_retired(ids[2])
    );
    assert!(calls.forget_retired(ids[2]));
    assert!(!calls.forget_retired(ids[2]));
    // Several messages may cross the end of a subscription.
    let listening = send_for(&mut env, &mut calls, MethodId::Listen, Owner::Listen);
    calls.cancel(&mut env, CallId(listening), "");
    assert!(calls.forget_retired(listening) && calls.forget_retired(listening));
}

#[test]
fn progress_restarts_the_timeout_up_to_the_maximum_tmo_04_tmo_05() {
    let (mut env, mut calls) = client(LEGACY);
    let id = send(&mut env, &mut calls);
    assert_eq!(deadline(&calls), Some(10_000));
    for (at, value, wanted) in [(8000, 1, 18_000), (9000, 1, 18_000), (17_000, 2, 25_000)] {
        env.at(at);
        progress(&mut env, &mut calls, id, value);
        assert_eq!(deadline(&calls), Some(wanted), "{at}");
    }
    let events = env.take_events();
    assert!(
        matches!(
            &events[..],
            [Event::Progress { .. }, Event::Violation(_), Event::Progress { .. }]
        ),
        "progress must increase: {events:?}"
    );
    // Progress may cross the end of its call.
    calls.cancel(&mut env, CallId(id), "");
    progress(&mut env, &mut calls, id, 3);
    assert!(env.take_events().iter().all(|event| matches!(event, Event::Completed { .. })));
}

#[test]
fn the_timeout_is_suspended_while_the_peer_waits_up_to_the_maximum() {
    let (mut env, mut calls) = client(LEGACY);
    let id = send(&mut env, &mut calls);
    env.at(10_000);
    calls.expire(&mut env, id, true);
    assert_eq!((state(&calls, id), deadline(&calls)), ("in flight", Some(25_000)));
    env.at(12_000);
    calls.resume_deadlines(&env);
    assert_eq!(deadline(&calls), Some(22_000));
    env.at(22_000);
    calls.expire(&mut env, id, true);
    env.at(25_000);
    calls.expire(&mut env, id, true);
    assert_eq!(ends(&mut env), ["call#1 TimedOut"]);
}

// TMO-02, TMO-03
#[test]
fn an_explicit_timeout_ends_a_call_while_this_side_has_to_answer() {
    for revision in [LEGACY, MODERN] {
        for timeout_max in [None, Some(Duration::from_secs(20))] {
            let (mut env, mut calls) = client(revision);
            let (method, owner) = (MethodId::CallTool, Owner::Application);
            let rule = method.rule(revision);
            let timeout = Some(Duration::from_secs(5));
            let options = CallOptions { timeout, timeout_max, ..CallOptions::default() };
            let wait = options.wait_for(rule, env.limits());
            let id = calls.send(&mut env, NewCall::own(method, rule, PARAMS, owner, wait));
            if revision == MODERN {
                answer(&mut env, &mut calls, id, QUESTION);
            }
            env.at(5000);
            calls.expire(&mut env, id, true);
            let is_over = ends(&mut env).iter().any(|end| end.starts_with("call#1 TimedOut"));
            assert_eq!(is_over, timeout_max.is_none(), "{revision:?} {timeout_max:?}");
        }
    }
}

#[test]
fn a_retried_call_restarts_its_timeout_up_to_the_maximum_t_98() {
    for (asked_at, answered_at, wanted) in [(9000, 9500, 19_500), (9000, 18_000, 25_000)] {
        let (mut env, mut calls) = client(MODERN);
        let id = send(&mut env, &mut calls);
        env.at(asked_at);
        answer(&mut env, &mut calls, id, QUESTION);
        assert_eq!(deadline(&calls), Some(19_000), "the question restarts the timeout");
        env.at(answered_at);
        calls.on_input(&mut env, CallId(id), 0, Ok(Raw::empty_object()));
        assert_eq!(deadline(&calls), Some(wanted));
    }
}

#[test]
fn retries_without_questions_back_off_exponentially_t_97() {
    let (mut env, mut calls) = client(MODERN);
    let mut id = send(&mut env, &mut calls);
    for (round, pause) in [0, 100, 200, 400].into_iter().enumerate() {
        answer(&mut env, &mut calls, id, AGAIN);
        if pause > 0 {
            let now = u64::try_from(env.now.duration_since(Instant::ZERO).as_millis()).unwrap();
            assert_eq!(
                (state(&calls, id), deadline(&calls)),
                ("gathering", Some(now + pause)),
                "{round}"
            );
            assert_eq!(env.sent().len(), 0);
            env.at(now + pause);
            calls.expire(&mut env, id, false);
        }
        let sent = env.sent();
        assert!(sent.len() == 1 && sent[0].contains(r#""requestState":"s""#), "{round} {sent:?}");
        assert_eq!(state(&calls, id), "over");
        id += 1;
        assert_eq!(state(&calls, id), "in flight");
    }
}

#[test]
fn a_refused_question_fails_the_call_and_withdraws_the_others_t_99() {
    let (mut env, mut calls) = client(MODERN);
    let id = send(&mut env, &mut calls);
    answer(&mut env, &mut calls, id, QUESTION);
    calls.on_input(&mut env, CallId(id), 0, Err(ErrorObject::internal("no")));
    let ends = ends(&mut env);
    assert!(ends.len() == 1 && ends[0].starts_with("call#1 InputRefused"), "{ends:?}");
    assert!(ends[0].ends_with("questions: [request#7]"), "{ends:?}");
    assert_eq!((env.sent().len(), calls.table().bytes()), (0, 0));
}

#[test]
fn lose_all_removes_calls_oldest_first_with_their_questions() {
    let (mut env, mut calls) = client(MODERN);
    let gathering = send(&mut env, &mut calls);
    let listening = calls.insert_local(Owner::Listen);
    let pinged = send_for(&mut env, &mut calls, MethodId::Ping, Owner::KeepAlive);
    answer(&mut env, &mut calls, gathering, QUESTION);
    let (lost, questions) = calls.lose_all(false);
    let wanted = [
        (CallId(gathering), Owner::Application, CallError::Lost),
        (listening, Owner::Listen, CallError::Lost),
        (CallId(pinged), Owner::KeepAlive, CallError::Lost),
    ];
    assert_eq!((&lost[..], &questions[..]), (&wanted[..], &[ASKED][..]));
    assert_eq!((calls.table().len(), calls.table().bytes(), deadline(&calls)), (0, 0, None));
    assert_eq!(ends(&mut env).len(), 0, "the router reports them");
}

#[test]
fn only_the_questions_of_the_ended_request_are_cancelled_can_20() {
    let mut env = Env::for_test(Side::Server, limits(), LEGACY);
    let mut calls = PendingCalls::default();
    let ids = [1, 2].map(|incoming| {
        let owner = Owner::Question(IncomingId(incoming), 0);
        send_for(&mut env, &mut calls, MethodId::ListRoots, owner)
    });
    env.sent();
    calls.withdraw_questions(&mut env, IncomingId(2));
    assert_eq!((state(&calls, ids[0]), state(&calls, ids[1])), ("in flight", "retired"));
    let sent = env.sent();
    assert!(sent.len() == 1 && sent[0].contains(&format!(r#""requestId":{}"#, ids[1])), "{sent:?}");
}

#[test]
fn a_message_without_an_id_is_attributed_only_if_unambiguous() {
    let (mut env, mut calls) = client(MODERN);
    env.terms.log_level = Some(crate::schema::Level::Debug);
    let first = send(&mut env, &mut calls);
    assert_eq!(calls.only_logged(), Some(CallId(first)));
    assert_eq!(calls.only_call(Owner::Application), Some(first));
    assert_eq!(calls.only_call(Owner::Probe), None);
    let second = send(&mut env, &mut calls);
    assert_eq!((calls.only_logged(), calls.only_call(Owner::Application)), (None, None));
    calls.cancel(&mut env, CallId(first), "");
    assert_eq!(calls.only_logged(), Some(CallId(second)));
}

#[test]
fn ended_ids_are_recorded_once_enabled() {
    let (mut env, mut calls) = client(MODERN);
    let mut ended = Vec::new();
    let id = send(&mut env, &mut calls);
    answer(&mut env, &mut calls, id, "{}");
    calls.record_ended();
    let id = send(&mut env, &mut calls);
    answer(&mut env, &mut calls, id, AGAIN);
    answer(&mut env, &mut calls, id + 1, "{}");
    calls.drain_ended(&mut ended);
    assert_eq!(ended, [id, id + 1]);
    calls.drain_ended(&mut ended);
    assert_eq!(ended.len(), 2, "each id is drained once");
}
